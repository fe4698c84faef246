/**
 * How fast a cache device fills, by how full it is: a feed that is limited at first, and at last finds little that is new. Each
 * dot is a part of the run, measured; the line is the fastest of them.
 */
import type { Result } from "../engine/api.ts";
import { ink, stroke } from "../base/colours.ts";
import { formatNumber } from "../base/format.ts";
import { draw, Plot } from "./plot.ts";
import { coarserWarmth, warmthOf } from "./warmth.ts";
import { endOf } from "./rows/writePath.ts";

export interface Filled {
  /** Share of what is read that the device holds, in the middle of the part. */
  readonly share_percent: number;
  readonly mb_per_s: number;
}

const dots = 40;

/** Return the parts of a run in which the device filled; none without a device, or if it never received data. */
export function fillings(result: Result): readonly Filled[] {
  const { zfs_l2_bytes: held = 0, zfs_l2_share_percent: share = 0 } = result.summary.metrics;
  if (held <= 0 || share <= 0) return [];
  const end = endOf(result);
  const parts = coarserWarmth(
    warmthOf(result).filter(({ from_s }) => from_s < end),
    dots,
  );
  return parts.map(({ from_s, to_s, l2 }, nth) => {
    const before = parts[nth - 1]?.l2 ?? 0;
    return {
      share_percent: (((before + l2) / 2) * share) / held,
      mb_per_s: (l2 - before) / 1e6 / (to_s - from_s),
    };
  });
}

export function feedRate(result: Result, { width }: { readonly width: number }): Element | undefined {
  const shown = fillings(result);
  const most = Math.max(0, ...shown.map(({ mb_per_s }) => mb_per_s));
  if (most === 0) return undefined;
  const said = `${formatNumber(most)} MB/s`;
  return draw({
    width,
    height: 230,
    marginLeft: 44,
    marginRight: 16,
    marginBottom: 38,
    ariaLabel: `Fill rate of the cache device, by how full it is: ${said} at the fastest, ${formatNumber(shown.at(-1)!.mb_per_s)} MB/s at the end.`,
    x: { domain: [0, 100], label: "on the device, % of what is read", labelArrow: "none", ticks: 5 },
    y: { domain: [0, most * 1.15], label: "written, MB/s", labelArrow: "none", ticks: 5, grid: true },
    marks: [
      Plot.ruleY([most], { stroke: "var(--ink-faint)", strokeDasharray: "4 3" }),
      Plot.dot(shown, { x: "share_percent", y: "mb_per_s", r: 2.5, fill: stroke("flash") }),
      Plot.text([said], { frameAnchor: "top-left", dx: 6, dy: -2, text: (text: string) => text, fill: ink("flash") }),
    ],
  });
}
