/**
 * The stage that a case names by its `view`: a moving scene, one of the stages with handles, or the chart of that name.
 *
 * A page shows one or two of them, so each is a file of its own that {@link loadStages} fetches before a page is built.
 */
import type { CaseDocument } from "../engine/types.ts";
import { loadCharts, loadedCharts } from "../charts/loadCharts.ts";
import { loadPlot } from "../charts/plot.ts";
import { chartStage } from "./chartStage.ts";
import { sceneStage } from "./sceneStage.ts";
import { lifeScene } from "./scenes/life.ts";
import type { Scene } from "./scenes/scene.ts";
import type { Stage, StageOptions } from "./stage.ts";

type Make = (options: StageOptions) => Stage;

/** By the names that case files use. */
const sceneFiles: ReadonlyMap<string, () => Promise<Scene>> = new Map([
  ["bucket", async () => (await import("./scenes/bucket.ts")).bucketScene],
  ["cores", async () => (await import("./scenes/cores.ts")).coresScene],
  ["credits", async () => (await import("./scenes/credits.ts")).creditsScene],
  ["platter", async () => (await import("./scenes/platter.ts")).platterScene],
  ["wire", async () => (await import("./scenes/wire.ts")).wireScene],
  ["log-pool", async () => (await import("./scenes/logPool.ts")).logPoolScene],
  ["cache-wall", async () => (await import("./scenes/cacheWall.ts")).cacheWallScene],
  ["squeeze", async () => (await import("./scenes/squeeze.ts")).squeezeScene],
  ["fan-out", async () => (await import("./scenes/fanOut.ts")).fanOutScene],
  ["shaken-disks", async () => (await import("./scenes/shakenDisks.ts")).shakenDisksScene],
  ["slc", async () => (await import("./scenes/slc.ts")).slcScene],
  ["group-commit", async () => (await import("./scenes/groupCommit.ts")).groupCommitScene],
  ["battery", async () => (await import("./scenes/battery.ts")).batteryScene],
  ["file-pages", async () => (await import("./scenes/filePages.ts")).filePagesScene],
  ["write-back", async () => (await import("./scenes/writeBack.ts")).writeBackScene],
  ["shingled", async () => (await import("./scenes/shingled.ts")).shingledScene],
  ["incast", async () => (await import("./scenes/incast.ts")).incastScene],
  ["write-rate", async () => (await import("./scenes/fence.ts")).fenceScene],
]);

const stageFiles: ReadonlyMap<string, () => Promise<Make>> = new Map([
  ["prefetch-strip", async () => (await import("./stripStage.ts")).stripStage],
  ["cluster-map", async () => (await import("./clusterStage.ts")).clusterStage],
  ["copysets", async () => (await import("./copysetStage.ts")).copysetStage],
  ["monitor", async () => (await import("./monitorStage.ts")).monitorStage],
  ["alignment", async () => (await import("./alignmentStage.ts")).alignmentStage],
]);

/** Names of charts that a scene draws where a case leads with them. */
const inPlaceOfCharts: ReadonlySet<string> = new Set(["write-rate"]);

/** Loaded scenes. Every page has the life of a request. */
const scenes = new Map<string, Scene>([[lifeScene.name, lifeScene]]);
const stages = new Map<string, Make>();

/** Fetches what these views need; a view that is a chart needs nothing. */
export async function loadStages(views: readonly string[]): Promise<void> {
  const load = async <Part>(view: string, files: ReadonlyMap<string, () => Promise<Part>>, into: Map<string, Part>) => {
    const file = files.get(view);
    if (file !== undefined && !into.has(view)) into.set(view, await file());
  };
  await Promise.all(views.flatMap((view) => [load(view, sceneFiles, scenes), load(view, stageFiles, stages)]));
}

/** A scene that has been fetched. */
export function sceneNamed(view: string): Scene | undefined {
  return scenes.get(view);
}

/** Whether a view is a stage of its own, and not a chart. */
export function isStage(view: string): boolean {
  return view === lifeScene.name || sceneFiles.has(view) || stageFiles.has(view);
}

/** Whether a view is a stage that may stand beside that of a case. A scene in place of a chart is that only where a case leads with it. */
export function isStageBeside(view: string): boolean {
  return isStage(view) && !inPlaceOfCharts.has(view);
}

/** Fetches what draws the stage of this name, if it is a chart or has one in it: then it is at once as large as it stays. */
export async function loadChartOf(view: string): Promise<void> {
  const isChart = !isStage(view);
  const hasChart = isChart || view === "monitor" || view === "alignment";
  await Promise.all([isChart ? loadCharts() : undefined, hasChart ? loadPlot() : undefined]);
}

/** @throws when a stage or a chart is asked for that was not fetched. */
export function stageOf(
  { focus, view }: Pick<CaseDocument, "focus"> & { readonly view: string },
  options: Omit<StageOptions, "focus"> = {},
): Stage {
  const scene = sceneNamed(view);
  if (scene !== undefined) return sceneStage(scene, { ...options, focus });
  const make = stages.get(view);
  if (make !== undefined) return make({ ...options, focus });
  const chart = isStage(view) ? undefined : loadedCharts()?.chartOrHistogram(view);
  if (chart === undefined) throw new Error(`the stage "${view}" is not loaded`);
  return chartStage(chart, { ...options, focus });
}

/** Return the label of a stage on its button. */
export function titleOfStage(view: string): string {
  return sceneNamed(view)?.title ?? loadedCharts()?.chartNamed(view)?.title ?? ownTitles.get(view) ?? "The run";
}

const ownTitles: ReadonlyMap<string, string> = new Map([
  ["prefetch-strip", "Reads and prefetches"],
  ["copysets", "Nodes and outages"],
]);
