/**
 * The state of a case's page besides its run: the open tab, the contents of its link, the comparison run and the run
 * that is played next to it. The controller has the run itself. No DOM access.
 */
import type { Result } from "../../engine/api.ts";
import type { CaseDocument } from "../../engine/types.ts";
import { fillSentence, withoutCovered } from "../../base/format.ts";
import type { Prediction } from "../../lab/prediction.ts";
import { documentedState, type RunState } from "../../lab/runController.ts";
import type { Beside } from "../../stage/stage.ts";
import type { PageState } from "../shared/runLink.ts";

/** A run that is shown, and the one that it is compared with. */
export interface Shown {
  readonly run: Result | undefined;
  readonly reference: Result | undefined;
  readonly state: RunState;
}

/** Where a link leads: to a state of this case, or to another case. */
export type Destination =
  { readonly kind: "here"; readonly state: RunState } | { readonly kind: "case"; readonly id: string };

export interface CaseStateOptions {
  readonly document: CaseDocument;
  readonly prediction: Pick<Prediction, "isOpen" | "coveredIn">;
  /** The state in the address that the page was opened with. */
  readonly start: PageState;
}

/** The title of a run with other values than its variant's. */
export const ownTitle = "With your values";

export class CaseState {
  readonly #options: CaseStateOptions;
  #ui: PageState["ui"];

  constructor(options: CaseStateOptions) {
    this.#options = options;
    this.#ui = options.start.ui;
  }

  /** The tab of the evidence: the reader's, else the first of the case's views that is not on the stage. */
  get tab(): string {
    const { views, view } = this.#options.document;
    return this.#ui.tab ?? views.find((name) => name !== view) ?? "";
  }

  openTab(tab: string): void {
    this.#ui = { ...this.#ui, tab };
  }

  titleOf(variant: string): string {
    return this.#options.document.variants.find(({ name }) => name === variant)?.title ?? variant;
  }

  summaryOf(variant: string): string {
    return this.#options.document.variants.find(({ name }) => name === variant)?.summary ?? "";
  }

  /** The state that the page begins with, as its run takes it. */
  get begin(): RunState {
    const { variant, set, seed } = this.#options.start;
    return { variant: variant ?? this.#options.document.default_variant, set, seed };
  }

  /** Return the state for the address. */
  pageState(run: RunState): PageState {
    return { case: this.#options.document.id, ...run, ui: this.#ui };
  }

  /** Takes what a link holds; without one, the page is as it was opened. */
  restore(linked: PageState | undefined): Destination {
    const { document, start } = this.#options;
    const { case: id = document.id, variant, set, seed, ui } = linked ?? { ...start, case: document.id };
    if (id !== document.id) return { kind: "case", id };
    this.#ui = ui;
    const named = variant === undefined ? {} : { variant };
    return { kind: "here", state: { ...documentedState(document), ...named, set, seed } };
  }

  /** The run to compare with, where it is another than the one that is shown. */
  comparedWith({ run, reference }: Pick<Shown, "run" | "reference">): { result: Result; label: string } | undefined {
    if (run === undefined || reference === undefined) return undefined;
    if (run.summary.fingerprint === reference.summary.fingerprint) return undefined;
    return { result: reference, label: this.titleOf(this.#options.document.default_variant) };
  }

  /**
   * Return the run that can be played next to the current one: the case as documented, once the question is answered,
   * if they differ.
   */
  besideOf(shown: Shown): Beside | undefined {
    const other = this.comparedWith(shown);
    if (other === undefined || this.#options.prediction.isOpen) return undefined;
    const { variant, set } = shown.state;
    return { ...other, own: Object.keys(set).length > 0 ? ownTitle : this.titleOf(variant) };
  }

  /** The result in a sentence, to be heard. */
  spoken(run: RunState, { summary }: Result): string {
    const { document, prediction } = this.#options;
    const told = withoutCovered(document.sentence, prediction.coveredIn(run));
    return `${this.titleOf(run.variant)}: ${fillSentence(told, summary.metrics)}`;
  }
}
