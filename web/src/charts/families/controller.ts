/** Charts of the controllers of virtual disks. */
import { type Result } from "../../engine/api.ts";
import { describeFlames, flameGraph, framesOf, functionsOf, share } from "../flameGraph.ts";
import { formatNanos, formatNumber, groupThousands } from "../../base/format.ts";
import { resultTable } from "../resultTable.ts";
import { shardMap } from "../shardMap.ts";
import { activeSeconds, busyPercent, describeShards, nameOf, serversOf } from "../rows/shards.ts";
import { type Chart, type Focus } from "../chart.ts";

export function controllerCharts({ job, op }: Focus): readonly Chart[] {
  return [
    {
      name: "shard-map",
      title: "Shard map",
      hides: "Busy shares over the whole time. Hides when a shard was busy, and how long its queue was.",
      suits: ({ controller }) => controller !== undefined,
      draw: ({ result }, width) => shardMap(result, { width, job, op }),
      describe: (result) => describeShards(result, job, op),
      table: ({ result }) => serverTable(result, job, op),
    },
    {
      name: "flame-graph",
      title: "Flame graph",
      hides:
        "Where processor time went, over all jobs. Hides waiting: for a thread, a core, a lock, the network or a device.",
      suits: ({ controller, server }) => controller !== undefined || server !== undefined,
      draw: ({ result }, width) => flameGraph(result, { width }),
      describe: describeFlames,
      table: ({ result }) => functionTable(result),
    },
  ];
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
