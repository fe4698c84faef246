/**
 * The slides of a week: `slides.html#week=5`, and without a week the list of all.
 *
 * An answer is simulated when it is asked for, by the engine of this page. What is to be asked first stands alone, and each step
 * shows one thing more: by the arrow keys, by Space, or by the buttons.
 */
import "../../style/page.css";
import "../../style/slides.css";
import { weeks } from "virtual:slides";
import { html } from "../../base/elements.ts";
import { formatNumber, formatValue } from "../../base/format.ts";
import { EngineClient } from "../../engine/client.ts";
import type { CaseDocument } from "../../engine/types.ts";
import { take, withVariants } from "../../lab/measure.ts";
import { buildPage, preparePage } from "../shared/pageSetup.ts";
import { protocol } from "../shared/embedMessages.ts";
import { type Incident, incidents } from "../shared/incidents.ts";
import { inline } from "../shared/markdown.ts";
import { incidentsOf, placeOf, readPlace } from "./slidePlace.ts";

type Week = (typeof weeks)[number];

interface Slide {
  readonly element: HTMLElement;
  /** Parts that are shown one after the other, after the slide's own text. */
  readonly steps: readonly HTMLElement[];
  /** Called when a step is shown, counted from 1; 0 is the slide itself. */
  readonly onStep?: (step: number) => void;
}

const page = preparePage();
const headline = document.querySelector<HTMLElement>(".headline")!;
void buildPage(page, async () => {
  const known = await incidents();
  let clean: (() => void) | undefined;
  const show = () => {
    clean?.();
    const place = readPlace(location.hash);
    const week = weeks.find((one) => one.week === place?.week);
    if (place !== undefined && week === undefined) {
      page.message.say(`There is no week ${place.week}: the course has weeks 1 to ${weeks.length}.`);
    }
    clean = week === undefined ? list() : deck(week, known, place!.slide);
  };
  addEventListener("hashchange", () => {
    // A step of the deck on the screen writes its own address.
    if (location.hash !== written) show();
  });
  show();
});

let written = "";

function list(): () => void {
  headline.classList.remove("unseen");
  const element = html(
    "section",
    { "aria-label": "Weeks" },
    html(
      "ol",
      { class: "slide-weeks" },
      ...weeks.map(({ week, title }) => html("li", {}, html("a", { href: placeOf({ week, slide: 1 }) }, title))),
    ),
    html(
      "p",
      { class: "quiet" },
      "Arrow keys or Space move on, Home and End jump to the ends, and Escape returns here. Print a week to get a handout of all its slides.",
    ),
  );
  page.root.append(element);
  return () => element.remove();
}

function deck(week: Week, known: readonly Incident[], first: number): () => void {
  headline.classList.add("unseen");
  const engine = new EngineClient();
  const all = slidesOf(week, known, engine);
  const before = html("button", { type: "button", "aria-label": "Back" }, "‹");
  const next = html("button", { type: "button", "aria-label": "Next" }, "›");
  const count = html("span", { class: "slide-count", "aria-live": "polite" });
  const out = html("a", { href: "#" }, "All weeks");
  const element = html(
    "section",
    { class: "deck", "aria-label": `Week ${week.week}: ${week.title}` },
    ...all.map(({ element: slide }) => slide),
    html("nav", { class: "deck-keys", "aria-label": "Slides" }, out, before, count, next),
  );
  page.root.append(element);
  let at = Math.min(all.length, first) - 1;
  let step = 0;

  const draw = () => {
    for (const [nth, slide] of all.entries()) slide.element.classList.toggle("shown", nth === at);
    const { steps, onStep } = all[at]!;
    for (const [nth, part] of steps.entries()) part.classList.toggle("later", nth >= step);
    onStep?.(step);
    count.textContent = `${at + 1} of ${all.length}`;
    before.disabled = at === 0 && step === 0;
    next.disabled = at === all.length - 1 && step === steps.length;
    written = placeOf({ week: week.week, slide: at + 1 });
    if (location.hash !== written) history.replaceState(null, "", written);
  };
  const go = (by: 1 | -1) => {
    if (by === 1 && step < all[at]!.steps.length) step += 1;
    else if (by === 1 && at < all.length - 1) [at, step] = [at + 1, 0];
    else if (by === -1 && step > 0) step -= 1;
    else if (by === -1 && at > 0) [at, step] = [at - 1, all[at - 1]!.steps.length];
    draw();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const isOnControl = event.target instanceof HTMLElement && event.target.matches("button, a, iframe");
    if (["ArrowRight", "ArrowDown", "PageDown"].includes(event.key) || (event.key === " " && !isOnControl)) go(1);
    else if (["ArrowLeft", "ArrowUp", "PageUp"].includes(event.key)) go(-1);
    else if (event.key === "Home") [at, step] = [0, 0];
    else if (event.key === "End") [at, step] = [all.length - 1, 0];
    else if (event.key === "Escape") location.hash = "";
    else return;
    event.preventDefault();
    if (event.key === "Home" || event.key === "End") draw();
  };
  before.addEventListener("click", () => go(-1));
  next.addEventListener("click", () => go(1));
  // A frame is as high as the stage in it.
  const onMessage = ({ source, origin, data }: MessageEvent<unknown>) => {
    const frame = Array.from(element.querySelectorAll("iframe")).find(({ contentWindow }) => contentWindow === source);
    if (frame === undefined || origin !== location.origin) return;
    const { seeklab, kind, height } = data as Record<string, unknown>;
    if (seeklab === protocol && kind === "size" && typeof height === "number") frame.style.height = `${height}px`;
  };
  addEventListener("keydown", onKey);
  addEventListener("message", onMessage);
  draw();
  return () => {
    removeEventListener("keydown", onKey);
    removeEventListener("message", onMessage);
    element.remove();
  };
}

function slidesOf(week: Week, known: readonly Incident[], engine: EngineClient): readonly Slide[] {
  const plain = (title: string, words: string): Slide => slide([html("h2", {}, title), prose(words)]);
  return [
    slide([
      html("p", { class: "kicker" }, `Week ${week.week}`),
      html("h2", { class: "large" }, week.title),
      prose(week.aims),
    ]),
    ...week.beliefs.map(({ said, but }) => {
      const answer = prose(but);
      return slide(
        [html("p", { class: "kicker" }, "True or false?"), html("h2", {}, ...inline(`“${said}”`)), answer],
        [answer],
      );
    }),
    ...incidentsOf(week, known).flatMap((incident) => incidentSlides(incident, engine)),
    plain("At the board", week.board),
    plain("To discuss", week.discuss),
    plain("The notebooks and exercises", week.before),
  ];
}

/** The symptom with its question, then what the run says; and only after it the moving picture, which may show the answer. */
function incidentSlides({ id, code, title, symptom, source, year }: Incident, engine: EngineClient): readonly Slide[] {
  const question = html("h2", {}, "…");
  const answer = html("p", { class: "slide-answer", "aria-live": "polite" });
  const document = engine.call("case", { id });
  document.then(({ ask }) => question.replaceChildren(...inline(ask.question))).catch(failed(question));
  let asked: Promise<void> | undefined;
  const tell = async (): Promise<void> => {
    const doc = await document;
    answer.textContent = "Simulating …";
    const value = await measured(engine, doc);
    const { reveal, unit } = doc.ask;
    answer.replaceChildren(
      html("b", {}, formatValue(value, unit)),
      html("span", {}, ...inline(reveal.replace("{answer}", formatNumber(value)))),
    );
  };
  const asking = slide(
    [
      html("p", { class: "kicker" }, `${code} · ${title}. Write a number down.`),
      html("p", { class: "symptom" }, ...inline(symptom)),
      question,
      answer,
    ],
    [answer],
    (step) => {
      if (step > 0) asked ??= tell().catch(failed(answer));
    },
  );

  const frame = html("iframe", { class: "slide-stage", title: `${code}: ${title}, the run` });
  const name = html("a", { href: `${id}.html` }, `${code} · ${title}`);
  const picture = slide([html("p", { class: "kicker" }, name, ` · ${source}, ${year}`), frame], [], () => {
    if (!frame.hasAttribute("src")) frame.src = `${id}.html?embed=1`;
  });
  return [asking, picture];
}

function measured(engine: EngineClient, { id, ask, default_variant }: CaseDocument): Promise<number> {
  return take(
    async (request) => (await engine.run(request, { slot: `measure ${id}` })).summary,
    id,
    withVariants(ask.measure, default_variant),
  );
}

function failed(place: HTMLElement): (error: unknown) => void {
  return (error) => {
    place.textContent = error instanceof Error ? error.message : String(error);
  };
}

function slide(
  parts: readonly HTMLElement[],
  steps: readonly HTMLElement[] = [],
  onStep?: (step: number) => void,
): Slide {
  return { element: html("article", { class: "slide" }, ...parts), steps, ...(onStep === undefined ? {} : { onStep }) };
}

function prose(words: string): HTMLElement {
  return html("p", { class: "slide-prose" }, ...inline(words));
}
