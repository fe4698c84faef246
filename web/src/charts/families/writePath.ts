/** Charts of a write path: dirty data, transaction groups, rate, intent log. */
import { type Result } from "../../engine/api.ts";
import { dirty } from "../dirty.ts";
import { formatBytes, formatNumber, groupThousands } from "../../base/format.ts";
import { groupGantt } from "../groups.ts";
import { commitsOf, datasetName, describeCommits, largest, logDevices } from "../logDevices.ts";
import { resultTable } from "../resultTable.ts";
import { coarser, describeMoment, describeRun, groupsOf, intervalsOf } from "../rows/writePath.ts";
import { mbPerS, rateOf, writeRate } from "../writeRate.ts";
import { type Chart } from "../chart.ts";

export function writePathCharts(): readonly Chart[] {
  return [
    {
      name: "dirty",
      title: "Dirty data",
      hides: "All files and writers together. Hides which block is dirty, for how long, and what one write waited for.",
      suits: ({ zfs }) => zfs !== undefined,
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
      suits: ({ zfs }) => zfs !== undefined,
      draw: ({ result }, width) => groupGantt(result, { width }),
      moment: describeMoment,
      table: ({ result }) => groupTable(result),
    },
    {
      name: "write-rate",
      title: "Write rate",
      hides: "Completed group writes, all devices together. Hides how many were in flight, and the reads between them.",
      suits: ({ zfs }) => zfs !== undefined,
      draw: ({ result }, width) => writeRate(result, { width }),
      describe: (result) => {
        const { mean_mb_per_s, idle_percent } = rateOf(result);
        return `While clients wrote, the devices took ${formatNumber(mean_mb_per_s)} MB/s on average and were given nothing for ${formatNumber(idle_percent)} % of the time.`;
      },
      moment: describeMoment,
      table: ({ result }) => intervalTable(result),
    },
    {
      name: "log-devices",
      title: "Intent log",
      hides:
        "The shortest and the longest commits of each file system at each moment, all log devices together. Hides what a write waited for before its commit began.",
      suits: ({ zfs }) => zfs?.log?.devices !== undefined,
      draw: ({ result }, width) => logDevices(result, { width }),
      describe: describeCommits,
      moment: describeMoment,
      table: ({ result }) => commitTable(result),
    },
  ];
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

function commitTable(result: Result): HTMLTableElement {
  return resultTable({
    caption: "The largest commits of the intent logs",
    rows: largest(commitsOf(result), tableRows),
    columns: [
      { title: "file system", value: (row) => datasetName(result, row.dataset) },
      { title: "began, s", value: (row) => formatNumber(row.from_s) },
      { title: "took, ms", value: (row) => formatNumber((row.to_s - row.from_s) * 1e3) },
      { title: "writers", value: (row) => groupThousands(row.writes) },
      { title: "on the log", value: (row) => formatBytes(row.bytes) },
      { title: "diverted", value: (row) => formatBytes(row.diverted_bytes) },
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
