/**
 * A case's page: one run, and everything that looks at it.
 *
 * The run and its controls are the workbench's, which the notebook has too; this page adds what only a page has: the address,
 * the question, evidence, the explanation, facts, and the model. Whatever fails says so in a sentence, and the page keeps the
 * last result it had.
 */
import "../../style/page.css";
import { EngineClient } from "../../engine/client.ts";
import type { Result } from "../../engine/api.ts";
import type { CaseDocument, Control } from "../../engine/types.ts";
import { html } from "../../base/elements.ts";
import { keepUnits } from "../../base/format.ts";
import { nextTask } from "../../base/nextTask.ts";
import { take } from "../../lab/measure.ts";
import { type Memory, predictionOf } from "../../lab/prediction.ts";
import type { RunState } from "../../lab/runController.ts";
import { fetchFor, workbench } from "../../lab/workbench.ts";
import { loadStages } from "../../stage/stages.ts";
import { addressOf } from "../shared/address.ts";
import { afterQuestion } from "./afterQuestion.ts";
import { dial } from "../shared/dial.ts";
import { explanationOfPage, rail } from "../shared/rail.ts";
import { CaseState } from "./caseState.ts";
import { playClip, type PlayingClip } from "../shared/clip.ts";
import { openedOn } from "../shared/openedOn.ts";
import { exportPanel } from "./exportPanel.ts";
import { openPage, preparePage, whenSeen } from "../shared/pageSetup.ts";
import { factsSection } from "./factsSection.ts";
import { evidence } from "./evidence.ts";
import { embed, isEmbedded, wayOut } from "../shared/embed.ts";
import { explainTerms } from "./glossary.ts";
import { defaultState, encodeRunLink, type PageState } from "../shared/runLink.ts";
import { incidents } from "../shared/incidents.ts";
import { inline, markdown } from "../shared/markdown.ts";
import { inTheField } from "./inTheField.ts";
import { mechanism } from "./mechanism.ts";
import { modelSection } from "./modelSection.ts";
import { openCase } from "../shared/navigation.ts";
import { predictionSection, predictionMemory } from "../shared/prediction.ts";
import { inPlaceOfFirstPicture, readApart } from "../shared/firstPicture.ts";
import { progress } from "../shared/progress.ts";
import { storeAnswer } from "../shared/progressStore.ts";
import { runFrame } from "../shared/runFrame.ts";
import { trail } from "../shared/trail.ts";
import { afterRest, whileMoving } from "./timers.ts";
import { warnings } from "./warnings.ts";
import { whatIfs } from "./whatIfs.ts";

const restMs = 60;
const restIntervalMs = 300;
const spokenAfterMs = 600;

const page = preparePage();
const { root, message } = page;
const stageSection = root.querySelector<HTMLElement>(".stage-section")!;
void openPage(page, open);

async function open(linked: PageState): Promise<void> {
  const { content: id = "", dataset } = document.querySelector<HTMLMetaElement>("meta[name=case]") ?? {};
  const engine = new EngineClient();
  // Load the stage while the engine loads; failures of the engine are reported below.
  if (dataset?.view !== undefined) void loadStages([dataset.view]).catch(() => undefined);
  // A link to another run than the one that the clip is of does not play it.
  const clip = isPlain(linked) ? playClip(stageSection) : undefined;
  let start = linked;
  if (start.case !== undefined && start.case !== id) {
    if (await openCase(start.case, { cases: incidents(), message, replaces: true })) return;
    start = defaultState;
  }
  const doc = await engine.call("case", { id });
  await fetchFor(doc);
  await build({ engine, doc: openedOn(doc), start, clip })();
}

/** Whether an address asks for the run that the page opens on. */
function isPlain({ variant, set, seed }: PageState): boolean {
  return variant === undefined && Object.keys(set).length === 0 && seed === defaultState.seed;
}

/** What was done about it, from its source. */
function sourceStep({ source }: CaseDocument): HTMLElement {
  return html(
    "p",
    { class: "source-step" },
    "What they found: ",
    html("a", { href: source.url }, source.name),
    `, ${source.year}. `,
    html("a", { href: "#why-title" }, "Why it happened"),
    ".",
  );
}

const answered: Memory = { read: () => '{"guess":null}', write: () => undefined };

/** The largest picture of a stage, with what moves above it. */
function pictureOn(stage: HTMLElement) {
  const drawing = Array.from(stage.querySelectorAll<SVGSVGElement>("svg")).find(isLargest);
  const above = drawing?.parentElement?.querySelector("canvas");
  return drawing === undefined ? undefined : { drawing, ...(above == null ? {} : { above }) };
}

/** Whether no other picture of the same stage is larger. */
function isLargest(drawing: Element, _: number, all: readonly Element[]): boolean {
  const area = (element: Element) => {
    const { width, height } = element.getBoundingClientRect();
    return width * height;
  };
  return all.every((other) => area(other) <= area(drawing));
}

interface Parts {
  readonly engine: EngineClient;
  readonly doc: CaseDocument;
  readonly start: PageState;
  readonly clip: PlayingClip | undefined;
}

/** Builds the page; what it gives shows the first result, or says why there is none and starts from the case as it is. */
function build({ engine, doc, start, clip }: Parts): () => Promise<void> {
  const { ask } = engine;
  let isTouched = false;
  stageSection.addEventListener("click", () => (isTouched = true), { once: true });
  // The reference and the question's measure run on a second thread, so that they do not delay a drag.
  let second: EngineClient | undefined;
  const other = () => (second ??= new EngineClient());
  const bar = progress(() => controller.cancel());
  const variantSummary = html("p", { class: "variant-summary", tabindex: -1 });
  const spoken = html("p", { class: "unseen", "aria-live": "polite" });
  const unusual = warnings();
  const reset = html("button", { type: "button", class: "quiet reset", hidden: "" }, "Reset");
  reset.addEventListener("click", () => controller.reset());
  // The author of a page that embeds an incident chooses what it shows.
  const question = predictionOf(doc, isEmbedded ? answered : predictionMemory(doc.id));
  const state = new CaseState({ document: doc, prediction: question, start });
  const pair = html("input", { type: "checkbox" });
  const pairLabel = html(
    "label",
    { class: "pair-choice", hidden: "" },
    pair,
    ` Compare with “${state.titleOf(doc.default_variant)}”`,
  );
  pair.addEventListener("change", () => showBeside());
  // Draw the control in use at once. Other charts follow when the input rests, and a few times a second while it moves;
  // drawing them each time would delay the next result.
  const drawRestSoon = whileMoving(() => showMoment(), { restMs, intervalMs: restIntervalMs });
  // A screen reader hears the result once it has settled, not on every step of a slider.
  const speakSoon = afterRest(() => speak(), spokenAfterMs);

  const framed = isEmbedded
    ? embed({
        document: doc,
        set: ({ variant, set, seed }) =>
          controller.replace({
            ...(variant === undefined ? {} : { variant }),
            ...(set === undefined ? {} : { set }),
            ...(seed === undefined ? {} : { seed }),
          }),
        run: () => stage.replay(),
        say: (sentence) => message.say(sentence),
      })
    : undefined;

  const { dial: number, idle = [], steps } = explanationOfPage();

  // 1-2: the stage, with variants, sentence and controls around it.
  const bench = workbench<Result>({
    document: doc,
    ask,
    engine: readApart(engine, () => first.isSeen),
    runReference: (request) => other().run(request, { slot: "reference" }),
    name: "variant",
    hasStage: true,
    prediction: question,
    start: state.begin,
    shows: ({ path }: Control): boolean => controller.state.variant !== doc.default_variant || !idle.includes(path),
    onControls(list) {
      visited?.offer(list);
      framed?.ready(list.map(({ path }) => path));
    },
    onRest: () => showMoment(),
    // The first picture is of the whole run: a part of it takes its place only for a reader who wants to act.
    isWatched: () => isTouched || !first.isSeen,
    listeners: {
      onResult(result, { isOpening, isPartial }) {
        if (isOpening) performance.mark("first-chart");
        first.giveWay();
        if (isPartial) {
          drawRestSoon();
          return;
        }
        // A message about a wrong link stays until the reader does something.
        if (!isOpening) message.clear();
        explanation.show(result);
        visited?.visit(result.summary, controller.state);
        unusual.show(result.summary);
        framed?.result(result, controller.state);
        about.show(result);
        showBeside();
        speakSoon();
        drawRestSoon();
      },
      onReference() {
        showBeside();
        drawRestSoon();
      },
      onState(run, change) {
        visited?.makeRoom();
        experiments.forget(run);
        reset.hidden = Object.keys(run.set).length === 0;
        if (change === "replaced") showVariant();
        showBeside();
        if (change === "settled") speakSoon();
        address.write(change !== "moving");
      },
      onError(error) {
        message.fail(error);
        framed?.refused(error instanceof Error ? error.message : String(error));
      },
      onBusy(isBusy) {
        if (isBusy) bar.start();
        else bar.end();
      },
      onProgress: (share) => bar.update(share),
      onQuestion: () => predicted.insist(),
    },
  });
  const { controller } = bench;
  const stage = bench.stage!;
  const headline = dial(number);
  const pageState = () => state.pageState(controller.state);
  const address = addressOf({ state: pageState, onState: restore, message });
  const link = (path = location.pathname) => new URL(`${path}${encodeRunLink(pageState())}`, location.href).href;

  // 3-9.
  const instruments = evidence({
    engine,
    document: doc,
    isCovered: question.isCovered,
    current: state.tab,
    onTab: (tab) => {
      state.openTab(tab);
      address.write(false);
    },
  });
  const drawing = mechanism(engine, doc);
  const checked = factsSection(doc);
  const experiments = whatIfs(doc, (whatIf, button) => {
    controller.replace({ variant: whatIf.variant, set: whatIf.set });
    const back = html("button", { type: "button", class: "quiet" }, "Back to What if");
    back.addEventListener("click", () => button.focus());
    variantSummary.replaceChildren(html("b", {}, whatIf.title), ". ", ...inline(whatIf.surprise), " ", back);
    stageSection.scrollIntoView({ block: "start" });
    // The picture moves while the words say what to see in it, also for those who have come by key.
    variantSummary.focus();
  });
  const isCovered = (run: RunState, metric: string) => question.coveredIn(run)(metric);
  const isAsked = "metric" in doc.ask.measure && doc.ask.measure.metric === number?.metric;
  const guess = () => (isAsked && question.answer.kind === "guess" ? question.answer.guess : undefined);
  const visited =
    number === undefined
      ? undefined
      : trail({ dial: number, controller, isCovered, isOpen: () => !question.isOpen, guess });
  const onwards = exportPanel({
    engine,
    document: doc,
    state: pageState,
    result: () => controller.run,
    link,
    picture: () => pictureOn(stage.element),
  });
  const about = modelSection(doc, (seed) => controller.replace({ seed }));
  const predicted = predictionSection({
    prediction: question,
    ask: doc.ask,
    revealingTitle: question.revealing === undefined ? undefined : state.titleOf(question.revealing),
    onAnswered: () => {
      bench.uncover();
      gate.open();
      visited?.open();
      source.hidden = false;
      showMoment();
      pair.checked = true;
      if (question.revealing !== undefined) controller.replace({ variant: question.revealing, set: {} });
    },
    measure: () =>
      take(
        async (request) => (await other().run(request, { slot: `measure ${doc.id}` })).summary,
        doc.id,
        doc.ask.measure,
      ),
    onMeasured(answer) {
      storeAnswer(doc.id, answer);
      visited?.open();
    },
  });

  const why = html("div", { class: "prose" }, ...markdown(doc.why));
  explainTerms([why, ...checked.querySelectorAll(".story"), ...experiments.element.querySelectorAll(".surprise")]);
  const field = inTheField(doc.id);
  const gate = afterQuestion(
    question,
    [
      html(
        "section",
        { class: "why", "aria-labelledby": "why-title" },
        html("h2", { id: "why-title" }, "Why"),
        html("p", { class: "subtitle" }, keepUnits(doc.subtitle)),
        html("div", { class: "two" }, why, drawing.element),
      ),
      checked,
      ...(field === undefined ? [] : [field]),
      experiments.element,
    ],
    () => predicted.insist(),
  );

  const source = sourceStep(doc);
  source.hidden = question.isOpen;
  const explanation = rail({
    steps,
    play: ({ from_ns, to_ns }, { look }, at_ns) => stage.playSpan(from_ns, to_ns, look, at_ns),
    after: framed === undefined ? [predicted.element, ...(visited === undefined ? [] : [visited.element]), source] : [],
  });
  const frame = runFrame(bench, {
    choice: [bench.variants, pairLabel, bar.element],
    dial: headline.element,
    rail: explanation.element,
    summary: variantSummary,
    reset,
    after: [spoken, unusual.element],
  });
  const first = inPlaceOfFirstPicture(stageSection, frame, clip);
  if (framed === undefined) {
    root.append(instruments.element, gate.element, onwards, about.element);
  } else root.append(wayOut(doc, link));
  void engine
    .call("version", {})
    .then((version) => about.setVersion(version.engine))
    .catch((error: unknown) => message.fail(error));
  reset.hidden = Object.keys(start.set).length === 0;
  showVariant();

  function showBeside(): void {
    if (controller.run !== undefined) {
      const { state: run, run: result } = controller;
      headline.show(result, state.comparedWith(controller)?.result, question.coveredIn(run));
    }
    const beside = stage.canPlayBeside ? state.besideOf(controller) : undefined;
    pairLabel.hidden = beside === undefined;
    stage.beside?.(pair.checked ? beside : undefined);
  }

  function showVariant(): void {
    variantSummary.textContent = state.summaryOf(controller.state.variant);
  }

  function showMoment(): void {
    const result = controller.run;
    if (result === undefined) return;
    drawing.show(result, controller.state, stage.moment_ns);
    const other = state.comparedWith(controller);
    instruments.show({
      result,
      reference: other === undefined ? undefined : { ...other, label: other.label.toLowerCase() },
      focus: doc.focus,
      request: stage.request,
    });
  }

  function speak(): void {
    const { run } = controller;
    if (run === undefined) return;
    const words = state.spoken(controller.state, run);
    if (spoken.textContent !== words) spoken.textContent = words;
  }

  function restore(linked: PageState | undefined): void {
    const destination = state.restore(linked);
    if (destination.kind === "here") controller.replace(destination.state);
    else
      openCase(destination.id, { cases: incidents(), message, replaces: false }).catch((error: unknown) =>
        message.fail(error),
      );
  }

  return async () => {
    await controller.begin();
    await nextTask();
    if (!explanation.begin(first.moment_ns)) stage.autoplay();
    whenSeen(checked, () => checked.dispatchEvent(new Event("check")));
  };
}
