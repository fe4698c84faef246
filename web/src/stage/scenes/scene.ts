/** What a scene is: how a run looks at a moment. It stands in SVG and moves on a canvas; the clock is not its business. */
import type { Result } from "../../engine/api.ts";
import type { Journeys } from "../../engine/journeys.ts";
import type { Focus } from "../../charts/chart.ts";
import type { Meaning } from "../../base/colours.ts";

/** What is drawn. */
export interface SceneInput {
  readonly result: Result;
  readonly journeys: Journeys;
  readonly focus: Focus;
  readonly width: number;
}

/** One frame on the canvas. */
export interface Frame {
  readonly context: CanvasRenderingContext2D;
  readonly time_ns: number;
  /** Simulated seconds for each second of the reader. */
  readonly speed: number;
  /** What share of the way to its place an actor goes in this frame; 1 puts it there. */
  readonly ease: number;
  /** The row of the request that is followed; -1 for none. */
  readonly followed: number;
  /** The paint of a meaning, and of ink and paper, in the theme that is shown. */
  readonly paint: (meaning: Meaning | "ink" | "ink-soft" | "paper" | "rule") => string;
  /** Tells where an actor is drawn, so that it can be followed. */
  readonly actor: (row: number, x: number, y: number) => void;
}

/** A scene built for one run and one width. */
export interface Built {
  readonly height: number;
  /** What stands: an SVG of that width and height. */
  readonly backdrop: SVGSVGElement;
  /** Meanings that the picture uses, with their words. */
  readonly key: readonly (readonly [Meaning, string])[];
  /** What should take about a second when it is played, in nanoseconds of simulated time; when absent, a fifteenth of a run, or the median request. */
  readonly pace_ns?: number;
  /** What the key cannot say. */
  readonly note?: string;
  /** Draws what moves. Returns how many actors there are. */
  draw(frame: Frame): number;
  /** The moment in words. */
  describe(time_ns: number): string;
}

export interface Scene {
  readonly name: string;
  /** On a button. */
  readonly title: string;
  /** Whether it plays the whole run; else the window of the journeys. */
  readonly playsRun: boolean;
  /** Whether its actors stand for many requests each: none can be followed, and no journeys are recorded. */
  readonly isFlow?: boolean;
  build(input: SceneInput): Built;
  /** What a step goes to, where requests are not it: times in nanoseconds. */
  stops?(input: SceneInput): readonly number[];
  /** Whether a run can be shown. */
  suits(result: Result): boolean;
}
