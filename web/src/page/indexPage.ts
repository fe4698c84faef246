/** The front page: one live incident, the cases by family with small real runs, a way in, and your own fio job. */
import "../style/page.css";
import { EngineClient } from "../engine/client.ts";
import type { Result } from "../engine/api.ts";
import type { CaseDocument, CaseEntry } from "../engine/types.ts";
import { formatNumber, keepUnits } from "../base/format.ts";
import { overviewLegend, overviewScale, runOverview } from "../charts/runOverview.ts";
import { html } from "../base/elements.ts";
import { latencyAxisEnd } from "../charts/rows/reads.ts";
import { predictionOf } from "../lab/prediction.ts";
import type { Finished } from "../lab/runController.ts";
import { workbench } from "../lab/workbench.ts";
import { courseInLab } from "./browserLab.ts";
import { openPage, preparePage, whenSeen } from "./document.ts";
import { fioBox } from "./fioBox.ts";
import { defaultState, encodeHash, type PageState } from "./hash.ts";
import { openCase } from "./navigation.ts";
import { predictionMemory } from "./prediction.ts";

const liveCase = "odx-prefetch";

const page = preparePage();
const { root, message } = page;
void openPage(page, open);

async function open(linked: PageState): Promise<void> {
  const engine = new EngineClient();
  let state = linked;
  if (state.case !== undefined) {
    if (await openCase(state.case, { ask: engine.ask, message, replaces: true })) return;
    state = defaultState;
  }
  const asked = [engine.call("case", { id: liveCase }), engine.run({ case: liveCase })] as const;
  const entries = engine.call("cases", {});
  const [doc, result] = await Promise.all(asked);
  await live(engine, doc, result);
  root.append(...(await families(engine, await entries)), path(doc));
  root.append(fioBox({ engine, state, onState: writeHash }));
}

function writeHash(state: PageState): void {
  history.replaceState(null, "", encodeHash(state));
}

async function live(engine: EngineClient, doc: CaseDocument, first: Result): Promise<void> {
  const bench = workbench<Finished>({
    document: doc,
    ask: engine.ask,
    host: { run: async (request, signal) => ({ result: await engine.run(request, { signal }) }) },
    name: "variant",
    hasStage: true,
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
  root.append(
    html(
      "section",
      { class: "stage-section live", "aria-labelledby": "live-title" },
      html("h2", { id: "live-title", class: "symptom" }, html("a", { href: `${doc.id}.html` }, keepUnits(doc.symptom))),
      html("p", { class: "subtitle" }, doc.subtitle),
      bench.sentence,
      stage.element,
      html("p", {}, html("a", { class: "onward", href: `${doc.id}.html` }, "Investigate this incident")),
    ),
  );
  await bench.controller.begin(Promise.resolve({ result: first }));
  performance.mark("first-chart");
  stage.autoplay();
}

// The engine gives the cases family by family.
async function families(engine: EngineClient, entries: readonly CaseEntry[]): Promise<HTMLElement[]> {
  const byFamily = Map.groupBy(entries, (entry) => entry.family);
  const sections: HTMLElement[] = [];
  for (const [family, cases] of byFamily) {
    const list = html("div", { class: "cases" });
    for (const entry of cases) list.append(card(engine, await engine.call("case", { id: entry.id })));
    sections.push(html("section", { class: "family" }, html("h2", {}, family), list));
  }
  sections[0]?.querySelector("h2")?.after(html("p", { class: "quiet legend" }, overviewLegend));
  return sections;
}

function card(engine: EngineClient, doc: CaseDocument): HTMLElement {
  const runs = html("div", { class: "thumbnails" });
  const element = html(
    "article",
    { class: "case-card" },
    html("h3", {}, html("a", { href: `${doc.id}.html` }, doc.title)),
    html("p", { class: "quiet" }, doc.symptom, " ", `(${doc.source.year})`),
    runs,
  );
  whenSeen(element, () => void draw().catch((error: unknown) => message.fail(error)));

  async function draw(): Promise<void> {
    const { job, op } = doc.focus;
    const results: Result[] = [];
    // The other variants give the answer away: they wait until the question has been answered or skipped.
    const isAsked = predictionOf(doc, predictionMemory(doc.id)).answer.kind === "open";
    const variants = doc.variants.filter(({ name }) => !isAsked || name === doc.default_variant);
    for (const { name } of variants) {
      results.push(await engine.run({ case: doc.id, variant: name }, { slot: "thumbnail" }));
    }
    const latency_max_ns = latencyAxisEnd(job, results, op);
    results.forEach((result, at) => {
      const { name, title } = variants[at]!;
      const mean = result.summary.metrics[`${job}.${op}_latency_mean_ms`] ?? Number.NaN;
      const href = `${doc.id}.html${encodeHash({ case: doc.id, variant: name, set: {}, seed: 1, ui: {} })}`;
      runs.append(
        html(
          "a",
          { href, class: "thumbnail" },
          runOverview(result, { job, op, width: 320, height: 56, latency_max_ns }),
          html("span", { class: "name" }, title),
          html(
            "span",
            { class: "mean" },
            `mean ${formatNumber(mean)} ms; ${overviewScale(result, { op, latency_max_ns })}`,
          ),
        ),
      );
    });
  }
  return element;
}

function path(doc: CaseDocument): HTMLElement {
  const step = (title: string, ...words: (Node | string)[]) => html("li", {}, html("b", {}, title), " ", ...words);
  const link = (href: string, words: string) => html("a", { href }, words);
  return html(
    "section",
    { class: "path" },
    html("h2", {}, "New to this"),
    html(
      "ol",
      { class: "prose" },
      step(
        "Watch",
        "five reads of ",
        link(`${doc.id}.html`, doc.title),
        ": what came from memory, what the disk had to add, and how long each took.",
      ),
      step(
        "Predict",
        "how much a small miss costs before you see the fixed system. Most people are far off; that is the lesson.",
      ),
      step("Look", "at the same run through a histogram, an operation log and iostat, and note what each hides."),
      step("Change", "one thing at a time and see which ones matter."),
      step(
        "Check",
        "the numbers: every documented value stands beside the simulated one, misses included. ",
        link("validation.html", "How right is the simulator?"),
        " replays a trace on the disk model and says how far off it is, and ",
        link("presets.html", "presets"),
        " stand beside the data sheets and reviews of real solid-state drives.",
      ),
      step("Take the course", "here, in this browser: ", link(courseInLab, "the notebooks"), ", nothing to install."),
      step("Build", "a pool of your own: ", link("designer.html", "what it costs, and what binds it"), "."),
    ),
  );
}
