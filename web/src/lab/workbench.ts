/**
 * What a run is worked with, on the page and in the notebook: variants, the sentence, the stage, the controls. It keeps all of
 * them in step with one {@link RunController}; where they stand is its owner's business.
 */
import type { AskEngine } from "../engine/api.ts";
import type { CaseDocument, Changes, Control } from "../engine/types.ts";
import { html } from "../base/elements.ts";
import type { Stage } from "../stage/stage.ts";
import { stageOf } from "../stage/stages.ts";
import { controls, type Controls } from "./controls.ts";
import {
  type Finished,
  RunController,
  type RunControllerOptions,
  type RunListeners,
  type RunState,
} from "./runController.ts";
import { segmented } from "./segmented.ts";
import { sentenceNodes } from "./sentence.ts";

export interface WorkbenchOptions<Run extends Finished> extends Omit<RunControllerOptions<Run>, "document"> {
  readonly document: CaseDocument;
  readonly ask: AskEngine;
  /** Tells one workbench from others in the same document. */
  readonly name: string;
  /** Whether the stage of the case is shown. */
  readonly hasStage: boolean;
  /** Which controls are shown; all of the case when absent. */
  readonly shows?: (control: Control) => boolean;
  /** The controls have been built for another state. */
  readonly onControls?: (list: readonly Control[]) => void;
  /** The moment on the stage has come to rest. */
  readonly onRest?: () => void;
}

export interface Workbench<Run extends Finished> {
  readonly controller: RunController<Run>;
  readonly variants: HTMLElement;
  readonly sentence: HTMLElement;
  readonly stage: Stage | undefined;
  readonly controls: HTMLElement;
  close(): void;
}

export function workbench<Run extends Finished>(options: WorkbenchOptions<Run>): Workbench<Run> {
  const { document: doc, ask, listeners } = options;
  const sentence = html("p", { class: "sentence" });
  const controlsPlace = html("div", { class: "controls-place" });
  const stage = options.hasStage
    ? stageOf(doc, { ask, ...(options.onRest === undefined ? {} : { onRest: options.onRest }) })
    : undefined;
  let fields: Controls | undefined;
  let building = 0;

  const followed: RunListeners<Run> = {
    ...listeners,
    onResult(run, news) {
      sentence.replaceChildren(...sentenceNodes(doc.sentence, run.result.summary.metrics));
      stage?.show(run.result, controller.reference);
      listeners.onResult(run, news);
    },
    onReference(run) {
      stage?.show(run.result, controller.reference);
      listeners.onReference?.(run);
    },
    onState(state, change) {
      variants.select(state.variant);
      if (change === "replaced") buildControls(state);
      listeners.onState(state, change);
    },
  };
  const controller = new RunController<Run>({ ...options, listeners: followed });
  const variants = segmented({
    legend: "Variant",
    name: options.name,
    value: controller.state.variant,
    choices: doc.variants.map(({ name, title, summary }) => ({ value: name, title, help: summary })),
    onChange: (variant) => controller.choose(variant),
  });

  /** Changes that come from the stage move the controls as well. */
  function setFromStage(values: Changes, isSettled: boolean): void {
    for (const [path, value] of Object.entries(values)) fields?.set(path, value);
    controller.setValues(values, isSettled);
  }

  function buildControls({ variant, set }: RunState): void {
    const mine = ++building;
    ask("control", { case: doc.id, variant, set })
      .then((all) => {
        if (mine === building) place(options.shows === undefined ? all : all.filter(options.shows));
      })
      .catch((error: unknown) => {
        if (mine === building) listeners.onError(error);
      });
  }

  function place(list: readonly Control[]): void {
    fields = controls({
      controls: list,
      onInput: (path, value) => controller.setValues({ [path]: value }, false),
      onChange(path, value) {
        // The value as the slider gives it, not as the hand left it.
        fields?.set(path, value);
        controller.setValues({ [path]: value }, true);
      },
    });
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
    close() {
      building += 1;
      controller.close();
      stage?.dispose();
    },
  };
}
