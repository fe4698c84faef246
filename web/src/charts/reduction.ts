/**
 * The effect of data reduction on a job's buffers: one bar for each step, as long as the bytes left. The share removed
 * by the step is next to its bar.
 */
import { fill, ink, stroke } from "../base/colours.ts";
import { html } from "../base/elements.ts";
import { formatBytes, formatNumber } from "../base/format.ts";
import type { Result } from "../engine/api.ts";
import type { Chart } from "./chart.ts";
import { draw, Plot } from "./plot.ts";
import { resultTable } from "./resultTable.ts";

interface Step {
  readonly name: string;
  readonly bytes: number;
  /** Share of the incoming bytes that the step removed. */
  readonly taken: number;
}

const steps = [
  { name: "written", metric: "reduction_in_bytes" },
  { name: "zeros removed", metric: "reduction_after_zeros_bytes" },
  { name: "duplicates removed", metric: "reduction_after_duplicates_bytes" },
  { name: "compressed", metric: "reduction_after_compression_bytes" },
] as const;

export function stepsOf(result: Result): readonly Step[] {
  const { metrics } = result.summary;
  if (!("reduction_in_bytes" in metrics)) return [];
  const bytes = steps.map(({ metric }) => metrics[metric] ?? 0);
  return steps.map(({ name }, at) => {
    const before = bytes[Math.max(0, at - 1)]!;
    return { name, bytes: bytes[at]!, taken: before === 0 ? 0 : 1 - bytes[at]! / before };
  });
}

export function describeReduction(result: Result): string {
  const list = stepsOf(result);
  if (list.length === 0) return "This run has no reduction.";
  return `${list.map(({ name, bytes }) => `${name}: ${formatBytes(bytes)}`).join("; ")}.`;
}

export function reductionTable(result: Result): HTMLTableElement {
  return resultTable({
    caption: "Bytes after each step",
    rows: stepsOf(result),
    columns: [
      { title: "step", value: ({ name }) => name },
      { title: "bytes left", value: ({ bytes }) => formatBytes(bytes) },
      {
        title: "of the written bytes, %",
        value: ({ bytes }) => formatNumber((100 * bytes) / (result.summary.metrics[steps[0].metric] ?? 1)),
      },
      { title: "removed by the step, %", value: ({ taken }) => formatNumber(100 * taken) },
    ],
  });
}

export function reduction(result: Result, width: number): Element {
  const list = stepsOf(result);
  if (list.length === 0) return html("p", { class: "empty" }, describeReduction(result));
  const most = list[0]!.bytes;
  const label = ({ bytes, taken }: Step) =>
    `${formatBytes(bytes)}${taken > 0 ? `, ${formatNumber(100 * taken)}% removed` : ""}`;
  const isLong = ({ bytes }: Step) => bytes > 0.55 * most;
  const words = { textAnchor: "start", dx: 8, fontWeight: 600, paintOrder: "stroke" } as const;
  return draw({
    width,
    height: 230,
    marginLeft: 112,
    marginRight: 24,
    marginTop: 8,
    marginBottom: 38,
    ariaLabel: `Bytes left after each step. ${describeReduction(result)}`,
    x: {
      domain: [0, most],
      label: "bytes left",
      labelArrow: "none",
      ticks: [0, most / 4, most / 2, (3 * most) / 4, most],
      tickFormat: (bytes: number) => formatBytes(bytes),
    },
    y: { domain: list.map(({ name }) => name), label: null, tickSize: 0 },
    marks: [
      Plot.barX(list, { x: () => most, y: "name", fill: fill("waiting"), fillOpacity: 0.35 }),
      Plot.barX(list, { x: "bytes", y: "name", fill: stroke("memory") }),
      // In the bar where it is long enough, else beside it.
      Plot.text(list.filter(isLong), { x: () => 0, y: "name", text: label, ...words, fill: "var(--paper)" }),
      Plot.text(
        list.filter((step) => !isLong(step)),
        { x: "bytes", y: "name", text: label, ...words, fill: ink("fixed"), stroke: "var(--paper)", strokeWidth: 4 },
      ),
    ],
  });
}

export const reductionChart: Chart = {
  name: "reduction",
  title: "Reduction",
  hides: "Bytes of the first buffers, step by step. Hides how much a later step would have removed if it came first.",
  suits: ({ reduction }) => reduction !== undefined,
  draw: ({ result }, width) => reduction(result, width),
  describe: describeReduction,
  table: ({ result }) => reductionTable(result),
};
