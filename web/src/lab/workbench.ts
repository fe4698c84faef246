/**
 * The parts of an interactive run, on the page and in the notebook: variants, sentence, stage and controls. It connects them
 * to one {@link RunController}; its owner places them.
 */
import type { AskEngine, Result } from "../engine/api.ts";
import type { CaseDocument, Changes, Control } from "../engine/types.ts";
import { html } from "../base/elements.ts";
import { revealingVariants } from "./measure.ts";
import type { Prediction } from "./prediction.ts";
import { runChoice } from "./runChoice.ts";
import { loadChartOf, loadStages } from "../stage/stages.ts";
import { type SwitchStage, switchStage } from "../stage/switchStage.ts";
import { controls, type Controls } from "./controls.ts";
import {
  type Finished,
  RunController,
  type RunControllerOptions,
  type RunListeners,
  type RunState,
} from "./runController.ts";
import { sentenceNodes } from "./sentence.ts";

export interface WorkbenchOptions<Run extends Finished> extends Omit<
  RunControllerOptions<Run>,
  "document" | "playedOn" | "prediction"
> {
  readonly document: CaseDocument;
  readonly ask: AskEngine;
  /** Tells one workbench from others in the same document. */
  readonly name: string;
  /** Whether the stage of the case is shown. */
  readonly hasStage: boolean;
  /** Filter of the shown controls. Default: all controls of the case. */
  readonly shows?: (control: Control) => boolean;
  /** The controls have been built for another state. */
  readonly onControls?: (list: readonly Control[]) => void;
  /** The moment on the stage has come to rest. */
  readonly onRest?: () => void;
  /** The question of the case; what would answer it is covered while it is open. */
  readonly prediction?: Pick<Prediction, "isOpenFor" | "isCovered" | "coveredIn">;
}

export interface Workbench<Run extends Finished> {
  readonly controller: RunController<Run>;
  readonly variants: HTMLElement;
  readonly sentence: HTMLElement;
  readonly stage: SwitchStage | undefined;
  readonly controls: HTMLElement;
  /** The question has been answered: nothing is covered any more. */
  uncover(): void;
  close(): void;
}

/** Fetches what a workbench of this case shows. */
export async function fetchFor({ view, views }: CaseDocument): Promise<void> {
  await Promise.all([loadStages([view, ...views]), loadChartOf(view)]);
}

export function workbench<Run extends Finished>(options: WorkbenchOptions<Run>): Workbench<Run> {
  const { document: doc, ask, listeners } = options;
  const sentence = html("p", { class: "sentence" });
  const controlsPlace = html("div", { class: "controls-place" });
  const stage: SwitchStage | undefined = options.hasStage
    ? switchStage(doc, {
        ask,
        name: options.name,
        isCovered: options.prediction?.isCovered,
        run: () => controller.run,
        onSwitch: (needsRun) => controller.playOn(playedOn()!, needsRun),
        ...(options.onRest === undefined ? {} : { onRest: options.onRest }),
      })
    : undefined;
  const playedOn = () => (stage === undefined ? undefined : { stage: stage.current, journeys: stage.journeys });
  let fields: Controls | undefined;
  let building = 0;

  const followed: RunListeners<Run> = {
    ...listeners,
    onResult(run, news) {
      tell(run, news.isPartial);
      listeners.onResult(run, news);
    },
    onState(state, change) {
      variants.select(state.variant);
      if (change === "replaced") buildControls(state);
      listeners.onState(state, change);
    },
  };
  const controller: RunController<Run> = new RunController<Run>({
    ...options,
    playedOn: playedOn(),
    listeners: followed,
  });
  const variants = runChoice({
    name: options.name,
    value: controller.state.variant,
    choices: doc.variants.map(({ name, title, summary }) => ({ value: name, title, help: summary })),
    first: [doc.default_variant, ...revealingVariants(doc)],
    onChange: (variant) => controller.choose(variant),
  });

  /** The result as a sentence, without what the open question asks. */
  function tell({ summary }: Result, isPartial: boolean): void {
    const isCovered = options.prediction?.coveredIn(controller.state);
    sentence.replaceChildren(...sentenceNodes(doc.sentence, summary.metrics, isCovered));
    sentence.classList.toggle("partial", isPartial);
  }

  /** Changes that come from the stage move the controls as well. */
  function setFromStage(values: Changes, isSettled: boolean): void {
    for (const [path, value] of Object.entries(values)) fields?.set(path, value);
    controller.setValues(values, isSettled);
  }

  function buildControls({ variant, set }: RunState): void {
    const mine = ++building;
    ask("control", { case: doc.id, variant, set })
      .then((all) => Promise.all(all.map(async (control) => ((await isTaken(control, variant, set)) ? [control] : []))))
      .then((lists) => {
        const all = lists.flat();
        if (mine === building) place(options.shows === undefined ? all : all.filter(options.shows));
      })
      .catch((error: unknown) => {
        if (mine === building) listeners.onError(error);
      });
  }

  /** Whether a variant takes a field that it leaves to its version: one that a version has no use for is refused. */
  async function isTaken({ path, value, min, max }: Control, variant: string, set: Changes): Promise<boolean> {
    if (value !== null || max == null) return true;
    const tried = Math.round(((min ?? 0) + max) / 2);
    return ask("scenario", { case: doc.id, variant, set: { ...set, [path]: tried } }).then(
      () => true,
      () => false,
    );
  }

  function place(list: readonly Control[]): void {
    fields = controls({ controls: list, target: controller });
    const focused = Array.from(controlsPlace.querySelectorAll("input, select")).findIndex((field) =>
      field.matches(":focus"),
    );
    controlsPlace.replaceChildren(fields.element);
    if (focused >= 0) controlsPlace.querySelectorAll<HTMLElement>("input, select")[focused]?.focus();
    stage?.setFields({
      control: (path) => list.find((control) => control.path === path),
      onInput: (values) => setFromStage(values, false),
      onChange: (values) => setFromStage(values, true),
    });
    options.onControls?.(list);
  }

  buildControls(controller.state);
  return {
    controller,
    variants: variants.element,
    sentence,
    stage,
    controls: controlsPlace,
    uncover() {
      const { run } = controller;
      if (run !== undefined) tell(run, false);
    },
    close() {
      building += 1;
      controller.close();
      stage?.dispose();
    },
  };
}
