/**
 * The charts of a run by the names that case files use. The stage, the evidence tabs and the notebook's widget choose from
 * this one list.
 */
import { column, type CaseDocument, type Result } from "../engine/api.ts";
import { alignment, alignmentTable, describeAlignment } from "./alignment.ts";
import { clusterMap } from "./clusterMap.ts";
import { momentOf } from "./clusterTables.ts";
import { phases } from "./colours.ts";
import { copiesOf, copyTimeline, describeCopies } from "./copyTimeline.ts";
import { dirty } from "./dirty.ts";
import { describeFlames, flameGraph, framesOf, functionsOf, share } from "./flameGraph.ts";
import { formatBytes, formatNanos, formatNumber, groupThousands } from "./format.ts";
import { groupGantt } from "./groups.ts";
import { cellsOf, heatmap } from "./heatmap.ts";
import { binsOf, histogram } from "./histogram.ts";
import { lifetimes, pickRequests } from "./lifetimes.ts";
import { describeMonitor, monitor, monitorTable } from "./monitor.ts";
import { missedFrom, readsOf, type Read } from "./reads.ts";
import { describeReduction, reduction, reductionTable } from "./reduction.ts";
import { resultTable } from "./resultTable.ts";
import { shardMap } from "./shardMap.ts";
import { activeSeconds, busyPercent, describeShards, nameOf, serversOf } from "./shards.ts";
import { html } from "./svg.ts";
import { coarser, describeMoment, describeRun, groupsOf, intervalsOf } from "./writePath.ts";
import { mbPerS, rateOf, writeRate } from "./writeRate.ts";

export interface Shown {
  readonly result: Result;
  readonly reference: { readonly result: Result; readonly label: string } | undefined;
  /** The request on the stage. */
  readonly request: number;
}

export interface Chart {
  readonly name: string;
  readonly title: string;
  /** What this instrument does not show. */
  readonly hides: string;
  readonly draw: (shown: Shown, width: number) => Element;
  readonly table: (shown: Shown) => HTMLTableElement;
  /** The result in a sentence. */
  readonly describe?: (result: Result) => string;
  /** For a chart over time with the margins of all such charts: one moment in words. */
  readonly moment?: (result: Result, time_s: number) => string;
  /** Whether it follows the request on the stage. */
  readonly followsRequest?: boolean;
  readonly needs:
    "operations" | "write path" | "controller" | "bins" | "copies" | "cluster" | "monitor" | "partition" | "reduction";
}

/** The stage's own view, which is more than a chart. */
export const stripView = "prefetch-strip";
/** Another stage of its own. */
export const clusterView = "cluster-map";

export function chartsOf(doc: Pick<CaseDocument, "focus">): readonly Chart[] {
  const { job, op } = doc.focus;
  return [
    {
      name: "dirty",
      title: "Dirty data",
      hides: "All files and writers together. Hides which block is dirty, for how long, and what one write waited for.",
      needs: "write path",
      draw: ({ result }, width) => dirty(result, { width }),
      describe: describeRun,
      moment: describeMoment,
      table: ({ result }) => intervalTable(result),
    },
    {
      name: "groups",
      title: "Transaction groups",
      hides:
        "When each group was in which state; the light tick is where its data were written and metadata began. Hides how much each held, and what its writers waited for.",
      needs: "write path",
      draw: ({ result }, width) => groupGantt(result, { width }),
      moment: describeMoment,
      table: ({ result }) => groupTable(result),
    },
    {
      name: "write-rate",
      title: "Write rate",
      hides: "Completed group writes, all devices together. Hides how many were in flight, and the reads between them.",
      needs: "write path",
      draw: ({ result }, width) => writeRate(result, { width }),
      describe: (result) => {
        const { mean_mb_per_s, idle_percent } = rateOf(result);
        return `While clients wrote, the devices took ${formatNumber(mean_mb_per_s)} MB/s on average and were given nothing for ${formatNumber(idle_percent)} % of the time.`;
      },
      moment: describeMoment,
      table: ({ result }) => intervalTable(result),
    },
    {
      name: clusterView,
      title: "Cluster map",
      hides: "What each node holds at the end of the run, and what went between them last. Hides which block is where.",
      needs: "cluster",
      draw: ({ result }, width) =>
        clusterMap(result, { job, width, time_s: result.summary.simulated_ns / 1e9 }).element,
      table: ({ result }) => nodeTable(result, job),
    },
    {
      name: "shard-map",
      title: "Shard map",
      hides: "Busy shares over the whole time. Hides when a shard was busy, and how long its queue was.",
      needs: "controller",
      draw: ({ result }, width) => shardMap(result, { width, job, op }),
      describe: (result) => describeShards(result, job, op),
      table: ({ result }) => serverTable(result, job, op),
    },
    {
      name: "flame-graph",
      title: "Flame graph",
      hides:
        "Where processor time went, over all jobs. Hides waiting: for a thread, a core, a lock, the network or a device.",
      needs: "controller",
      draw: ({ result }, width) => flameGraph(result, { width }),
      describe: describeFlames,
      table: ({ result }) => functionTable(result),
    },
    {
      name: "copy-timeline",
      title: "Copies side by side",
      hides:
        "Each copy from its own start, though they ran one after the other. Within a request the phases are stacked: which came first is not kept.",
      needs: "copies",
      draw: ({ result }, width) => copyTimeline(result, { width }),
      describe: describeCopies,
      table: ({ result }) => copyTable(result),
    },
    {
      name: "monitor",
      title: "Monitor",
      hides: "Rate by time, latency by request. Hides how long the requests came and how long there were none.",
      needs: "monitor",
      draw: ({ result }, width) => monitor(result, width),
      describe: describeMonitor,
      table: ({ result }) => monitorTable(result),
    },
    {
      name: "alignment",
      title: "Alignment",
      hides: "One write, at the start of the file, and the mean of all. Hides how much a single write differs from it.",
      needs: "partition",
      draw: ({ result }, width) => alignment(result, { job, width }),
      describe: (result) => describeAlignment(result, job),
      table: ({ result }) => alignmentTable(result, job),
    },
    {
      name: "reduction",
      title: "Reduction",
      hides:
        "Bytes of the first buffers, step by step. Hides which mechanism a later step would have found if it came first.",
      needs: "reduction",
      draw: ({ result }, width) => reduction(result, width),
      describe: describeReduction,
      table: ({ result }) => reductionTable(result),
    },
    {
      name: "lifetimes",
      title: "Lifetimes",
      hides: `Each ${op} of ${job} by phase. Hides when each phase came: the bars are stacked in a fixed order.`,
      needs: "operations",
      followsRequest: true,
      draw: ({ result, request }, width) =>
        readsOf(result, job, op).length === 0
          ? withoutLog(`there are no single ${op}s to take apart`)
          : lifetimes(result, { job, op, width, around: request }),
      table: ({ result, request }) => requestTable(pickRequests(result, { job, op, width: 0, around: request }), op),
    },
    {
      name: "histogram",
      title: "Histogram",
      hides: "First what a monitor counts, then where the time goes. Both hide when it happened.",
      needs: "bins",
      draw: ({ result, reference }, width) => histogram(result, { job, op, width, reference }),
      table: ({ result }) => binTable(result, job, op),
    },
    {
      name: "heatmap",
      title: "Heat map",
      hides: `All ${op}s of all jobs. Hides which job a cell belongs to: the ${op}s of ${job} are among the others.`,
      needs: "operations",
      draw: ({ result, reference }, width) =>
        hasOperations(result)
          ? heatmap(result, { op, width })
          : html(
              "div",
              {},
              withoutLog("a heat map has no times to draw; the histogram shows the same latencies without them"),
              histogram(result, { job, op, width, reference }),
            ),
      table: ({ result }) =>
        hasOperations(result)
          ? resultTable({
              caption: "Requests by time and latency",
              rows: cellsOf(result, { op, width: 0 }, 24),
              columns: [
                { title: "from, s", value: (cell) => formatNumber(cell.from_s) },
                { title: "to, s", value: (cell) => formatNumber(cell.to_s) },
                { title: "latency from", value: (cell) => formatNanos(cell.lower_ns) },
                { title: "latency to", value: (cell) => formatNanos(cell.upper_ns) },
                { title: "count", value: (cell) => cell.count },
              ],
            })
          : binTable(result, job, op),
    },
  ];
}

/** Whether a case offers this chart: what it names, and what any run of it can show. */
export function isOffered(chart: Chart, doc: Pick<CaseDocument, "view" | "views" | "scenario">): boolean {
  if (chart.name === doc.view) return false;
  if (doc.views.includes(chart.name)) return true;
  if (chart.needs === "write path") return doc.scenario.zfs !== undefined;
  if (chart.needs === "cluster") return doc.scenario.cluster !== undefined;
  if (chart.needs === "controller") return doc.scenario.controller !== undefined;
  if (chart.needs === "copies") return false;
  if (chart.needs === "partition") return doc.scenario.partition !== undefined;
  if (chart.needs === "reduction") return doc.scenario.reduction !== undefined;
  if (chart.needs === "monitor") return doc.scenario.monitor !== undefined;
  return chart.needs === "bins" || keepsLog(doc);
}

/** Whether the runs of a case keep their operations. */
export function keepsLog(doc: Pick<CaseDocument, "scenario">): boolean {
  return doc.scenario.record?.log !== false;
}

export function hasOperations(result: Result): boolean {
  return column(result, "ops.id").length > 0;
}

function withoutLog(so: string): HTMLElement {
  return html("p", { class: "empty" }, `This run is too long to keep every operation, so ${so}.`);
}

function binTable(result: Result, job: string, op: "read" | "write"): HTMLTableElement {
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

const tableRows = 60;

function intervalTable(result: Result): HTMLTableElement {
  return resultTable({
    caption: "Dirty data, entries and writes to the devices over time",
    rows: coarser(intervalsOf(result), tableRows),
    columns: [
      { title: "from, s", value: (row) => formatNumber(row.from_s) },
      { title: "to, s", value: (row) => formatNumber(row.to_s) },
      { title: "dirty, mean", value: (row) => formatBytes(row.dirty_mean_bytes) },
      { title: "dirty, most", value: (row) => formatBytes(row.dirty_max_bytes) },
      { title: "limit", value: (row) => (row.limit_bytes === 0 ? "none" : formatBytes(row.limit_bytes)) },
      { title: "in flight", value: (row) => formatNumber(row.async_writes_mean) },
      { title: "written, MB/s", value: (row) => formatNumber(mbPerS(row)) },
      { title: "free", value: (row) => groupThousands(row.not_delayed) },
      { title: "delayed", value: (row) => groupThousands(row.delayed) },
      { title: "stopped", value: (row) => groupThousands(row.blocked) },
    ],
  });
}

function copyTable(result: Result): HTMLTableElement {
  return resultTable({
    caption: "Copies",
    rows: copiesOf(result),
    columns: [
      { title: "copy", value: (copy) => copy.job },
      { title: "time", value: (copy) => formatNanos(copy.elapsed_ns) },
      { title: "copied", value: (copy) => formatBytes(copy.bytes) },
      { title: "reads and writes", value: (copy) => groupThousands(copy.requests.length) },
      { title: "on the network", value: (copy) => formatNanos(copy.shares_ns.network) },
      { title: "round trips", value: (copy) => formatNanos(copy.shares_ns.distance) },
      { title: "waiting", value: (copy) => formatNanos(copy.shares_ns.waiting + copy.shares_ns.window) },
      { title: "in the server", value: (copy) => formatNanos(copy.shares_ns.server) },
    ],
  });
}

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

function nodeTable(result: Result, job: string): HTMLTableElement {
  const [start, end] = [0, result.summary.simulated_ns / 1e9].map((at) => momentOf(result, job, at)) as [
    ReturnType<typeof momentOf>,
    ReturnType<typeof momentOf>,
  ];
  return resultTable({
    caption: "Blocks on each node",
    rows: start.mine.map((_, node) => node),
    columns: [
      { title: "node", value: (node) => (end.lost[node] ? `${node}, lost` : node) },
      { title: `of ${job}, at the start`, value: (node) => groupThousands(start.mine[node]!) },
      { title: "at the end", value: (node) => groupThousands(Math.round(end.mine[node]!)) },
      { title: "of others, at the start", value: (node) => groupThousands(start.others[node]!) },
      { title: "at the end", value: (node) => groupThousands(Math.round(end.others[node]!)) },
    ],
  });
}

function serverTable(result: Result, job: string, op: string): HTMLTableElement {
  const servers = serversOf(result, 0);
  const seconds = activeSeconds(result, job, op);
  return resultTable({
    caption: "Controllers of the first disk",
    rows: servers,
    columns: [
      { title: "thread", value: (server) => nameOf(server, servers) },
      { title: "requests", value: (server) => groupThousands(server.requests) },
      { title: "busy, %", value: (server) => formatNumber(busyPercent(server, seconds)) },
      {
        title: "mean time in it",
        value: (server) => (server.requests === 0 ? "–" : formatNanos(server.response_ns / server.requests)),
      },
    ],
  });
}

function functionTable(result: Result): HTMLTableElement {
  const root = framesOf(result.folded ?? "");
  return resultTable({
    caption: "Processor time by function, all controllers together",
    rows: functionsOf(root),
    columns: [
      { title: "part", value: (row) => row.name.split(" > ")[0]! },
      { title: "function", value: (row) => row.name.split(" > ").slice(1).join(" > ") || "itself" },
      { title: "time", value: (row) => formatNanos(row.ns) },
      { title: "share", value: (row) => share(row.ns, root.ns) },
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
