/**
 * The life of transaction groups: a row for each, open while it takes writes, quiescing while the last of them finish, waiting
 * for the group before it, syncing until it is on the devices.
 */
import { fill, type Meaning } from "../base/colours.ts";
import { html } from "../base/elements.ts";
import { formatBytes, formatNanos, formatNumber, groupThousands } from "../base/format.ts";
import type { Result } from "../engine/api.ts";
import type { Chart } from "./chart.ts";
import { keyEntry } from "./legend.ts";
import { draw, Plot, timeMargins } from "./plot.ts";
import { resultTable } from "./resultTable.ts";
import { describeMoment, endOf, type Group, groupsOf, hasWrites } from "./rows/writePath.ts";

export interface GroupsOptions {
  readonly width: number;
}

export const groupStates = [
  { state: "open", meaning: "memory" },
  { state: "quiescing", meaning: "overhead" },
  { state: "waiting", meaning: "waiting" },
  { state: "syncing", meaning: "disk" },
] as const satisfies readonly { state: string; meaning: Meaning }[];

interface Bar {
  readonly group: Group;
  readonly state: (typeof groupStates)[number]["state"];
  readonly meaning: Meaning;
  readonly from_s: number;
  readonly to_s: number;
}

/** Return the states of each group with their times, without states that took no time. */
export function barsOf(groups: readonly Group[], end_s: number): readonly Bar[] {
  return groups.flatMap((group) => {
    const times = [group.opened_s, group.closed_s, group.quiesced_s, group.sync_started_s, group.synced_s];
    return groupStates
      .map(({ state, meaning }, at) => ({
        group,
        state,
        meaning,
        from_s: times[at] ?? end_s,
        to_s: Math.min(times[at + 1] ?? end_s, end_s),
      }))
      .filter(({ from_s, to_s }) => to_s > from_s);
  });
}

export function groupGantt(result: Result, options: GroupsOptions): HTMLElement {
  const { width } = options;
  const end = endOf(result);
  const groups = groupsOf(result).filter((group) => group.opened_s < end && (group.synced_s ?? end) > 0);
  const figure = html("div", { class: "stacked" });
  if (groups.length === 0) {
    figure.append(html("p", { class: "empty" }, "This run has no transaction groups."));
    return figure;
  }
  const bars = barsOf(groups, end);
  const each = Math.max(5, Math.min(20, 420 / groups.length));
  const ends = groups.filter((group) => group.data_written_s !== undefined && group.synced_s !== group.data_written_s);
  // With many groups, the number of every fifth or tenth.
  const every = [1, 2, 5, 10, 20, 50, 100].find((step) => groups.length / step <= 24) ?? 500;
  const numbers = groups.map((group) => group.group);
  figure.append(
    legend(),
    draw({
      ...timeMargins,
      width,
      height: 64 + each * groups.length,
      marginTop: 22,
      marginBottom: 38,
      ariaLabel: describeGroups(groups),
      x: { domain: [0, end], label: "time, s", labelArrow: "none", ticks: 6, grid: true },
      y: {
        type: "band",
        domain: numbers,
        label: "group",
        labelArrow: "none",
        labelAnchor: "top",
        padding: each > 8 ? 0.25 : 0.1,
        ticks: numbers.filter((number) => number % every === 0 || every === 1),
        tickSize: 0,
      },
      marks: [
        Plot.barX(bars, {
          x1: "from_s",
          x2: "to_s",
          y: (bar: Bar) => bar.group.group,
          fill: (bar: Bar) => fill(bar.meaning),
          title: barTitle,
        }),
        // Where data are written and only metadata are left.
        Plot.tickX(ends, { x: "data_written_s", y: "group", stroke: "var(--paper)", strokeWidth: 1.5 }),
      ],
    }),
  );
  return figure;
}

function barTitle({ group, state, from_s, to_s }: Bar): string {
  return `Group ${group.group}, ${formatBytes(group.bytes)}: ${state} for ${formatNanos((to_s - from_s) * 1e9)} from ${from_s.toFixed(2)} s`;
}

function legend(): HTMLElement {
  return html("p", { class: "key" }, ...groupStates.map(({ state, meaning }) => keyEntry(state, meaning)));
}

function describeGroups(groups: readonly Group[]): string {
  const synced = groups.filter((group) => group.synced_s !== undefined && group.sync_started_s !== undefined);
  if (synced.length === 0) return "Transaction groups over time; none was synced.";
  const took = synced.map((group) => group.synced_s! - group.sync_started_s!);
  const range = `${formatNanos(Math.min(...took) * 1e9)} to ${formatNanos(Math.max(...took) * 1e9)}`;
  return `Transaction groups over time: ${groups.length}, each synced in ${range}.`;
}

export const groupsChart: Chart = {
  name: "groups",
  title: "Transaction groups",
  hides:
    "The state of each group over time; the light tick marks the end of its data and the start of its metadata. Hides its size, and what its writers waited for.",
  suits: (scenario) => scenario.zfs !== undefined && hasWrites(scenario),
  draw: ({ result }, width) => groupGantt(result, { width }),
  moment: describeMoment,
  table: ({ result }) => groupTable(result),
};

function groupTable(result: Result): HTMLTableElement {
  const time = (seconds: number | undefined) => (seconds === undefined ? "–" : formatNumber(seconds));
  return resultTable({
    caption: "Transaction groups",
    rows: groupsOf(result),
    columns: [
      { title: "group", value: (row) => row.group },
      { title: "opened, s", value: (row) => time(row.opened_s) },
      { title: "closed, s", value: (row) => time(row.closed_s) },
      { title: "sync began, s", value: (row) => time(row.sync_started_s) },
      { title: "data written, s", value: (row) => time(row.data_written_s) },
      { title: "synced, s", value: (row) => time(row.synced_s) },
      { title: "data", value: (row) => formatBytes(row.bytes) },
      { title: "metadata", value: (row) => formatBytes(row.metadata_bytes) },
      { title: "limit after it", value: (row) => (row.limit_bytes === 0 ? "–" : formatBytes(row.limit_bytes)) },
      { title: "delayed", value: (row) => groupThousands(row.delayed) },
      { title: "stopped", value: (row) => groupThousands(row.blocked) },
    ],
  });
}
