/**
 * Coverage of a prefetch: bytes of a read that were not fetched ahead, by the size of the read.
 *
 *     missing = max(0, size of the read - prefetches for each read x chunk)
 *
 * Flat at zero while the read fits, then one byte for each byte. The dot is the run on the stage, measured, not computed.
 */
import type { Result } from "../engine/api.ts";
import { ink, stroke } from "../base/colours.ts";
import { formatBytes } from "../base/format.ts";
import { draw, Plot } from "./plot.ts";
import { readsOf } from "./rows/reads.ts";

export interface CoverageOptions {
  readonly job: string;
  readonly width: number;
  readonly chunk_bytes: number;
  readonly per_request: number;
}

/** Median size of the job's reads and median of their missing bytes, the first read aside. */
export function operatingPoint(result: Result, job: string): { size_bytes: number; missing_bytes: number } | undefined {
  const reads = readsOf(result, job).slice(1);
  if (reads.length === 0) return undefined;
  const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1]!;
  return {
    size_bytes: median(reads.map((read) => read.bytes)),
    missing_bytes: median(reads.map((read) => read.missed_bytes)),
  };
}

export function coverage(result: Result, options: CoverageOptions): Element {
  const { width, chunk_bytes, per_request } = options;
  const reach = chunk_bytes * per_request;
  const point = operatingPoint(result, options.job);
  const largest = Math.max(16 * 2 ** 20, 1.25 * (point?.size_bytes ?? 0));
  const mib = 2 ** 20;
  const curve = [
    { size: 0, missing: 0 },
    { size: Math.min(reach, largest) / mib, missing: 0 },
    { size: largest / mib, missing: Math.max(0, largest - reach) / mib },
  ];
  const dot = point === undefined ? [] : [{ size: point.size_bytes / mib, missing: point.missing_bytes / mib }];
  const isMissing = (point?.missing_bytes ?? 0) > 0;
  return draw({
    width,
    height: 250,
    marginLeft: 40,
    marginTop: 26,
    marginBottom: 36,
    marginRight: 16,
    ariaLabel: "Bytes that no prefetch covers, against the size of a read",
    x: { label: "size of a read, MiB", labelArrow: "none", domain: [0, largest / mib], ticks: 8 },
    y: { label: "not fetched, MiB", labelArrow: "none", domain: [0, 8], ticks: 4, grid: true },
    marks: [
      Plot.ruleX(
        [reach / mib].filter((size) => size <= largest / mib),
        {
          stroke: stroke("prefetched"),
          strokeDasharray: "3 3",
        },
      ),
      Plot.text(
        [reach / mib].filter((size) => size <= largest / mib),
        {
          x: (size: number) => size,
          frameAnchor: "top",
          dy: -14,
          dx: -6,
          textAnchor: "end",
          text: () => `prefetch reaches ${formatBytes(reach)}`,
          fill: ink("prefetched"),
        },
      ),
      Plot.line(curve, { x: "size", y: "missing", stroke: "var(--ink)", strokeWidth: 1.5, clip: true }),
      Plot.dot(dot, {
        x: "size",
        y: "missing",
        r: 5,
        fill: isMissing ? stroke("disk") : stroke("memory"),
        stroke: "var(--paper)",
      }),
      Plot.text(dot, {
        x: "size",
        y: "missing",
        // Left of the dot the curve is flat: there is room, except at the very start.
        dx: -16,
        dy: -12,
        textAnchor: dot[0] !== undefined && dot[0].size < (0.35 * largest) / mib ? "start" : "end",
        fill: isMissing ? ink("disk") : ink("memory"),
        text: () =>
          `${formatBytes(point!.size_bytes)}, ${isMissing ? `${formatBytes(point!.missing_bytes)} missing` : "all covered"}`,
      }),
    ],
  });
}
