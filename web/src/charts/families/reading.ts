/** Charts of a read side: what reads were served from, and what the caches hold. */
import { type Result } from "../../engine/api.ts";
import { formatBytes, formatNumber } from "../../base/format.ts";
import { resultTable } from "../resultTable.ts";
import { coarserWarmth, describeWarmth, describeWarmthAt, sources, warmth, warmthOf } from "../warmth.ts";
import { type Chart } from "../chart.ts";

export function readingCharts(): readonly Chart[] {
  return [
    {
      name: "warmth",
      title: "Warmth",
      hides:
        "All files and readers together, averaged over each interval. Hides which block came from where, and how long each read took.",
      suits: ({ zfs }) => zfs?.arc !== undefined,
      draw: ({ result }, width) => warmth(result, { width }),
      describe: describeWarmth,
      moment: describeWarmthAt,
      table: ({ result }) => warmthTable(result),
    },
  ];
}

const tableRows = 60;

function warmthTable(result: Result): HTMLTableElement {
  return resultTable({
    caption: "Bytes read by source, and bytes held, over time",
    rows: coarserWarmth(warmthOf(result), tableRows),
    columns: [
      { title: "from, s", value: (row) => formatNumber(row.from_s) },
      { title: "to, s", value: (row) => formatNumber(row.to_s) },
      ...sources.map(({ label }, source) => ({
        title: label,
        value: (row: ReturnType<typeof warmthOf>[number]) => formatBytes(row.read[source]!),
      })),
      { title: "read ahead", value: (row) => formatBytes(row.ahead) },
      { title: "thrown away", value: (row) => formatBytes(row.wasted) },
      { title: "in the ARC", value: (row) => formatBytes(row.arc) },
      { title: "on the device", value: (row) => formatBytes(row.l2) },
    ],
  });
}
