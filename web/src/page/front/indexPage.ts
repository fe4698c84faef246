/** The front page: one live incident, all incidents to be searched, ways to begin, and your own fio job. */
import "../../style/page.css";
import { EngineClient } from "../../engine/client.ts";
import type { CaseDocument } from "../../engine/types.ts";
import { html } from "../../base/elements.ts";
import { nextTask } from "../../base/nextTask.ts";
import type { Finished } from "../../lab/runController.ts";
import { fetchFor, workbench } from "../../lab/workbench.ts";
import { dial } from "../shared/dial.ts";
import { explanationOfPage, rail } from "../shared/rail.ts";
import { trail } from "../shared/trail.ts";
import { openedOn } from "../shared/openedOn.ts";
import { runFrame } from "../shared/runFrame.ts";
import { courseInLab } from "../shared/browserLab.ts";
import { playClip } from "../shared/clip.ts";
import { inPlaceOfFirstPicture, readApart } from "../shared/firstPicture.ts";
import { catalogue } from "./catalogue.ts";
import { openPage, preparePage } from "../shared/pageSetup.ts";
import { openDoors, poolDoor } from "./doors.ts";
import { fioBox } from "./fioBox.ts";
import { defaultState, encodeRunLink, type PageState } from "../shared/runLink.ts";
import { type Incident, incidents } from "../shared/incidents.ts";
import { openCase } from "../shared/navigation.ts";
import { course, learningPaths } from "./learningPaths.ts";
import { progressOf } from "../shared/progressStore.ts";

const page = preparePage();
const { root, message } = page;
const stageSection = root.querySelector<HTMLElement>(".stage-section")!;
const clip = playClip(stageSection);
void openPage(page, open);

async function open(linked: PageState): Promise<void> {
  const engine = new EngineClient();
  let state = linked;
  if (state.case !== undefined) {
    if (await openCase(state.case, { cases: incidents(), message, replaces: true })) return;
    state = defaultState;
  }
  const box = fioBox({ engine, state, onState: writeHash });
  box.id = "fio";
  place("fio").replaceWith(box);
  const listed = incidents()
    .then(list)
    .catch((error: unknown) => message.fail(error));
  openDoors(place("doors"));
  const id = document.querySelector<HTMLMetaElement>("meta[name=library]")!.dataset.case!.split("+")[0]!;
  await live(engine, await engine.call("case", { id }));
  await Promise.all([listed, poolDoor(engine, place("door-pool"))]);
  // The target of the address did not exist yet when the browser looked for it.
  if (location.hash.length > 1) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

function place(id: string): HTMLElement {
  return document.getElementById(id)!;
}

function writeHash(state: PageState): void {
  history.replaceState(null, "", encodeRunLink(state));
}

/** The incident of this page in its frame, as on its own page but with the control of the headline alone. */
async function live(engine: EngineClient, doc: CaseDocument): Promise<void> {
  await fetchFor(doc);
  const knob = doc.controls[0]?.path;
  const bench = workbench<Finished>({
    document: openedOn(doc),
    ask: engine.ask,
    engine: readApart({ run: (request, { signal }) => engine.run(request, { signal }) }, () => first.isSeen),
    name: "variant",
    hasStage: true,
    // The whole of it is the one knob of the headline.
    shows: ({ path }) => path === knob,
    onControls: (list) => visited?.offer(list),
    listeners: {
      onResult(run, { isOpening, isPartial }) {
        if (!isOpening) message.clear();
        if (isPartial) return;
        first.giveWay();
        explanation.show(run);
        visited?.visit(run.summary, bench.controller.state);
        headline.show(run, bench.controller.reference, () => false);
      },
      onState: () => visited?.makeRoom(),
      onError: (error) => message.fail(error),
    },
  });
  const stage = bench.stage!;
  const { dial: number, steps } = explanationOfPage();
  const headline = dial(number);
  const visited =
    number === undefined
      ? undefined
      : trail({ dial: number, controller: bench.controller, isCovered: () => false, isOpen: () => true });
  const why = html("a", { class: "onward", href: `${doc.id}.html` }, "Why?");
  const explanation = rail({
    steps,
    play: ({ from_ns, to_ns }, { look }, at_ns) => stage.playSpan(from_ns, to_ns, look, at_ns),
    after: [...(visited === undefined ? [] : [visited.element]), why],
  });
  bench.sentence.setAttribute("aria-live", "polite");
  const reset = html("button", { type: "button", class: "quiet reset", hidden: "" }, "Reset");
  const summary = html("p", { class: "variant-summary" });
  summary.textContent = doc.variants.find(({ name }) => name === bench.controller.state.variant)?.summary ?? "";
  const frame = runFrame(bench, {
    choice: [],
    dial: headline.element,
    rail: explanation.element,
    summary,
    reset,
    after: [],
  });
  const first = inPlaceOfFirstPicture(stageSection, frame, clip);
  await bench.controller.begin();
  performance.mark("first-chart");
  await nextTask();
  if (!explanation.begin(first.moment_ns)) stage.autoplay();
}

function list(all: readonly Incident[]): void {
  place("paths").append(ways(all));
  place("incidents").append(catalogue(all, place("incidents").querySelector<HTMLElement>(".incident-list")!));
}

function ways(all: readonly Incident[]): HTMLElement {
  const link = (id: string) => {
    const { code, title } = all.find((incident) => incident.id === id)!;
    const isDone = progressOf(id) !== "open";
    return html(
      "li",
      {},
      html("a", { href: `${id}.html` }, `${code} · ${title}`),
      ...(isDone ? [html("span", { class: "quiet" }, " done")] : []),
    );
  };
  const notebooks = new Set(all.flatMap(({ notebook }) => notebook ?? []));
  const exercises = new Set(all.flatMap((incident) => incident.exercises));
  return html(
    "div",
    { class: "three" },
    ...learningPaths.map(({ time, words, cases }) =>
      html("div", {}, html("h3", {}, time), html("p", {}, words), html("ol", {}, ...cases.map(link))),
    ),
    html(
      "div",
      {},
      html("h3", {}, course.time),
      html("p", {}, course.words, " ", html("code", {}, course.command), "."),
      html(
        "p",
        {},
        "Or here, with nothing to install: ",
        html("a", { href: courseInLab }, "the notebooks in this browser"),
        ", or ",
        html("a", { href: "notebooks.html" }, "read them, by week"),
        ".",
      ),
      html(
        "p",
        { class: "quiet" },
        `${notebooks.size} notebooks and ${exercises.size} exercises continue the incidents of this site.`,
      ),
    ),
  );
}
