/**
 * A scene draws one run at one point in time: static parts as SVG, moving parts on a canvas. It does not own the clock.
 */
import type { Result } from "../../engine/api.ts";
import type { Journeys } from "../../engine/journeys.ts";
import type { Focus } from "../../charts/chart.ts";
import type { Meaning } from "../../base/colours.ts";
import type { Box } from "../kit/picture.ts";

/** The data that is drawn. */
export interface SceneInput {
  readonly result: Result;
  readonly journeys: Journeys;
  readonly focus: Focus;
  readonly width: number;
  /** The run that is played beside this one: both have the same scales. */
  readonly other?: Result | undefined;
}

/** The runs whose scales are the same. */
export function pairOf({ result, other }: Pick<SceneInput, "result" | "other">): readonly Result[] {
  return other === undefined ? [result] : [result, other];
}

/** The end of the longer run of a pair, in seconds. */
export function endOfPair(input: Pick<SceneInput, "result" | "other">): number {
  return Math.max(...pairOf(input).map(({ summary }) => summary.simulated_ns)) / 1e9;
}

/** One frame on the canvas. */
export interface Frame {
  readonly context: CanvasRenderingContext2D;
  readonly time_ns: number;
  /** Simulated seconds for each second of the reader. */
  readonly speed: number;
  /** Share of the way to its place that an actor moves in this frame; 1 puts it there. */
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
  /** Static parts: an SVG of that width and height. */
  readonly backdrop: SVGSVGElement;
  /** Meanings that the picture uses, with their words. */
  readonly key: readonly (readonly [Meaning, string])[];
  /**
   * Simulated time that should take about a second when played, in nanoseconds. Default: a fifteenth of a run, or the
   * median request.
   */
  readonly pace_ns?: number;
  /** Parts of the picture by name, for a step of the explanation that points at them. */
  readonly places?: Readonly<Record<string, Box>>;
  /** Explanation that the key cannot give. */
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
  /** Whether nothing moves between the events of its journeys: then the clock races from one to the next. */
  readonly isStillBetweenEvents?: boolean;
  build(input: SceneInput): Built;
  /** Targets of a step, if they are not requests: times in nanoseconds. */
  stops?(input: SceneInput): readonly number[];
  /** Whether a run can be shown. */
  suits(result: Result): boolean;
}
