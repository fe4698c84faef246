/** The stage that a case names by its `view`: one of these, or the chart of that name. */
import type { CaseDocument } from "../engine/types.ts";
import { chartNamed } from "../charts/catalogue.ts";
import { histogramChart } from "../charts/histogram.ts";
import { alignmentStage } from "./alignmentStage.ts";
import { chartStage } from "./chartStage.ts";
import { clusterStage } from "./clusterStage.ts";
import { monitorStage } from "./monitorStage.ts";
import type { Stage, StageOptions } from "./stage.ts";
import { stripStage } from "./stripStage.ts";

const stages: ReadonlyMap<string, (options: StageOptions) => Stage> = new Map([
  ["prefetch-strip", stripStage],
  ["cluster-map", clusterStage],
  ["monitor", monitorStage],
  ["alignment", alignmentStage],
]);

export function stageOf(
  { focus, view }: Pick<CaseDocument, "focus"> & { readonly view: string },
  options: Omit<StageOptions, "focus"> = {},
): Stage {
  const make = stages.get(view);
  return make === undefined
    ? chartStage(chartNamed(view) ?? histogramChart, { ...options, focus })
    : make({ ...options, focus });
}
