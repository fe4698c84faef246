/** Charts of copies. */
import { type Result } from "../../engine/api.ts";
import { copiesOf, copyTimeline, describeCopies } from "../copyTimeline.ts";
import { formatBytes, formatNanos, groupThousands } from "../../base/format.ts";
import { resultTable } from "../resultTable.ts";
import { type Chart } from "../chart.ts";

export function copyCharts(): readonly Chart[] {
  return [
    {
      name: "copy-timeline",
      title: "Copies side by side",
      hides:
        "Each copy from its own start, though they ran one after the other. Within a request the phases are stacked: which came first is not kept.",
      suits: () => false, // a case names it
      draw: ({ result }, width) => copyTimeline(result, { width }),
      describe: describeCopies,
      table: ({ result }) => copyTable(result),
    },
  ];
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
