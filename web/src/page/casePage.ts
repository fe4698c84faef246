/**
 * A case's page: one run, and everything that looks at it.
 *
 * State goes one way: the reader changes the state, the state asks for a run, the run's result is drawn. Whatever fails says
 * so in a sentence, and the page keeps the last result it had.
 */
import "../style/page.css";
import { EngineClient } from "../engine/client.ts";
import { Latest } from "../engine/latest.ts";
import type { CaseDocument, Changes, Result, RunRequest, Value } from "../engine/api.ts";
import { controls, type Controls } from "../lab/controls.ts";
import { fillSentence } from "../base/format.ts";
import {
  chunkField,
  chunkPath,
  fieldsOf,
  latencyAxisEnd,
  sentenceNodes,
  stageOf,
  targetField,
  targetPath,
} from "../stage/stage.ts";
import { html } from "../base/elements.ts";
import { carryOn } from "./carryOn.ts";
import { installTheme, registerServiceWorker, whenSeen } from "./document.ts";
import { documented } from "./documented.ts";
import { evidence } from "./evidence.ts";
import { decodeHash, defaultState, encodeHash, type PageState } from "./hash.ts";
import { inline, markdown } from "./markdown.ts";
import { mechanism } from "./mechanism.ts";
import { revealingVariant, take } from "../lab/measure.ts";
import { modelSection } from "./modelSection.ts";
import { addressOfCase } from "./navigation.ts";
import { notice } from "./notice.ts";
import { prediction } from "./prediction.ts";
import { progress } from "./progress.ts";
import { sweepPanel } from "./sweepPanel.ts";
import { segmented } from "../lab/segmented.ts";
import { warnings } from "./warnings.ts";
import { whatIfs } from "./whatIfs.ts";

const restMs = 60;
const restIntervalMs = 300;

installTheme();
const root = document.querySelector<HTMLElement>("#page")!;
const message = notice();
root.append(message.element);
void open();

async function open(): Promise<void> {
  const id = document.querySelector<HTMLMetaElement>("meta[name=case]")?.content ?? "";
  const engine = new EngineClient();
  const decoded = decodeHash(location.hash);
  let start = decoded.kind === "state" ? decoded.state : defaultState;
  try {
    if (start.case !== undefined && start.case !== id) {
      const found = addressOfCase(start.case, await engine.call("cases", {}), location.hash);
      if (found.kind === "page") {
        location.replace(found.href);
        return;
      }
      message.say(found.message);
      start = defaultState;
    }
    // All asked at once: the worker answers in turn while the page is built.
    const asked = engine.call("case", { id });
    const first = engine.run(requestOf(id, start)).catch((error: unknown) => error as Error);
    const doc = await asked;
    const page = build(engine, doc, start);
    const result = await first;
    if (result instanceof Error) page.refuse(result);
    else page.begin(result);
    if (decoded.kind === "problem") message.say(decoded.message);
  } catch (error) {
    message.fail(error);
  }
  registerServiceWorker();
}

function requestOf(id: string, state: PageState): RunRequest {
  return { case: id, variant: state.variant, set: state.set, seed: state.seed };
}

interface Page {
  /** Shows the first result. */
  begin(result: Result): void;
  /** The first run was refused: says so and starts from the case as it is. */
  refuse(error: Error): void;
}

function build(engine: EngineClient, doc: CaseDocument, start: PageState): Page {
  const { job } = doc.focus;
  const titleOf = (name: string) => doc.variants.find((variant) => variant.name === name)?.title ?? name;
  let state: PageState = { ...start, case: doc.id, variant: start.variant ?? doc.default_variant };
  let lastGood = state;
  let shown: Result | undefined;
  let reference: Result | undefined;
  let fields: Controls | undefined;

  const bar = progress(() => latest.cancel());
  const latest = new Latest<PageState, Result>({
    run: (wanted, signal) =>
      engine.run(requestOf(doc.id, wanted), { signal, onProgress: (share) => bar.update(share) }),
    onResult: (result, wanted) => {
      lastGood = wanted;
      message.clear();
      draw(result);
    },
    onError: (error) => {
      message.fail(error);
      // Back to what is drawn, so that controls and picture agree.
      state = lastGood;
      choice.select(state.variant!);
      void buildControls();
      writeHash();
    },
    onIdle: () => bar.end(),
  });

  // 1-2: the stage, with variants, sentence and controls around it.
  const choice = segmented({
    legend: "Variant",
    name: "variant",
    value: state.variant!,
    choices: doc.variants.map(({ name, title, summary }) => ({ value: name, title, help: summary })),
    onChange: (variant) => chooseVariant(variant),
  });
  const variantSummary = html("p", { class: "variant-summary" });
  const sentence = html("p", { class: "sentence" });
  const spoken = html("p", { class: "unseen", "aria-live": "polite" });
  const scene = stageOf(doc, {
    onRequest: () => showMoment(),
    onStart: (start) => engine.call("alignment", { start }),
  });
  const unusual = warnings();
  const controlsPlace = html("div", { class: "controls-place" });
  const reset = html(
    "button",
    { type: "button", class: "quiet reset", hidden: "" },
    "Back to the variant’s own values",
  );
  reset.addEventListener("click", () => change({ set: {} }, true));

  // 3-9.
  const instruments = evidence({
    engine,
    document: doc,
    current: state.ui.tab ?? doc.views.find((view) => view !== doc.view) ?? "",
    onTab: (tab) => {
      state = { ...state, ui: { ...state.ui, tab } };
      writeHash();
    },
  });
  const drawing = mechanism(engine, doc);
  const checked = documented(doc);
  const experiments = whatIfs(doc, (whatIf) => {
    choice.select(whatIf.variant);
    change({ variant: whatIf.variant, set: whatIf.set ?? {} }, true);
    variantSummary.replaceChildren(html("b", {}, whatIf.title), ". ", ...inline(whatIf.surprise));
    root.querySelector(".stage-section")?.scrollIntoView({ block: "start" });
  });
  const range = sweepPanel(doc, () => state);
  const onwards = carryOn({
    engine,
    document: doc,
    state: () => state,
    result: () => shown,
    link: () => new URL(encodeHash(state), location.href).href,
  });
  const about = modelSection(doc, (seed) => change({ seed }, true));

  const predictionPlace = html("div", { class: "prediction-place" });
  const revealing = revealingVariant(doc);
  const question = prediction({
    id: doc.id,
    ask: doc.ask,
    revealing:
      revealing === undefined
        ? undefined
        : {
            variant: revealing,
            title: titleOf(revealing),
            show: () => {
              choice.select(revealing);
              change({ variant: revealing, set: {} }, true);
            },
          },
    answer: () => take(engine, doc.id, doc.ask.measure),
  });
  predictionPlace.append(question.element);

  root.append(
    html(
      "section",
      { class: "stage-section", "aria-label": "The run" },
      html("div", { class: "stage-head" }, choice.element, bar.element),
      variantSummary,
      sentence,
      spoken,
      scene.element,
      html("div", { class: "controls-row" }, controlsPlace, reset),
      unusual.element,
    ),
    predictionPlace,
    instruments.element,
    html(
      "section",
      { class: "why", "aria-labelledby": "why-title" },
      html("h2", { id: "why-title" }, "Why"),
      html("div", { class: "two" }, html("div", { class: "prose" }, ...markdown(doc.why)), drawing.element),
    ),
    checked,
    experiments.element,
    range.element,
    onwards,
    about.element,
  );
  void buildControls();
  void engine.call("version", {}).then((version) => about.setVersion(version.engine));
  showVariant();

  function chooseVariant(variant: string): void {
    if (question.isOpenFor(variant)) {
      choice.select(state.variant!);
      question.insist();
      return;
    }
    change({ variant, set: {} }, true);
  }

  /** A change of the state; `isSettled` when the reader has let go. */
  function change(changes: Partial<PageState>, isSettled: boolean): void {
    const isOtherField = changes.variant !== undefined || changes.set !== undefined || changes.seed !== undefined;
    state = { ...state, ...changes };
    if (!latest.busy) bar.start();
    latest.request(state);
    experiments.forget(state);
    showVariant();
    if (isSettled && isOtherField) void buildControls();
    writeHash();
  }

  function setField(path: string, value: Value, isSettled: boolean): void {
    const set: Changes = { ...state.set, [path]: value };
    state = { ...state, set };
    if (!latest.busy) bar.start();
    latest.request(state);
    experiments.forget(state);
    reset.hidden = false;
    if (isSettled) {
      fields?.set(path, value);
      speak();
    }
    writeHash();
  }

  async function buildControls(): Promise<void> {
    try {
      const { variant, set } = state;
      const list = await engine.call("control", { case: doc.id, variant: variant!, set });
      range.offer(list);
      fields = controls({
        controls: list,
        onInput: (path, value) => setField(path, value, false),
        onChange: (path, value) => setField(path, value, true),
      });
      const focused = controlsPlace.querySelector(":focus") === null ? -1 : focusedIndex(controlsPlace);
      controlsPlace.replaceChildren(fields.element);
      if (focused >= 0) controlsPlace.querySelectorAll<HTMLElement>("input, select")[focused]?.focus();
      scene.setChunk(
        chunkField(
          list,
          (bytes) => {
            fields?.set(chunkPath, bytes);
            setField(chunkPath, bytes, false);
          },
          (bytes) => setField(chunkPath, bytes, true),
        ),
      );
      const apply = (isSettled: boolean) => (values: Changes) => {
        for (const [path, value] of Object.entries(values)) {
          fields?.set(path, value);
          setField(path, value, isSettled);
        }
      };
      scene.setFields?.(fieldsOf(list, apply(false), apply(true)));
      scene.setTarget?.(
        targetField(
          list,
          (node) => fields?.set(targetPath, node),
          (node) => setField(targetPath, node, true),
        ),
      );
      reset.hidden = Object.keys(state.set).length === 0;
    } catch (error) {
      message.fail(error);
    }
  }

  function showVariant(): void {
    const variant = doc.variants.find(({ name }) => name === state.variant);
    variantSummary.textContent = variant?.summary ?? "";
  }

  function draw(result: Result): void {
    shown = result;
    const compared = reference === undefined || reference === result ? [result] : [reference, result];
    scene.show(result, latencyAxisEnd(job, compared));
    sentence.replaceChildren(...sentenceNodes(doc.sentence, result.summary.metrics));
    unusual.show(result.summary);
    about.show(result);
    speakSoon();
    drawRestSoon();
  }

  // What the hand is on is drawn at once. The charts further down follow when the hand rests, and a few times a second
  // while it moves: drawing them each time would hold up the next result.
  let resting: ReturnType<typeof setTimeout> | undefined;
  let drawnRest_ms = Number.NEGATIVE_INFINITY;
  function drawRestSoon(): void {
    const isLate = performance.now() - drawnRest_ms > restIntervalMs;
    if (resting !== undefined && isLate) return;
    clearTimeout(resting);
    resting = setTimeout(
      () => {
        resting = undefined;
        drawnRest_ms = performance.now();
        if (shown === undefined) return;
        showMoment();
      },
      isLate ? 0 : restMs,
    );
  }

  function showMoment(): void {
    if (shown === undefined) return;
    drawing.show(shown, state, scene.moment_ns);
    const isReference = reference === undefined || shown.summary.fingerprint === reference.summary.fingerprint;
    instruments.show({
      result: shown,
      reference: isReference ? undefined : { result: reference!, label: titleOf(doc.default_variant).toLowerCase() },
      request: scene.request,
    });
  }

  // A screen reader hears the result once it has settled, not on every step of a slider.
  let speaking: ReturnType<typeof setTimeout> | undefined;
  function speakSoon(): void {
    clearTimeout(speaking);
    speaking = setTimeout(speak, 600);
  }
  function speak(): void {
    if (shown === undefined) return;
    const words = `${titleOf(state.variant!)}: ${fillSentence(doc.sentence, shown.summary.metrics)}`;
    if (spoken.textContent !== words) spoken.textContent = words;
  }

  // Browsers limit how often the address may change; a drag changes it sixty times a second.
  let writing: ReturnType<typeof setTimeout> | undefined;
  let written = location.hash;
  function writeHash(): void {
    clearTimeout(writing);
    writing = setTimeout(() => {
      written = encodeHash(state);
      history.replaceState(null, "", written);
    }, 150);
  }

  addEventListener("hashchange", () => {
    if (location.hash === written) return;
    const decoded = decodeHash(location.hash);
    if (decoded.kind === "problem") message.say(decoded.message);
    if (decoded.kind !== "state") return;
    const { case: named = doc.id } = decoded.state;
    if (named !== doc.id) {
      const hash = location.hash;
      void engine
        .call("cases", {})
        .then((cases) => {
          const found = addressOfCase(named, cases, hash);
          if (found.kind === "page") location.assign(found.href);
          else message.say(found.message);
        })
        .catch((error: unknown) => message.fail(error));
      return;
    }
    choice.select(decoded.state.variant ?? doc.default_variant);
    change({ ...decoded.state, case: doc.id, variant: decoded.state.variant ?? doc.default_variant }, true);
  });

  async function learnReference(): Promise<void> {
    reference = await engine.run({ case: doc.id, variant: doc.default_variant }, { slot: "reference" });
    if (shown !== undefined) draw(shown);
  }

  return {
    begin(result) {
      const isAsDocumented =
        state.variant === doc.default_variant &&
        Object.keys(state.set).length === 0 &&
        state.seed === defaultState.seed;
      if (isAsDocumented) reference = result;
      else void learnReference().catch((error: unknown) => message.fail(error));
      draw(result);
      performance.mark("first-chart");
      scene.autoplay();
      whenSeen(checked, () => checked.dispatchEvent(new Event("check")));
    },
    refuse(error) {
      message.fail(error);
      state = { ...defaultState, case: doc.id, variant: doc.default_variant };
      lastGood = state;
      choice.select(doc.default_variant);
      showVariant();
      void buildControls();
      void engine
        .run(requestOf(doc.id, state))
        .then((result) => this.begin(result))
        .catch((second: unknown) => message.fail(second));
    },
  };
}

function focusedIndex(place: HTMLElement): number {
  return Array.from(place.querySelectorAll("input, select")).indexOf(place.querySelector(":focus")!);
}
