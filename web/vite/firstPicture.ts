/**
 * The first picture of a case's page: the frame of the opening run, built from the page's own modules when the site is built, and
 * written into the page's file. It is seen before the engine has loaded, takes the room of the live frame, and needs no JavaScript.
 *
 * It is drawn twice, for a wide screen and for a phone; the style sheet shows the one that fits.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { JSDOM } from "jsdom";
import type { AskEngine, Result } from "../src/engine/api.ts";
import type { CaseDocument, RunRequest, Value } from "../src/engine/types.ts";
import { colourSheet, patterns } from "../src/base/colours.ts";
import { html } from "../src/base/elements.ts";
import { loadPlot } from "../src/charts/plot.ts";
import { predictionOf } from "../src/lab/prediction.ts";
import { fetchFor, workbench } from "../src/lab/workbench.ts";
import { switchStage } from "../src/stage/switchStage.ts";
import { type Explanation, fewestSteps, mostWords, spanOf } from "../src/stage/beats.ts";
import { dial } from "../src/page/shared/dial.ts";
import { predictionSection } from "../src/page/shared/prediction.ts";
import { rail } from "../src/page/shared/rail.ts";
import { factDots } from "../src/page/front/factDots.ts";
import { incidentList } from "../src/page/front/incidentList.ts";
import type { Incident } from "../src/page/shared/incidents.ts";
import { openedOn } from "../src/page/shared/openedOn.ts";
import { runFrame } from "../src/page/shared/runFrame.ts";
import { CanvasDrawing } from "./canvasDrawing.ts";

const source = resolve(import.meta.dirname, "../src");
export const cacheFolder = resolve(import.meta.dirname, "../../.cache/openings");
/** The width of the content on a screen of 1280 pixels, and on a phone of 390. */
export const widths = { wide: 840, narrow: 358 } as const;
/** The modules that draw it. */
const drawnBy = ["base", "charts", "engine", "lab", "stage", "page/shared"];

export interface SimulatingEngine {
  readonly ask: AskEngine;
  run(request: RunRequest): Result;
}

/** Colours and patterns that the first picture needs before the page's script has run. */
export function theme(): { readonly style: string; readonly patterns: string } {
  return { style: colourSheet(), patterns: inDocument(widths.wide, () => patterns().outerHTML) };
}

/** The classes of a scene's static parts, for a picture without the page's style sheet. */
const sceneStyle = [
  ".lane,.lane-cell{fill:var(--wash)}.lane-cell{stroke:var(--rule);fill:var(--paper)}",
  ".lane-gate{stroke:var(--rule-strong);stroke-dasharray:2 3}.soft,.lane-name{fill:var(--ink-soft)}",
  ".outline{fill:none;stroke:var(--rule-strong);stroke-width:1.5px}.thin{fill:none;stroke:var(--rule)}",
].join("");

/** The scene in a first picture as one drawing; undefined if its stage is no scene. */
export function sceneIn(firstPicture: string): string | undefined {
  const { document } = new JSDOM(firstPicture).window;
  const drawings = Array.from(
    document.querySelectorAll(".first-picture.wide .scene-panel:not([hidden]) .scene-frame > svg"),
  );
  const [width, height] = ["width", "height"].map((name) => drawings[0]?.getAttribute(name));
  if (width == null || height == null) return undefined;
  const inner = drawings.map((drawing) => drawing.innerHTML).join("");
  const defs = new JSDOM(theme().patterns).window.document.querySelector("defs")!.innerHTML;
  const text = inner
    .replaceAll("&nbsp;", "\u00a0")
    .replace(/style="font:\s*(?:(\d{3}) )?([\d.]+)px [^"]*"/g, (_, weight: string | undefined, size: string) => {
      return `font-size="${size}"${weight === undefined ? "" : ` font-weight="${weight}"`}`;
    });
  return `<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><style type="text/css">${sceneStyle}</style><defs>${defs}</defs><g font-size="13" font-family="Source Sans 3">${text}</g></svg>`;
}

/** The list of incidents as HTML. */
export function listOf(incidents: readonly Incident[]): string {
  return inDocument(widths.wide, () => incidentList(incidents).outerHTML);
}

/** The documented numbers as dots, as HTML. */
export function dotsOf(cases: readonly CaseDocument[]): string {
  return inDocument(widths.wide, () => factDots(cases).outerHTML);
}

/** Return the first picture as HTML, or what an earlier build kept of it. */
export async function firstPictureOf(
  engine: SimulatingEngine,
  module: Uint8Array,
  document: CaseDocument,
): Promise<string> {
  const key = createHash("sha256").update(module).update(JSON.stringify(document));
  key.update(JSON.stringify(explanationOf(document))).update(sourcesHash());
  const file = join(cacheFolder, `${document.id}-first-${key.digest("hex").slice(0, 24)}.html`);
  if (existsSync(file)) return readFileSync(file, "utf8");
  const runs = new Map<string, Result>();
  const remembering = {
    ask: engine.ask,
    run(request: RunRequest): Result {
      const name = JSON.stringify(request);
      const run = runs.get(name) ?? engine.run(request);
      runs.set(name, run);
      return run;
    },
  };
  const pictures = [];
  const explanation = await explained(remembering, module, document);
  for (const size of Object.entries(widths)) pictures.push(await drawn(remembering, document, explanation, size));
  const picture = pictures.join("\n");
  mkdirSync(cacheFolder, { recursive: true });
  writeFileSync(file, picture);
  return picture;
}

let hashed: string | undefined;

export function sourcesHash(): string {
  if (hashed !== undefined) return hashed;
  const hash = createHash("sha256");
  for (const name of ["firstPicture.ts", "clip.ts", "canvasDrawing.ts"])
    hash.update(readFileSync(join(import.meta.dirname, name)));
  for (const folder of drawnBy) {
    for (const name of readdirSync(join(source, folder), { recursive: true, encoding: "utf8" }).toSorted()) {
      if (name.endsWith(".ts")) hash.update(readFileSync(join(source, folder, name)));
    }
  }
  return (hashed = hash.digest("hex"));
}

/** The explanation of a case as its file has it. */
export function explanationOf({ id }: Pick<CaseDocument, "id">): Explanation {
  const file = resolve(import.meta.dirname, `../beats/${id}.json`);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Explanation) : { steps: [] };
}

export const seeds = [1, 2, 3];

/**
 * The explanation of a case for its page, checked, with the normal value of its number.
 *
 * @throws when there are too few steps, a step is too long or finds no moment on one of the seeds, or the number is not in the run
 * or would answer the question.
 */
export async function explained(
  engine: SimulatingEngine,
  module: Uint8Array,
  document: CaseDocument,
): Promise<Explanation> {
  const explanation = explanationOf(document);
  const key = createHash("sha256").update(module).update(JSON.stringify(document)).update(JSON.stringify(explanation));
  for (const name of ["stage/beats.ts", "engine/journeys.ts"]) key.update(readFileSync(join(source, name)));
  const file = join(cacheFolder, `${document.id}-steps-${key.digest("hex").slice(0, 24)}.json`);
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")) as Explanation;
  await fetchFor(document);
  const checked = check(engine, document, explanation);
  mkdirSync(cacheFolder, { recursive: true });
  writeFileSync(file, JSON.stringify(checked));
  return checked;
}

function check(engine: SimulatingEngine, document: CaseDocument, { dial, steps, ...rest }: Explanation): Explanation {
  const doc = openedOn(document);
  const fail = (words: string): never => {
    throw new Error(`web/beats/${doc.id}.json: ${words}`);
  };
  if (steps.length < fewestSteps) fail(`${steps.length} steps; write at least ${fewestSteps}`);
  for (const { say } of steps) {
    const words = say.split(" ").length;
    if (words > mostWords) fail(`"${say}" has ${words} words; write at most ${mostWords}`);
  }
  const question = predictionOf(doc, noMemory);
  const record = recordedBy(doc);
  for (const seed of seeds) {
    const run = engine.run({ case: doc.id, variant: doc.default_variant, seed, set: record });
    for (const step of steps) {
      const span = spanOf(run, step);
      if (span === undefined) return fail(`"${step.say}" finds no moment in the opening run with seed ${seed}`);
      if (span.to_ns <= span.from_ns) fail(`"${step.say}" plays no time of the opening run with seed ${seed}`);
    }
    if (dial !== undefined && !(dial.metric in run.summary.metrics)) fail(`the run has no metric ${dial.metric}`);
  }
  for (const path of rest.idle ?? [])
    if (!doc.controls.some((control) => control.path === path)) fail(`${path} is none of its controls`);
  if (dial === undefined) return { ...rest, steps };
  if (question.coveredIn({ variant: doc.default_variant, set: {} })(dial.metric))
    fail(`${dial.metric} would answer the question`);
  if (dial.normal === undefined) return { ...rest, dial, steps };
  const { variant } = dial.normal;
  if (question.isOpenFor(variant)) fail(`the normal value is of "${variant}", which answers the question`);
  const value = engine.run({ case: doc.id, variant }).summary.metrics[dial.metric];
  if (value === undefined) return fail(`"${variant}" has no metric ${dial.metric}`);
  return { ...rest, dial: { ...dial, normal: { ...dial.normal, value } }, steps };
}

/** What the stage of a page has the engine record. */
function recordedBy(doc: CaseDocument): Readonly<Record<string, Value>> {
  const { journeys } = inDocument(widths.wide, () => switchStage(doc, stageWithoutReader));
  return journeys === undefined ? {} : { "record.journeys": journeys };
}

/** A reader who has predicted nothing yet. */
export const noMemory = { read: () => null, write: () => undefined };

export const stageWithoutReader = { name: "check", run: () => undefined, onSwitch: () => undefined };

async function drawn(
  engine: SimulatingEngine,
  document: CaseDocument,
  { dial: number, idle = [], steps }: Explanation,
  [name, width]: readonly [string, number],
): Promise<string> {
  const close = openDocument(width);
  try {
    const doc = openedOn(document);
    await fetchFor(doc);
    await loadPlot();
    const failed: unknown[] = [];
    const question = predictionOf(doc, noMemory);
    const bench = workbench<Result>({
      document: doc,
      ask: engine.ask,
      engine: { run: (request) => Promise.resolve(engine.run(request)) },
      name,
      hasStage: true,
      prediction: question,
      shows: ({ path }) => !idle.includes(path),
      listeners: { onResult: () => undefined, onState: () => undefined, onError: (error) => failed.push(error) },
    });
    const summary = html("p", { class: "variant-summary" });
    summary.textContent = doc.variants.find((variant) => variant.name === doc.default_variant)?.summary ?? "";
    const headline = dial(number);
    const asked = predictionSection({
      prediction: question,
      ask: doc.ask,
      onAnswered: () => undefined,
      measure: () => new Promise(() => undefined),
    });
    const explanation = rail({
      steps,
      play: ({ from_ns, to_ns }, { look }) => bench.stage!.playSpan(from_ns, to_ns, look),
      after: [asked.element],
    });
    const frame = runFrame(bench, {
      choice: [bench.variants],
      dial: headline.element,
      rail: explanation.element,
      summary,
      reset: html("button", { type: "button", class: "quiet reset", hidden: "" }, "Reset"),
      after: [],
    });
    globalThis.document.body.append(frame);
    await bench.controller.begin();
    // The controls ask the engine first; each question is answered at once.
    for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
    const { run } = bench.controller;
    if (run === undefined) throw new Error(`${document.id}: the run that the page opens on did not end`);
    const { places = [] } = bench.stage!.current;
    const unknown = steps.flatMap(({ look = [] }) => look).filter((place) => !places.includes(place));
    if (unknown.length > 0)
      throw new Error(
        `web/beats/${document.id}.json: the picture has no ${unknown.join(", ")}; known: ${places.join(", ")}`,
      );
    explanation.show(run);
    headline.show(run, undefined, question.coveredIn(bench.controller.state));
    if (!explanation.begin()) bench.stage!.autoplay();
    const picture = staticCopy(frame, name);
    bench.close();
    if (failed.length > 0) throw new Error(`${document.id}: ${String(failed[0])}`);
    return picture;
  } finally {
    close();
  }
}

/** The frame as it stands, without what would act: names, and references that another copy has too. */
function staticCopy(frame: HTMLElement, name: string): string {
  for (const canvas of frame.querySelectorAll("canvas")) {
    const drawing = canvas.getContext("2d") as unknown as CanvasDrawing;
    const holder = globalThis.document.createElement("div");
    holder.innerHTML = drawing.toSvg(canvas.width, canvas.height);
    canvas.replaceWith(holder.firstElementChild!);
  }
  for (const input of frame.querySelectorAll("input")) {
    if (input.type === "radio") input.toggleAttribute("checked", input.checked);
    else input.setAttribute("value", input.value);
    input.removeAttribute("name");
  }
  for (const select of frame.querySelectorAll("select")) {
    Array.from(select.options).forEach((option, nth) =>
      option.toggleAttribute("selected", nth === select.selectedIndex),
    );
  }
  for (const element of frame.querySelectorAll("[aria-live]")) element.removeAttribute("aria-live");
  frame.classList.add("first-picture", name);
  frame.setAttribute("inert", "");
  const text = frame.outerHTML;
  const own = new Set(Array.from(text.matchAll(/ id="([^"]+)"/g), ([, id]) => id!));
  return text.replace(/(\s(?:id|for)="|url\(#|href="#)([^")]+)/g, (whole, before: string, id: string) =>
    own.has(id) ? `${before}${name}-${id}` : whole,
  );
}

/** What pages are drawn with, where nothing is laid out: every element is as wide as the picture. */
const stands = [
  "document",
  "window",
  "ResizeObserver",
  "matchMedia",
  "getComputedStyle",
  "cancelAnimationFrame",
  "devicePixelRatio",
  "HTMLElement",
  "Node",
] as const;

function openDocument(width: number): () => void {
  const { window } = new JSDOM("<!doctype html><html class='seeklab'><body></body></html>");
  const canvases = new WeakMap<object, CanvasDrawing>();
  Object.defineProperty(window.HTMLElement.prototype, "clientWidth", { get: () => width });
  Object.defineProperty(window.HTMLCanvasElement.prototype, "getContext", {
    value(this: object) {
      if (!canvases.has(this)) canvases.set(this, new CanvasDrawing());
      return canvases.get(this);
    },
  });
  const given: Record<(typeof stands)[number], unknown> = {
    document: window.document,
    window,
    ResizeObserver: class {
      observe(): void {
        // Nothing changes its size here.
      }

      disconnect(): void {
        // Nor is there anything to stop.
      }
    },
    // Pictures that do not move show a moment of the run.
    matchMedia: () => ({ matches: true, addEventListener: () => undefined, removeEventListener: () => undefined }),
    getComputedStyle: () => ({ getPropertyValue: (name: string) => `var(${name})` }),
    cancelAnimationFrame: () => undefined,
    devicePixelRatio: 1,
    HTMLElement: window.HTMLElement,
    Node: window.Node,
  };
  const global = globalThis as unknown as Record<string, unknown>;
  const before = stands.map((name) => [name, global[name]] as const);
  for (const name of stands) global[name] = given[name];
  return () => {
    for (const [name, value] of before) global[name] = value;
  };
}

export function inDocument<T>(width: number, draw: () => T): T {
  const close = openDocument(width);
  try {
    return draw();
  } finally {
    close();
  }
}
