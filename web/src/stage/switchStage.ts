/**
 * The stages of a case, one at a time: the one that shows its mechanism, and the life of its requests. The current stage
 * determines which journeys the engine records.
 */
import type { Result } from "../engine/api.ts";
import type { CaseDocument, Value } from "../engine/types.ts";
import { html } from "../base/elements.ts";
import { segmented } from "../base/segmented.ts";
import { clientsEndOf } from "../charts/rows/writePath.ts";
import { lifeScene } from "./scenes/life.ts";
import type { Beside, Fields, Stage, StageOptions } from "./stage.ts";
import { isStageBeside, sceneNamed, stageOf, titleOfStage } from "./stages.ts";

/** So many requests fill a window that can be followed. */
const fewRequests = 400;
/** Most stays of one run: enough for two thousand actors at a time, little enough to cross to the page within milliseconds. */
const mostStays = 40_000;

/** By this share of the time of all clients, few requests are still to begin. */
const stillUnderWay = 0.98;

export interface SwitchStage extends Omit<Stage, "show" | "playSpan"> {
  playSpan(from_ns: number, to_ns: number, look?: readonly string[], at_ns?: number): void;
  /** The stage that shows the run, and its name. */
  readonly current: Stage;
  readonly view: string;
  /** The journeys that the engine records for the current stage; undefined if it plays none. */
  readonly journeys: Value | undefined;
  /** Whether the stage that is shown can play a second run beside the first. */
  readonly canPlayBeside: boolean;
}

export interface SwitchStageOptions extends Omit<StageOptions, "focus"> {
  /** Tells one choice of stages from others in the same document. */
  readonly name: string;
  /** Whether a view would answer the open question. */
  readonly isCovered?: ((view: string) => boolean) | undefined;
  /** The run that is shown. */
  readonly run: () => Result | undefined;
  /** Called when the reader chooses another stage; `needsRun` is true if it needs a run with other journeys. */
  readonly onSwitch: (needsRun: boolean) => void;
}

export function switchStage(
  doc: Pick<CaseDocument, "focus" | "view" | "views" | "journeys">,
  options: SwitchStageOptions,
): SwitchStage {
  const isCovered = (name: string) => options.isCovered?.(name) === true;
  const views = [...new Set<string>([doc.view, ...doc.views.filter(isStageBeside), lifeScene.name])];
  const made = new Map<string, Stage>();
  const place = html("div", { class: "stage-place" });
  const words = html("div");
  // Do not open the page with a hidden view.
  let view = views.find((name) => !isCovered(name)) ?? lifeScene.name;
  let fields: Fields | undefined;
  let beside: Beside | undefined;
  let looked_ns = 0;

  function stage(): Stage {
    let found = made.get(view);
    if (found === undefined) {
      found = stageOf({ focus: doc.focus, view }, options);
      if (fields !== undefined) found.setFields(fields);
      made.set(view, found);
    }
    return found;
  }

  const choice = segmented({
    legend: "Picture",
    name: `${options.name}-stage`,
    value: view,
    choices: views.map((name) => ({ value: name, title: titleOfStage(name) })),
    onChange(next) {
      if (isCovered(next)) {
        place.replaceChildren(
          html("p", { class: "empty" }, "Hidden until you predict: this picture contains the answer."),
        );
        words.replaceChildren();
        return;
      }
      // The requests that are looked at are those of the moment that was looked at, unless all are done by then.
      if (next === lifeScene.name) {
        const { moment_ns } = stage();
        const run = options.run();
        const isOver = run !== undefined && moment_ns >= clientsEndOf(run) * 1e9 * stillUnderWay;
        looked_ns = isOver ? 0 : moment_ns;
      }
      const before = recorded();
      view = next;
      const current = stage();
      place.replaceChildren(current.element);
      words.replaceChildren(current.foot);
      const isScene = current.element.dataset.scene !== undefined;
      options.onSwitch(isScene && JSON.stringify(recorded()) !== JSON.stringify(before));
    },
  });
  choice.element.classList.add("stages");
  place.append(stage().element);
  words.append(stage().foot);
  const foot = html("div", { class: "stage-words" }, words, ...(views.length > 1 ? [choice.element] : []));

  function recorded(): Value | undefined {
    const scene = sceneNamed(view);
    if (scene === undefined) return undefined;
    if (scene.isFlow === true) return undefined;
    const asked = doc.journeys;
    if (scene.playsRun) return { stays: mostStays };
    const own = sceneNamed(doc.view);
    // If the case's own stage follows no request, its setting is for this stage: a request that started long before.
    const isMeantHere = asked !== undefined && own?.isFlow === true;
    if (looked_ns > 0 && !isMeantHere && own?.playsRun !== false) {
      return { from: Math.round(looked_ns), requests: fewRequests, stays: mostStays };
    }
    return { requests: fewRequests, stays: mostStays, ...asked };
  }

  return {
    element: place,
    foot,
    get current() {
      return stage();
    },
    get view() {
      return view;
    },
    get journeys() {
      return recorded();
    },
    get canPlayBeside() {
      return stage().beside !== undefined;
    },
    beside(other) {
      beside = other;
      stage().beside?.(beside);
    },
    playSpan: (from_ns, to_ns, look, at_ns) => stage().playSpan?.(from_ns, to_ns, look, at_ns),
    autoplay: () => stage().autoplay(),
    replay: () => stage().replay(),
    setFields(next) {
      fields = next;
      for (const each of made.values()) each.setFields(next);
    },
    get request() {
      return stage().request;
    },
    get moment_ns() {
      return stage().moment_ns;
    },
    dispose() {
      for (const each of made.values()) each.dispose();
    },
  };
}
