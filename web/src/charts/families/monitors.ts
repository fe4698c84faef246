/** Charts of what monitors, partitions and reduction make of a run. */
import { alignment, alignmentTable, describeAlignment } from "../alignment.ts";
import { describeMonitor, monitor, monitorTable } from "../monitor.ts";
import { describeReduction, reduction, reductionTable } from "../reduction.ts";
import { type Chart, type Focus } from "../chart.ts";

export function monitorCharts({ job }: Focus): readonly Chart[] {
  return [
    {
      name: "monitor",
      title: "Monitor",
      hides: "Rate by time, latency by request. Hides how long the requests came and how long there were none.",
      suits: ({ monitor: spec }) => spec !== undefined,
      draw: ({ result }, width) => monitor(result, width),
      describe: describeMonitor,
      table: ({ result }) => monitorTable(result),
    },
    {
      name: "alignment",
      title: "Alignment",
      hides: "One write, at the start of the file, and the mean of all. Hides how much a single write differs from it.",
      suits: ({ partition }) => partition !== undefined,
      draw: ({ result }, width) => alignment(result, { job, width }),
      describe: (result) => describeAlignment(result, job),
      table: ({ result }) => alignmentTable(result, job),
    },
    {
      name: "reduction",
      title: "Reduction",
      hides:
        "Bytes of the first buffers, step by step. Hides which mechanism a later step would have found if it came first.",
      suits: ({ reduction }) => reduction !== undefined,
      draw: ({ result }, width) => reduction(result, width),
      describe: describeReduction,
      table: ({ result }) => reductionTable(result),
    },
  ];
}
