/** What a chart is, whichever family it belongs to. */
import { type CaseDocument, type Result } from "../engine/api.ts";

export interface Shown {
  readonly result: Result;
  readonly reference: { readonly result: Result; readonly label: string } | undefined;
  /** The request on the stage. */
  readonly request: number;
}

export interface Chart {
  readonly name: string;
  readonly title: string;
  /** What this instrument does not show. */
  readonly hides: string;
  readonly draw: (shown: Shown, width: number) => Element;
  readonly table: (shown: Shown) => HTMLTableElement;
  /** The result in a sentence. */
  readonly describe?: (result: Result) => string;
  /** For a chart over time with the margins of all such charts: one moment in words. */
  readonly moment?: (result: Result, time_s: number) => string;
  /** Whether it follows the request on the stage. */
  readonly followsRequest?: boolean;
  /** Whether runs of such a scenario can show it, without the case naming it. */
  readonly suits: (scenario: CaseDocument["scenario"]) => boolean;
}

/** The request that a case's charts look at. */
export type Focus = CaseDocument["focus"];
