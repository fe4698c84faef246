/** Charts of single requests and their latencies, which any run has. */
import { column, type CaseDocument, type Result } from "../../engine/api.ts";
import { phases } from "../../base/colours.ts";
import { formatBytes, formatNanos, formatNumber } from "../../base/format.ts";
import { cellsOf, heatmap } from "../heatmap.ts";
import { binsOf, histogram } from "../histogram.ts";
import { lifetimes, pickRequests } from "../lifetimes.ts";
import { missedFrom, type Read, readsOf } from "../rows/reads.ts";
import { resultTable } from "../resultTable.ts";
import { html } from "../../base/elements.ts";
import { type Chart, type Focus } from "../chart.ts";

/** The job and direction to show of a run: the case's, or in a run without them the first that has any. */
export function focusIn(result: Result, focus: Focus): Focus {
  const all = result.summary.jobs.flatMap((job) => (["read", "write"] as const).map((op) => ({ job, op })));
  return [focus, ...all].find(({ job, op }) => binsOf(result, job, op).length > 0) ?? focus;
}

export function requestCharts(focus: Focus): readonly Chart[] {
  const { job, op } = focus;
  return [
    {
      name: "lifetimes",
      title: "Lifetimes",
      hides: `Each ${op} of ${job} by phase. Hides when each phase came: the bars are stacked in a fixed order.`,
      suits: keepsLog,
      followsRequest: true,
      draw: ({ result, request }, width) => {
        const own = focusIn(result, focus);
        return readsOf(result, own.job, own.op).length === 0
          ? withoutLog(`there are no single ${own.op}s to take apart`)
          : lifetimes(result, { ...own, width, around: request });
      },
      table: ({ result, request }) => {
        const own = focusIn(result, focus);
        return requestTable(pickRequests(result, { ...own, width: 0, around: request }), own.op);
      },
    },
    {
      name: "histogram",
      title: "Histogram",
      hides: "First what a monitor counts, then where the time goes. Both hide when it happened.",
      suits: () => true,
      draw: ({ result, reference }, width) => histogram(result, { ...focusIn(result, focus), width, reference }),
      table: ({ result }) => binTable(result, focusIn(result, focus)),
    },
    {
      name: "heatmap",
      title: "Heat map",
      hides: `All ${op}s of all jobs. Hides which job a cell belongs to: the ${op}s of ${job} are among the others.`,
      suits: keepsLog,
      draw: ({ result, reference }, width) =>
        hasOperations(result)
          ? heatmap(result, { op: focusIn(result, focus).op, width })
          : html(
              "div",
              {},
              withoutLog("a heat map has no times to draw; the histogram shows the same latencies without them"),
              histogram(result, { ...focusIn(result, focus), width, reference }),
            ),
      table: ({ result }) =>
        hasOperations(result)
          ? resultTable({
              caption: "Requests by time and latency",
              rows: cellsOf(result, { op: focusIn(result, focus).op, width: 0 }, 24),
              columns: [
                { title: "from, s", value: (cell) => formatNumber(cell.from_s) },
                { title: "to, s", value: (cell) => formatNumber(cell.to_s) },
                { title: "latency from", value: (cell) => formatNanos(cell.lower_ns) },
                { title: "latency to", value: (cell) => formatNanos(cell.upper_ns) },
                { title: "count", value: (cell) => cell.count },
              ],
            })
          : binTable(result, focusIn(result, focus)),
    },
  ];
}

/** Whether the runs of a scenario keep their operations. */
export function keepsLog(scenario: CaseDocument["scenario"]): boolean {
  return scenario.record?.log !== false;
}

export function hasOperations(result: Result): boolean {
  return column(result, "ops.id").length > 0;
}

function withoutLog(so: string): HTMLElement {
  return html("p", { class: "empty" }, `This run is too long to keep every operation, so ${so}.`);
}

function binTable(result: Result, { job, op }: Focus): HTMLTableElement {
  return resultTable({
    caption: `Latency of ${op}s of ${job}, by bin`,
    rows: binsOf(result, job, op),
    columns: [
      { title: "from", value: (bin) => formatNanos(bin.lower_ns) },
      { title: "to", value: (bin) => formatNanos(bin.upper_ns) },
      { title: "count", value: (bin) => bin.count },
      { title: "share of count, %", value: (bin) => formatNumber(bin.count_percent) },
      { title: "share of time, %", value: (bin) => formatNumber(bin.time_percent) },
    ],
  });
}

function requestTable(requests: readonly { index: number; read: Read }[], op: string): HTMLTableElement {
  return resultTable({
    caption: `${op}s around the one on the stage`,
    rows: requests,
    columns: [
      { title: op, value: ({ index }) => index + 1 },
      { title: "at", value: ({ read }) => formatBytes(read.from) },
      { title: "size", value: ({ read }) => formatBytes(read.bytes) },
      { title: "from memory", value: ({ read }) => formatBytes(read.cached_bytes) },
      {
        title: "missing",
        value: ({ read }) =>
          read.missed_bytes === 0 ? "none" : `${formatBytes(read.missed_bytes)} from ${missedFrom(read)}`,
      },
      { title: "latency", value: ({ read }) => formatNanos(read.latency_ns) },
      {
        title: "phases",
        value: ({ read }) =>
          phases
            .map((phase, at) => ({ phase, nanos: read.phase_ns[at]! }))
            .filter(({ nanos }) => nanos > 0)
            .map(({ phase, nanos }) => `${phase.label} ${formatNanos(nanos)}`)
            .join(", "),
      },
    ],
  });
}
