/** All charts by the names that case files use. The stage, the evidence and the notebook's widget choose from this one list. */
import type { CaseDocument } from "../engine/types.ts";
import type { Chart } from "./chart.ts";
import { alignmentChart } from "./alignment.ts";
import { analyticsChart } from "./analytics.ts";
import { clientChart } from "./clientLimits.ts";
import { clusterMapChart } from "./clusterMap.ts";
import { copyTimelineChart } from "./copyTimeline.ts";
import { dirtyChart } from "./dirty.ts";
import { flameGraphChart } from "./flameGraph.ts";
import { groupsChart } from "./groups.ts";
import { heatmapChart } from "./heatmap.ts";
import { histogramChart } from "./histogram.ts";
import { latencyChart } from "./latency.ts";
import { lifetimesChart } from "./lifetimes.ts";
import { logDevicesChart } from "./logDevices.ts";
import { monitorChart } from "./monitor.ts";
import { reductionChart } from "./reduction.ts";
import { shardMapChart } from "./shardMap.ts";
import { warmthChart } from "./warmth.ts";
import { writeRateChart } from "./writeRate.ts";

/** In the order in which they are offered. */
export const charts: readonly Chart[] = [
  dirtyChart,
  groupsChart,
  writeRateChart,
  logDevicesChart,
  clientChart,
  analyticsChart,
  warmthChart,
  clusterMapChart,
  shardMapChart,
  flameGraphChart,
  copyTimelineChart,
  monitorChart,
  alignmentChart,
  reductionChart,
  lifetimesChart,
  histogramChart,
  heatmapChart,
  latencyChart,
];

export function chartNamed(name: string): Chart | undefined {
  return charts.find((chart) => chart.name === name);
}

/** Return the chart of a name, or else the histogram. */
export function chartOrHistogram(name: string): Chart {
  return chartNamed(name) ?? histogramChart;
}

/** Whether a case offers this chart beside its stage: what it names, and what any run of it can show. */
export function isOffered(
  chart: Chart,
  doc: Pick<CaseDocument, "scenario"> & { readonly view: string; readonly views: readonly string[] },
): boolean {
  if (chart.name === doc.view) return false;
  return doc.views.includes(chart.name) || chart.suits(doc.scenario);
}
