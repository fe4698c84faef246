/**
 * The charts of a run by the names that case files use. The stage, the evidence tabs and the notebook's widget choose from
 * this one list; each family registers its own in `charts/`.
 */
import type { CaseDocument } from "../engine/api.ts";
import type { Chart } from "./chart.ts";
import { analyticsCharts } from "./families/analytics.ts";
import { clientCharts } from "./families/client.ts";
import { clusterCharts } from "./families/cluster.ts";
import { controllerCharts } from "./families/controller.ts";
import { copyCharts } from "./families/copies.ts";
import { monitorCharts } from "./families/monitors.ts";
import { readingCharts } from "./families/reading.ts";
import { requestCharts } from "./families/requests.ts";
import { writePathCharts } from "./families/writePath.ts";

export type { Chart, Shown } from "./chart.ts";
export { clusterView } from "./families/cluster.ts";
export { hasOperations, keepsLog } from "./families/requests.ts";

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
