/**
 * The charts of a run by the names that case files use. The stage, the evidence tabs and the notebook's widget choose from
 * this one list; each family registers its own in `charts/`.
 */
import type { CaseDocument } from "../engine/api.ts";
import type { Chart } from "./charts/chart.ts";
import { analyticsCharts } from "./charts/analytics.ts";
import { clientCharts } from "./charts/client.ts";
import { clusterCharts } from "./charts/cluster.ts";
import { controllerCharts } from "./charts/controller.ts";
import { copyCharts } from "./charts/copies.ts";
import { monitorCharts } from "./charts/monitors.ts";
import { readingCharts } from "./charts/reading.ts";
import { requestCharts } from "./charts/requests.ts";
import { writePathCharts } from "./charts/writePath.ts";

export type { Chart, Shown } from "./charts/chart.ts";
export { clusterView } from "./charts/cluster.ts";
export { hasOperations, keepsLog } from "./charts/requests.ts";

/** The stage's own view, which is more than a chart. */
export const stripView = "prefetch-strip";

/** All charts, in the order in which they are offered. */
export function chartsOf({ focus }: Pick<CaseDocument, "focus">): readonly Chart[] {
  return [
    ...writePathCharts(),
    ...clientCharts(),
    ...analyticsCharts(),
    ...readingCharts(),
    ...clusterCharts(focus),
    ...controllerCharts(focus),
    ...copyCharts(),
    ...monitorCharts(focus),
    ...requestCharts(focus),
  ];
}

/** Whether a case offers this chart: what it names, and what any run of it can show. */
export function isOffered(chart: Chart, doc: Pick<CaseDocument, "view" | "views" | "scenario">): boolean {
  if (chart.name === doc.view) return false;
  return doc.views.includes(chart.name) || chart.suits(doc.scenario);
}
