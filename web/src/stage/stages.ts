/** The stage that a case names by its `view`: a moving scenery, one of the stages with handles, or the chart of that name. */
import type { CaseDocument } from "../engine/types.ts";
import { chartNamed } from "../charts/catalogue.ts";
import { histogramChart } from "../charts/histogram.ts";
import { alignmentStage } from "./alignmentStage.ts";
import { chartStage } from "./chartStage.ts";
import { clusterStage } from "./clusterStage.ts";
import { copysetStage } from "./copysetStage.ts";
import { monitorStage } from "./monitorStage.ts";
import { sceneStage } from "./sceneStage.ts";
import { batteryScenery } from "./scenery/battery.ts";
import { bucketScenery } from "./scenery/bucket.ts";
import { cacheWallScenery } from "./scenery/cacheWall.ts";
import { coresScenery } from "./scenery/cores.ts";
import { creditsScenery } from "./scenery/credits.ts";
import { fanOutScenery } from "./scenery/fanOut.ts";
import { groupCommitScenery } from "./scenery/groupCommit.ts";
import { filePagesScenery } from "./scenery/filePages.ts";
import { incastScenery } from "./scenery/incast.ts";
import { lifeScenery } from "./scenery/life.ts";
import { logPoolScenery } from "./scenery/logPool.ts";
import { platterScenery } from "./scenery/platter.ts";
import type { Scenery } from "./scenery/scenery.ts";
import { shakenDisksScenery } from "./scenery/shakenDisks.ts";
import { shingledScenery } from "./scenery/shingled.ts";
import { slcScenery } from "./scenery/slc.ts";
import { squeezeScenery } from "./scenery/squeeze.ts";
import { wireScenery } from "./scenery/wire.ts";
import { writeBackScenery } from "./scenery/writeBack.ts";
import type { Stage, StageOptions } from "./stage.ts";
import { stripStage } from "./stripStage.ts";

/** All sceneries by the names that case files use. */
const sceneries: readonly Scenery[] = [
  lifeScenery,
  bucketScenery,
  coresScenery,
  creditsScenery,
  platterScenery,
  wireScenery,
  logPoolScenery,
  cacheWallScenery,
  squeezeScenery,
  fanOutScenery,
  shakenDisksScenery,
  slcScenery,
  groupCommitScenery,
  batteryScenery,
  filePagesScenery,
  writeBackScenery,
  shingledScenery,
  incastScenery,
];

const stages: ReadonlyMap<string, (options: StageOptions) => Stage> = new Map([
  ["prefetch-strip", stripStage],
  ["cluster-map", clusterStage],
  ["copysets", copysetStage],
  ["monitor", monitorStage],
  ["alignment", alignmentStage],
]);

export function sceneryNamed(view: string): Scenery | undefined {
  return sceneries.find(({ name }) => name === view);
}

/** Whether a view is a stage of its own, and not a chart. */
export function isStage(view: string): boolean {
  return stages.has(view) || sceneryNamed(view) !== undefined;
}

export function stageOf(
  { focus, view }: Pick<CaseDocument, "focus"> & { readonly view: string },
  options: Omit<StageOptions, "focus"> = {},
): Stage {
  const scenery = sceneryNamed(view);
  if (scenery !== undefined) return sceneStage(scenery, { ...options, focus });
  const make = stages.get(view);
  return make === undefined
    ? chartStage(chartNamed(view) ?? histogramChart, { ...options, focus })
    : make({ ...options, focus });
}

/** What a stage is called on the button that shows it. */
export function titleOfStage(view: string): string {
  return sceneryNamed(view)?.title ?? chartNamed(view)?.title ?? ownTitles.get(view) ?? "The run";
}

const ownTitles: ReadonlyMap<string, string> = new Map([
  ["prefetch-strip", "Reads and prefetches"],
  ["copysets", "Nodes and outages"],
]);
