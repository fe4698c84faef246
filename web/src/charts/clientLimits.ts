/**
 * The bottleneck of each test of a run on NFS clients. A test is a bar: the share of its time in which its processes
 * computed, and the share in which they waited. Marks on the bar show how busy other resources were. A mark at the
 * right end is the limit; without one, latency is the limit.
 */
import type { SymbolType } from "@observablehq/plot";
import { fill, type Meaning, stroke } from "../base/colours.ts";
import { html } from "../base/elements.ts";
import { formatNumber, groupThousands } from "../base/format.ts";
import type { Result } from "../engine/api.ts";
import type { Chart } from "./chart.ts";
import { keyEntry } from "./legend.ts";
import { draw, Plot } from "./plot.ts";
import { resultTable } from "./resultTable.ts";

const resources = [
  { name: "protocol", label: "client's protocol thread", meaning: "dispatch", symbol: "square" },
  { name: "network", label: "network", meaning: "network", symbol: "diamond" },
  { name: "devices", label: "server's devices", meaning: "disk", symbol: "triangle" },
] as const satisfies readonly { name: string; label: string; meaning: Meaning; symbol: SymbolType }[];

type Resource = (typeof resources)[number]["name"];

/** As the engine numbers them in the metric `JOB.limiter`. */
const limiters = ["latency", "client CPU", "network", "devices", "server CPU"] as const;

/** Titles of Bonnie++ tests, by name. */
const titles: Readonly<Record<string, string>> = {
  putc: "write by character",
  put_block: "write by block",
  rewrite: "rewrite",
  getc: "read by character",
  get_block: "read by block",
  seeks: "seeks",
  seq_create: "create",
  seq_stat: "stat",
  seq_del: "delete",
  ran_create: "random create",
  ran_stat: "random stat",
  ran_del: "random delete",
};

export interface ClientTest {
  readonly job: string;
  readonly title: string;
  /** The printed result of a benchmark, with its unit. */
  readonly printed: string;
  /** Rate on the server's link with all headers, in its busier direction, MB/s. */
  readonly seen_mb_per_s: number;
  readonly cp_percent: number;
  readonly process_percent: number;
  readonly shares_percent: Readonly<Record<Resource, number>>;
  readonly limiter: (typeof limiters)[number];
  readonly messages: number;
}

/** Shorter tests print no rate, as with Bonnie++ itself. */
const shortest_s = 0.5;
const onNames = /create|stat|del/;

export function testsOf(result: Result): readonly ClientTest[] {
  const { jobs, metrics } = result.summary;
  return jobs
    .filter((job) => metrics[`${job}.limiter`] !== undefined)
    .map((job) => {
      const metric = (name: string) => metrics[`${job}.${name}`] ?? 0;
      const share = (name: string) => metric(`${name}_busy_share_percent`);
      const perSecond = job === "seeks" ? metric("read_iops") : Math.max(metric("read_iops"), metric("write_iops"));
      const isRate = job === "seeks" || onNames.test(job);
      const rate = isRate
        ? `${groupThousands(Math.round(perSecond))} a second`
        : `${groupThousands(Math.round(metric("printed_k_per_s")))} K/s`;
      return {
        job,
        title: titles[job] ?? job,
        printed: metric("elapsed_s") < shortest_s && isRate ? "+++++" : rate,
        seen_mb_per_s: Math.max(metric("to_server_mb_per_s"), metric("to_client_mb_per_s")),
        cp_percent: metric("cp_percent"),
        process_percent: share("process"),
        shares_percent: { protocol: share("protocol"), network: share("network"), devices: share("devices") },
        limiter: limiters[metric("limiter")] ?? limiters[0],
        messages: metric("to_server_messages"),
      };
    });
}

export function describeClient(result: Result): string {
  const tests = testsOf(result);
  if (tests.length === 0) return "This run has no NFS client.";
  const groups = limiters
    .map((limiter) => ({ limiter, titles: tests.filter((test) => test.limiter === limiter).map(({ title }) => title) }))
    .filter(({ titles: found }) => found.length > 0);
  return groups.map(({ limiter, titles: found }) => `Limited by ${limiter}: ${found.join(", ")}.`).join(" ");
}

const rowHeight = 38;
const labelHeight = 19;
// Below this width there is no room for the words next to the limit.
const narrow = 480;

export function clientLimits(result: Result, width: number): Element {
  const tests = testsOf(result);
  if (tests.length === 0) return html("p", { class: "empty" }, describeClient(result));
  const bars = tests.flatMap(({ job, title, process_percent: busy, cp_percent: cp }) => [
    { job, from: 0, to: busy, meaning: "processor", words: `${title}: processes compute ${formatNumber(cp)}% CP` },
    { job, from: busy, to: 100, meaning: "waiting", words: `${title}: processes wait ${formatNumber(100 - busy)}%` },
  ]);
  const chart = draw({
    width,
    height: rowHeight * tests.length + 40,
    marginLeft: 10,
    marginRight: 14,
    marginTop: 2,
    marginBottom: 36,
    ariaLabel: `Busy shares of each test. ${describeClient(result)}`,
    x: { domain: [0, 100], label: "share of the test's time, %", labelArrow: "none", ticks: 5 },
    fy: { domain: tests.map(({ job }) => job), axis: null, padding: 0 },
    color: { type: "identity" },
    symbol: { type: "identity" },
    marks: [
      Plot.barX(bars, {
        fy: "job",
        x1: "from",
        x2: "to",
        insetTop: labelHeight,
        insetBottom: 5,
        fill: ({ meaning }: { meaning: Meaning }) => fill(meaning),
        stroke: "var(--paper)",
        strokeWidth: 0.5,
        title: "words",
      }),
      ...resources.map(({ name, label, meaning, symbol }) =>
        Plot.dot(tests, {
          fy: "job",
          x: ({ shares_percent: shares }: ClientTest) => shares[name],
          frameAnchor: "bottom",
          dy: -(rowHeight - labelHeight + 5) / 2 + 0.5,
          symbol,
          r: 5,
          fill: stroke(meaning),
          stroke: "var(--paper)",
          strokeWidth: 1.5,
          title: ({ title, shares_percent: shares }: ClientTest) =>
            `${title}: ${label} busy ${formatNumber(shares[name])}%`,
        }),
      ),
      Plot.text(tests, {
        fy: "job",
        frameAnchor: "top-left",
        dy: 5,
        text: ({ title, printed, seen_mb_per_s: seen }: ClientTest) =>
          width < narrow
            ? `${title}: ${printed}, seen ${formatNumber(seen)} MB/s`
            : `${title}: ${printed} printed, ${formatNumber(seen)} MB/s seen`,
        fill: "var(--ink)",
      }),
      Plot.text(tests, {
        fy: "job",
        frameAnchor: "top-right",
        dy: 5,
        text: ({ limiter }: ClientTest) => limiter,
        fill: "var(--ink)",
        fontWeight: 600,
      }),
    ],
  });
  return html("div", {}, key(), chart);
}

function key(): HTMLElement {
  const shapes = {
    square: `<rect x="5" y="2" width="8" height="8"`,
    diamond: `<path d="M9 0L14 6L9 12L4 6Z"`,
    triangle: `<path d="M9 1L14.5 10.5H3.5Z"`,
  };
  return html(
    "p",
    { class: "key" },
    keyEntry("processes compute (%CP)", "processor"),
    keyEntry("processes wait", "waiting"),
    html("span", {}, "busy:"),
    ...resources.map(({ label, meaning, symbol }) =>
      keyEntry(label, meaning, { marks: `${shapes[symbol]} fill="${stroke(meaning)}"/>`, height: 12 }),
    ),
  );
}

export function clientTable(result: Result): HTMLTableElement {
  const percent = (value: number) => formatNumber(value);
  return resultTable({
    caption: "Tests of the client",
    rows: testsOf(result),
    columns: [
      { title: "test", value: ({ title }) => title },
      { title: "printed", value: ({ printed }) => printed },
      { title: "%CP", value: ({ cp_percent: cp }) => percent(cp) },
      { title: "seen on the server's link, MB/s", value: ({ seen_mb_per_s: seen }) => formatNumber(seen) },
      { title: "operations", value: ({ messages }) => groupThousands(messages) },
      { title: "processes, %", value: ({ process_percent: share }) => percent(share) },
      ...resources.map(({ name, label }) => ({
        title: `${label}, %`,
        value: ({ shares_percent: shares }: ClientTest) => percent(shares[name]),
      })),
      { title: "limit", value: ({ limiter }) => limiter },
    ],
  });
}

export const clientChart: Chart = {
  name: "client",
  title: "Limits of a client",
  hides:
    "Shares over a whole test. “Printed” is payload; “seen” is all bytes on the server's link. Hides when a part was busy, and what a single call waited for.",
  suits: ({ nfs }) => nfs !== undefined,
  draw: ({ result }, width) => clientLimits(result, width),
  describe: describeClient,
  table: ({ result }) => clientTable(result),
};
