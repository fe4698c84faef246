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
import type { CaseDocument, RunRequest } from "../src/engine/types.ts";
import { colourSheet, patterns } from "../src/base/colours.ts";
import { html } from "../src/base/elements.ts";
import { loadPlot } from "../src/charts/plot.ts";
import { predictionOf } from "../src/lab/prediction.ts";
import { fetchFor, workbench } from "../src/lab/workbench.ts";
import { type Beat, mostWords, spanOf } from "../src/stage/beats.ts";
import { beatBar } from "../src/page/shared/beatBar.ts";
import { incidentList } from "../src/page/front/incidentList.ts";
import type { Incident } from "../src/page/shared/incidents.ts";
import { openedOn } from "../src/page/shared/openedOn.ts";
import { runFrame } from "../src/page/shared/runFrame.ts";
import { CanvasDrawing } from "./canvasDrawing.ts";

const source = resolve(import.meta.dirname, "../src");
const cacheFolder = resolve(import.meta.dirname, "../../.cache/openings");
/** The width of the content on a screen of 1280 pixels, and on a phone of 390. */
const widths = { wide: 1100, narrow: 358 } as const;
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

/** Return the first picture as HTML, or what an earlier build kept of it. */
export async function firstPictureOf(
  engine: SimulatingEngine,
  module: Uint8Array,
  document: CaseDocument,
): Promise<string> {
  const key = createHash("sha256").update(module).update(JSON.stringify(document));
  key.update(JSON.stringify(beatsOf(document))).update(sourcesHash());
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
  for (const [name, width] of Object.entries(widths)) pictures.push(await drawn(remembering, document, name, width));
  const picture = pictures.join("\n");
  mkdirSync(cacheFolder, { recursive: true });
  writeFileSync(file, picture);
  return picture;
}

let hashed: string | undefined;

function sourcesHash(): string {
  if (hashed !== undefined) return hashed;
  const hash = createHash("sha256");
  for (const name of ["firstPicture.ts", "canvasDrawing.ts"])
    hash.update(readFileSync(join(import.meta.dirname, name)));
  for (const folder of drawnBy) {
    for (const name of readdirSync(join(source, folder), { recursive: true, encoding: "utf8" }).toSorted()) {
      if (name.endsWith(".ts")) hash.update(readFileSync(join(source, folder, name)));
    }
  }
  return (hashed = hash.digest("hex"));
}

/** @throws when a beat is too long or finds no moment. */
function check(beats: readonly Beat[], run: Result, { id }: CaseDocument): void {
  for (const beat of beats) {
    const words = beat.say.split(" ").length;
    if (words > mostWords)
      throw new Error(`web/beats/${id}.json: "${beat.say}" has ${words} words; write at most ${mostWords}`);
    if (spanOf(run, beat) === undefined) {
      throw new Error(`web/beats/${id}.json: "${beat.say}" finds no moment in the run that the page opens on`);
    }
  }
}

/** The steps of a case's explanation. */
export function beatsOf({ id }: Pick<CaseDocument, "id">): readonly Beat[] {
  const file = resolve(import.meta.dirname, `../beats/${id}.json`);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as readonly Beat[]) : [];
}

async function drawn(engine: SimulatingEngine, document: CaseDocument, name: string, width: number): Promise<string> {
  const beats = beatsOf(document);
  const close = openDocument(width);
  try {
    const doc = openedOn(document);
    await fetchFor(doc);
    await loadPlot();
    const failed: unknown[] = [];
    const bench = workbench<Result>({
      document: doc,
      ask: engine.ask,
      engine: { run: (request) => Promise.resolve(engine.run(request)) },
      name,
      hasStage: true,
      prediction: predictionOf(doc, { read: () => null, write: () => undefined }),
      listeners: { onResult: () => undefined, onState: () => undefined, onError: (error) => failed.push(error) },
    });
    const summary = html("p", { class: "variant-summary" });
    summary.textContent = doc.variants.find((variant) => variant.name === doc.default_variant)?.summary ?? "";
    const explanation = beatBar(beats, ({ from_ns, to_ns }) => bench.stage!.playSpan(from_ns, to_ns));
    const frame = runFrame(bench, {
      beats: explanation.element,
      beside: [],
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
    check(beats, run, document);
    explanation.show(run);
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

function inDocument<T>(width: number, draw: () => T): T {
  const close = openDocument(width);
  try {
    return draw();
  } finally {
    close();
  }
}
