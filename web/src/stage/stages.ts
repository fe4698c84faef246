/**
 * The stage that a case names by its `view`: a moving scenery, one of the stages with handles, or the chart of that name.
 *
 * A page shows one or two of them, so each is a file of its own that {@link loadStages} fetches before a page is built.
 */
import type { CaseDocument } from "../engine/types.ts";
import { chartNamed } from "../charts/catalogue.ts";
import { histogramChart } from "../charts/histogram.ts";
import { chartStage } from "./chartStage.ts";
import { sceneStage } from "./sceneStage.ts";
import { lifeScenery } from "./scenery/life.ts";
import type { Scenery } from "./scenery/scenery.ts";
import type { Stage, StageOptions } from "./stage.ts";

type Make = (options: StageOptions) => Stage;

/** By the names that case files use. */
const sceneryFiles: ReadonlyMap<string, () => Promise<Scenery>> = new Map([
  ["bucket", async () => (await import("./scenery/bucket.ts")).bucketScenery],
  ["cores", async () => (await import("./scenery/cores.ts")).coresScenery],
  ["credits", async () => (await import("./scenery/credits.ts")).creditsScenery],
  ["platter", async () => (await import("./scenery/platter.ts")).platterScenery],
  ["wire", async () => (await import("./scenery/wire.ts")).wireScenery],
  ["log-pool", async () => (await import("./scenery/logPool.ts")).logPoolScenery],
  ["cache-wall", async () => (await import("./scenery/cacheWall.ts")).cacheWallScenery],
  ["squeeze", async () => (await import("./scenery/squeeze.ts")).squeezeScenery],
  ["fan-out", async () => (await import("./scenery/fanOut.ts")).fanOutScenery],
  ["shaken-disks", async () => (await import("./scenery/shakenDisks.ts")).shakenDisksScenery],
  ["slc", async () => (await import("./scenery/slc.ts")).slcScenery],
  ["group-commit", async () => (await import("./scenery/groupCommit.ts")).groupCommitScenery],
  ["battery", async () => (await import("./scenery/battery.ts")).batteryScenery],
  ["file-pages", async () => (await import("./scenery/filePages.ts")).filePagesScenery],
  ["write-back", async () => (await import("./scenery/writeBack.ts")).writeBackScenery],
  ["shingled", async () => (await import("./scenery/shingled.ts")).shingledScenery],
  ["incast", async () => (await import("./scenery/incast.ts")).incastScenery],
]);

const stageFiles: ReadonlyMap<string, () => Promise<Make>> = new Map([
  ["prefetch-strip", async () => (await import("./stripStage.ts")).stripStage],
  ["cluster-map", async () => (await import("./clusterStage.ts")).clusterStage],
  ["copysets", async () => (await import("./copysetStage.ts")).copysetStage],
  ["monitor", async () => (await import("./monitorStage.ts")).monitorStage],
  ["alignment", async () => (await import("./alignmentStage.ts")).alignmentStage],
]);

/** What has been fetched. Every page has the life of a request. */
const sceneries = new Map<string, Scenery>([[lifeScenery.name, lifeScenery]]);
const stages = new Map<string, Make>();

/** Fetches what these views need; a view that is a chart needs nothing. */
export async function loadStages(views: readonly string[]): Promise<void> {
  const load = async <Part>(view: string, files: ReadonlyMap<string, () => Promise<Part>>, into: Map<string, Part>) => {
    const file = files.get(view);
    if (file !== undefined && !into.has(view)) into.set(view, await file());
  };
  await Promise.all(views.flatMap((view) => [load(view, sceneryFiles, sceneries), load(view, stageFiles, stages)]));
}

/** A scenery that has been fetched. */
export function sceneryNamed(view: string): Scenery | undefined {
  return sceneries.get(view);
}

/** Whether a view is a stage of its own, and not a chart. */
export function isStage(view: string): boolean {
  return view === lifeScenery.name || sceneryFiles.has(view) || stageFiles.has(view);
}

/** @throws when a stage is asked for that was not fetched. */
export function stageOf(
  { focus, view }: Pick<CaseDocument, "focus"> & { readonly view: string },
  options: Omit<StageOptions, "focus"> = {},
): Stage {
  const scenery = sceneryNamed(view);
  if (scenery !== undefined) return sceneStage(scenery, { ...options, focus });
  const make = stages.get(view);
  if (make !== undefined) return make({ ...options, focus });
  if (isStage(view)) throw new Error(`the stage "${view}" has not been fetched`);
  return chartStage(chartNamed(view) ?? histogramChart, { ...options, focus });
}

/** What a stage is called on the button that shows it. */
export function titleOfStage(view: string): string {
  return sceneryNamed(view)?.title ?? chartNamed(view)?.title ?? ownTitles.get(view) ?? "The run";
}

const ownTitles: ReadonlyMap<string, string> = new Map([
  ["prefetch-strip", "Reads and prefetches"],
  ["copysets", "Nodes and outages"],
]);
