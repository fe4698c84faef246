/**
 * The clip of a page: the part of the opening run that the first step is about, stored by the site's build. The page's first
 * picture plays it, drawn by the stage's own modules, until the engine has loaded and the live frame goes on from the same moment.
 */
import type { Focus } from "../../charts/chart.ts";
import { type PackedResult, unpack } from "../../engine/packed.ts";
import type { Span } from "../../stage/beats.ts";
import type { Stage } from "../../stage/stage.ts";
import { loadChartOf, loadStages, stageOf } from "../../stage/stages.ts";

/** A stored clip, as its file holds it. */
export interface Clip {
  readonly view: string;
  readonly focus: Focus;
  readonly span: Span;
  readonly look?: readonly string[];
  readonly run: PackedResult;
}

export interface PlayingClip {
  /** Stops the clip; returns the moment that it has come to, undefined if it never began. */
  stop(): number | undefined;
}

/** Plays the clip that the page names in the first picture of a section. */
export function playClip(section: Element): PlayingClip {
  let stage: Stage | undefined;
  let isStopped = false;

  async function begin(address: string): Promise<void> {
    const response = await fetch(address);
    if (!response.ok || response.body === null) throw new Error(`${address} is missing on this site`);
    const text = await new Response(response.body.pipeThrough(new DecompressionStream("gzip"))).text();
    const { view, focus, span, look, run } = JSON.parse(text) as Clip;
    await Promise.all([loadStages([view]), loadChartOf(view)]);
    const pictures = Array.from(section.querySelectorAll<HTMLElement>(".first-picture .stage"));
    const still = pictures.find(({ clientWidth }) => clientWidth > 0);
    if (isStopped || still === undefined) return;
    stage = stageOf({ focus, view });
    still.replaceWith(stage.element);
    stage.show(unpack(run));
    stage.playSpan?.(span.from_ns, span.to_ns, look);
  }

  const address = document.querySelector<HTMLMetaElement>("meta[name=clip]")?.content;
  // The still picture, which is there already, needs no motion.
  const isStill = address === undefined || matchMedia("(prefers-reduced-motion: reduce)").matches;
  // Without its clip the page shows the still picture until the engine has loaded.
  if (!isStill) begin(address).catch((error: unknown) => console.warn(error));
  return {
    stop() {
      isStopped = true;
      const moment_ns = stage?.moment_ns;
      stage?.dispose();
      return moment_ns;
    },
  };
}
