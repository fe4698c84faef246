/**
 * How long a commit takes by its size, both on scales of ratios: small ones cost the same whatever is in them, large ones their
 * bytes over a rate. The line goes through the largest commit at that rate; what lies far above it has waited.
 */
import type { Result } from "../engine/api.ts";
import { stroke } from "../base/colours.ts";
import { formatBytes, formatNanos, formatNumber, formatTick } from "../base/format.ts";
import { commitsOf, largest, sizeOf, timeOf, type Commit } from "./logDevices.ts";
import { draw, Plot } from "./plot.ts";
import { powerTicks } from "./ticks.ts";

/** One commit for each place of a picture with `steps` places to a factor of ten. */
export function distinct(commits: readonly Commit[], steps: number): readonly Commit[] {
  const place = (value: number) => Math.round(Math.log10(Math.max(value, 1e-9)) * steps);
  const kept = new Map<string, Commit>();
  for (const commit of commits) {
    if (timeOf(commit) <= 0) continue;
    const where = `${place(sizeOf(commit))} ${place(timeOf(commit))} ${isDiverted(commit)}`;
    if (!kept.has(where)) kept.set(where, commit);
  }
  return [...kept.values()];
}

const isDiverted = (commit: Commit) => commit.diverted_bytes > commit.bytes;
const time_ms = (commit: Commit) => timeOf(commit) * 1e3;

export function commitSizes(result: Result, options: { readonly width: number }): Element | undefined {
  const { width } = options;
  const [top] = largest(commitsOf(result), 1);
  if (top === undefined || timeOf(top) <= 0) return undefined;
  const shown = distinct(commitsOf(result), 12);
  const rate = sizeOf(top) / timeOf(top);
  const least = Math.min(...shown.map(sizeOf));
  const fastest_s = Math.min(...shown.map(timeOf));
  const from = Math.max(least, fastest_s * rate);
  // Commits of one size get some room on both sides, in which the axis can say what that size is.
  const room = sizeOf(top) / least < 4 ? 4 : 1;
  const said = `${formatNumber(rate / 1e6)} MB/s`;
  return draw({
    width,
    height: 230,
    marginLeft: 56,
    marginRight: 16,
    marginBottom: 38,
    ariaLabel:
      `Time of a commit by its size: ${formatBytes(least)} in ${formatNanos(fastest_s * 1e9)} at best, ` +
      `${formatBytes(sizeOf(top))} in ${formatNanos(timeOf(top) * 1e9)}, which is ${said}.`,
    x: {
      type: "log",
      base: 2,
      domain: [least / room, sizeOf(top) * room],
      label: "bytes of a commit",
      labelArrow: "none",
      ticks: 5,
      tickFormat: formatBytes,
    },
    y: {
      type: "log",
      label: "takes",
      labelArrow: "none",
      ticks: powerTicks(Math.min(...shown.map(time_ms)), Math.max(...shown.map(time_ms))),
      tickFormat: (ms: number) => formatTick(ms * 1e6),
      grid: true,
    },
    marks: [
      Plot.link([top], {
        x1: from,
        y1: (1e3 * from) / rate,
        x2: sizeOf,
        y2: time_ms,
        stroke: "var(--ink-faint)",
        strokeDasharray: "4 3",
      }),
      Plot.dot(shown, {
        x: sizeOf,
        y: time_ms,
        r: 2.5,
        stroke: (commit: Commit) => stroke(isDiverted(commit) ? "disk" : "flash"),
        symbol: (commit: Commit) => (isDiverted(commit) ? "square" : "circle"),
        title: (commit: Commit) => `${formatBytes(sizeOf(commit))} in ${formatNanos(timeOf(commit) * 1e9)}`,
      }),
      Plot.text([top], {
        x: sizeOf,
        y: time_ms,
        text: () => said,
        textAnchor: "end",
        dx: -8,
        dy: -6,
        fill: "var(--ink)",
        stroke: "var(--paper)",
        strokeWidth: 4,
        paintOrder: "stroke",
      }),
    ],
  });
}
