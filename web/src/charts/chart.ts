/** A chart: data about it, and pure functions from a run to a picture, a table and sentences. */
import type { Result } from "../engine/api.ts";
import type { CaseDocument } from "../engine/types.ts";

/** The requests that a case is about: those of one job, in one direction. */
export type Focus = CaseDocument["focus"];

/** The data that a chart draws. */
export interface Shown {
  readonly result: Result;
  /** Another run to compare with. */
  readonly reference?: { readonly result: Result; readonly label: string } | undefined;
  readonly focus: Focus;
  /** The request on the stage. */
  readonly request: number;
}

export interface Chart {
  /** The name by which a case file asks for it. */
  readonly name: string;
  readonly title: string;
  /** What the chart shows, and what it hides. */
  readonly hides: string | ((focus: Focus) => string);
  readonly draw: (shown: Shown, width: number) => Element;
  readonly table: (shown: Shown) => HTMLTableElement;
  /** The result in a sentence. */
  readonly describe?: (result: Result, focus: Focus) => string;
  /** For a chart over time with the margins of all such charts: one moment in words. */
  readonly moment?: (result: Result, time_s: number) => string;
  /** Where its axis of time ends, in seconds, if not with the run. */
  readonly end_s?: (result: Result) => number;
  /** Whether it follows the request on the stage. */
  readonly followsRequest?: boolean;
  /** Whether it is offered for such a scenario when the case does not name it. */
  readonly suits: (scenario: CaseDocument["scenario"]) => boolean;
}
