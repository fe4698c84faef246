/** Charts of a cluster's nodes. */
import { type Result } from "../../engine/api.ts";
import { clusterMap } from "../clusterMap.ts";
import { momentOf } from "../rows/clusterTables.ts";
import { groupThousands } from "../../base/format.ts";
import { resultTable } from "../resultTable.ts";
import { type Chart, type Focus } from "../chart.ts";

/** The map, which is a stage of its own. */
export const clusterView = "cluster-map";

export function clusterCharts({ job }: Focus): readonly Chart[] {
  return [
    {
      name: clusterView,
      title: "Cluster map",
      hides: "What each node holds at the end of the run, and what went between them last. Hides which block is where.",
      suits: ({ cluster }) => cluster !== undefined,
      draw: ({ result }, width) =>
        clusterMap(result, { job, width, time_s: result.summary.simulated_ns / 1e9 }).element,
      table: ({ result }) => nodeTable(result, job),
    },
  ];
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
