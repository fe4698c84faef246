/**
 * The mechanism of the throttles of 2008 and 2010: after each sync, the limit is set to what would have taken the target time.
 * The line is the limit it chose; the dots are what the backend really wrote in that time, taken from the same sync.
 */
import type { Result } from "../engine/api.ts";
import { ink, stroke } from "../base/colours.ts";
import { formatBytes, formatNanos } from "../base/format.ts";
import { draw, Plot } from "./plot.ts";
import { groupsOf } from "./rows/writePath.ts";

export interface GroupLimitOptions {
  readonly width: number;
  /** Target duration of a sync. */
  readonly target_ns: number;
}

export interface Rescaled {
  readonly group: number;
  readonly limit_bytes: number;
  /** The sync's own rate over the target time. */
  readonly possible_bytes: number;
}

export function rescalings(result: Result, target_ns: number): readonly Rescaled[] {
  return groupsOf(result).flatMap(({ group, bytes, limit_bytes, sync_started_s, synced_s }) => {
    if (sync_started_s === undefined || synced_s === undefined || bytes === 0 || limit_bytes === 0) return [];
    return [{ group, limit_bytes, possible_bytes: (bytes / (synced_s - sync_started_s)) * (target_ns / 1e9) }];
  });
}

/** Nothing where no group has been synced: then no limit was set. */
export function groupLimit(result: Result, options: GroupLimitOptions): Element | undefined {
  const { width, target_ns } = options;
  const rows = rescalings(result, target_ns);
  const last = rows.at(-1);
  if (last === undefined) return undefined;
  const all = rows.flatMap((row) => [row.limit_bytes, row.possible_bytes]);
  const domain: [number, number] = [Math.min(...all) / 1.5, Math.max(...all) * 1.8];
  const ticks: number[] = [];
  const octaves = Math.log2(domain[1] / domain[0]) > 5 ? 2 : 1;
  for (let power = Math.ceil(Math.log2(domain[0])); 2 ** power <= domain[1]; power += octaves) ticks.push(2 ** power);
  return draw({
    width,
    height: 250,
    marginLeft: 64,
    marginRight: 14,
    marginTop: 40,
    marginBottom: 38,
    ariaLabel: `Limit after each group, ${formatBytes(last.limit_bytes)} at the end; the backend wrote ${formatBytes(last.possible_bytes)} in ${formatNanos(target_ns)}`,
    x: { label: "group", labelArrow: "none", ticks: Math.min(8, rows.length), tickFormat: "d" },
    y: {
      type: "log",
      domain,
      label: "data",
      labelArrow: "none",
      ticks,
      tickFormat: (bytes: number) => formatBytes(bytes),
      grid: true,
    },
    marks: [
      Plot.lineY(rows, {
        x: "group",
        y: "limit_bytes",
        curve: "step-after",
        stroke: stroke("stopped"),
        strokeWidth: 1.8,
      }),
      Plot.dot(rows, { x: "group", y: "possible_bytes", r: 2.5, fill: stroke("disk") }),
      Plot.text(["— limit of a group"], {
        frameAnchor: "top-left",
        dy: -20,
        dx: 50,
        text: (text: string) => text,
        fill: ink("stopped"),
      }),
      Plot.text([`• written in ${formatNanos(target_ns)} at this sync’s rate`], {
        frameAnchor: "top-right",
        dy: -20,
        text: (text: string) => text,
        fill: ink("disk"),
      }),
    ],
  });
}
