/** The front page: one live incident, the ladder of latencies, ways to begin, all incidents to be searched, and your own fio job. */
import "../../style/page.css";
import { EngineClient } from "../../engine/client.ts";
import type { CaseDocument } from "../../engine/types.ts";
import { keepUnits } from "../../base/format.ts";
import { html } from "../../base/elements.ts";
import { predictionOf } from "../../lab/prediction.ts";
import type { Finished } from "../../lab/runController.ts";
import { fetchFor, workbench } from "../../lab/workbench.ts";
import { courseInLab } from "../shared/browserLab.ts";
import { catalogue } from "./catalogue.ts";
import { openPage, preparePage } from "../shared/pageSetup.ts";
import { fioBox } from "./fioBox.ts";
import { defaultState, encodeRunLink, type PageState } from "../shared/runLink.ts";
import { type Incident, incidents } from "../shared/incidents.ts";
import { ladder } from "./ladder.ts";
import { openCase } from "../shared/navigation.ts";
import { course, learningPaths } from "./learningPaths.ts";
import { predictionMemory } from "../shared/prediction.ts";
import { progressOf } from "../shared/progressStore.ts";

const page = preparePage();
const { root, message } = page;
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
  const id = document.querySelector<HTMLMetaElement>("meta[name=library]")!.dataset.case!;
  await live(engine, await engine.call("case", { id }));
  await listed;
  // The target of the address did not exist yet when the browser looked for it.
  if (location.hash.length > 1) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

function place(id: string): HTMLElement {
  return document.getElementById(id)!;
}

function writeHash(state: PageState): void {
  history.replaceState(null, "", encodeRunLink(state));
}

async function live(engine: EngineClient, doc: CaseDocument): Promise<void> {
  await fetchFor(doc);
  const question = predictionOf(doc, predictionMemory(doc.id));
  const bench = workbench<Finished>({
    document: doc,
    ask: engine.ask,
    engine: { run: (request, { signal }) => engine.run(request, { signal }) },
    name: "variant",
    hasStage: true,
    prediction: question,
    listeners: {
      onResult(_, { isOpening }) {
        if (!isOpening) message.clear();
      },
      onState: () => undefined,
      onError: (error) => message.fail(error),
    },
  });
  const stage = bench.stage!;
  bench.sentence.setAttribute("aria-live", "polite");
  root
    .querySelector(".live")!
    .append(
      html("h2", { class: "symptom" }, html("a", { href: `${doc.id}.html` }, keepUnits(doc.symptom))),
      html("p", { class: "subtitle" }, keepUnits(doc.subtitle)),
      bench.sentence,
      stage.element,
      html("p", {}, html("a", { class: "onward", href: `${doc.id}.html` }, "Investigate this incident")),
    );
  await bench.controller.begin();
  performance.mark("first-chart");
  stage.autoplay();
}

function list(all: readonly Incident[]): void {
  place("ladder").append(ladder(all));
  place("paths").append(ways(all));
  place("incidents").append(catalogue(all));
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
