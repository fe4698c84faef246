/**
 * The parts of the site that Vite does not build by itself: a page for each case, Python's runtime and the wheel, the service
 * worker. Pages are made from the case documents that the engine is given, so no case is listed twice.
 */
import { createHash } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";
import { keepUnits } from "../src/base/format.ts";
import type { AskEngine, Result } from "../src/engine/api.ts";
import { open, readResult, scenarioOf, type Engine } from "../src/engine/simulate.ts";
import type { CaseDocument, CaseEntry, RunRequest } from "../src/engine/types.ts";
import { cardFile, type Incident, pictureFile } from "../src/page/shared/incidents.ts";
import type { Explanation } from "../src/stage/beats.ts";
import { around, familyList } from "./around.ts";
import ticket from "../src/page/oncall/firstLook.json" with { type: "json" };
import { clipOf } from "./clip.ts";
import { escapeHtml } from "./escape.ts";
import {
  dotsOf,
  explained,
  explanationOf,
  firstPictureOf,
  listOf,
  sceneIn,
  type SimulatingEngine,
  theme,
} from "./firstPicture.ts";
import { openingOf, type Opening } from "./openingRuns.ts";
import { card, cardOf } from "./picture.ts";
import { address as siteAddress } from "./project.ts";

export const webRoot = resolve(import.meta.dirname, "..");
export const enginePackage = resolve(webRoot, "../engine/wasm/pkg");

export const licenceFile = "licences.txt";

/** Resources that the page may load: only its own. Charts carry their own style elements; the engine is WebAssembly. */
const contentSecurityPolicy = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "worker-src 'self'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const pyodideFiles = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"];

interface EngineModule extends Engine {
  initSync(input: { module: Uint8Array }): unknown;
}

interface SiteEngine {
  readonly engine: Engine;
  readonly module: Uint8Array;
  // The caller names the type it asked the engine for: JSON carries none.
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters
  readonly ask: <T>(name: string, input: unknown) => T;
}

/** The cases of the front page: its incident, and the one that the designer's tests belong to. */
const frontCases = "incast+eleven-metrics";

let started: Promise<SiteEngine> | undefined;

/** The engine that the site ships, for what is made when it is built. */
function siteEngine(): Promise<SiteEngine> {
  return (started ??= startEngine());
}

async function startEngine(): Promise<SiteEngine> {
  const glue = join(enginePackage, "seeklab.js");
  if (!existsSync(glue)) throw new Error("engine/wasm/pkg contains no engine; run make wasm first.");
  // From its text: a file of this name outside a package would be read twice, as two kinds of module.
  const text = readFileSync(glue).toString("base64");
  const engine = (await import(`data:text/javascript;base64,${text}`)) as EngineModule;
  const module = readFileSync(join(enginePackage, "seeklab_bg.wasm"));
  engine.initSync({ module });
  engine.call("give_library", readFileSync(libraryFile, "utf8"));
  return {
    engine,
    module,
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters
    ask: <T>(name: string, input: unknown): T => {
      const envelope = JSON.parse(engine.call(name, JSON.stringify(input))) as {
        ok?: T;
        errors?: { message: string }[];
      };
      if (envelope.ok === undefined) throw new Error(envelope.errors?.map((error) => error.message).join(" "));
      return envelope.ok;
    },
  };
}

async function allCases(): Promise<CaseDocument[]> {
  const { ask } = await siteEngine();
  return ask<CaseEntry[]>("cases", {}).map(({ id }) => ask<CaseDocument>("case", { id }));
}

/** The run that a case's page opens on. */
async function opening(document: CaseDocument): Promise<Opening> {
  const { engine, module } = await siteEngine();
  return openingOf(engine, module, document);
}

/** What the card says and shows: the scene with its first step, or the picture of the run with its scale. */
async function cardParts(document: CaseDocument): Promise<Parameters<typeof cardOf>> {
  const { picture, caption } = await opening(document);
  const scene = sceneIn(await firstPicture(document));
  if (scene === undefined) return [{ ...document, caption }, picture];
  return [{ ...document, caption: explanationOf(document).steps[0]?.say ?? caption }, scene];
}

/** The frame of that run, as the page's file holds it. */
async function firstPicture(document: CaseDocument): Promise<string> {
  const { module } = await siteEngine();
  return firstPictureOf(await simulating(), module, document);
}

/** The clip of a page, compressed whatever the server does, and the name of its file, which changes with what is in it. */
async function clip(document: CaseDocument): Promise<{ readonly name: string; readonly packed: Buffer } | undefined> {
  const { module } = await siteEngine();
  const text = await clipOf(await simulating(), module, document);
  if (text === undefined) return undefined;
  return {
    name: `clips/${document.id}-${createHash("sha256").update(text).digest("hex").slice(0, 8)}.clip`,
    packed: gzipSync(text),
  };
}

async function explanationFor(document: CaseDocument): Promise<Explanation> {
  const { module } = await siteEngine();
  return explained(await simulating(), module, document);
}

async function simulating(): Promise<SimulatingEngine> {
  const { engine, ask } = await siteEngine();
  const run = (request: RunRequest): Result => {
    const opened = open(engine, request);
    while (opened.step(eventsAtOnce) < 1);
    const result = readResult(opened, scenarioOf(engine, request));
    opened.free();
    return result;
  };
  const asking = (name: string, input: unknown) => Promise.resolve().then(() => ask(name, input));
  return { ask: asking as AskEngine, run };
}

async function incidentOf(document: CaseDocument): Promise<Incident> {
  const { id, code, title, symptom, family, source, notebook, exercises = [] } = document;
  const { place, caption } = await opening(document);
  return {
    id,
    code,
    title,
    symptom,
    family,
    year: source.year,
    source: source.name,
    place,
    caption,
    ...(notebook === undefined ? {} : { notebook }),
    exercises,
  };
}

const eventsAtOnce = 1_000_000;

const libraryFile = join(enginePackage, "library.json");

interface WholeLibrary {
  readonly presets: readonly { readonly source?: string }[];
  readonly cases: readonly {
    readonly document: { readonly id: string; readonly facts?: readonly { readonly id: string }[] };
  }[];
  readonly ranges: Readonly<Record<string, unknown>>;
}

/**
 * The library with one case, several with a plus between their names, or none, for a page. Python plays shifts with the whole
 * library, so a page gets no `shift`. Nor does it get the sources of presets, which no page shows.
 */
export function libraryOf(id: string, text = readFileSync(libraryFile, "utf8")): string {
  const whole = JSON.parse(text) as WholeLibrary;
  const wanted = id === "" ? [] : id.split("+");
  const cases = whole.cases.filter(({ document }) => wanted.includes(document.id));
  if (cases.length < wanted.length) throw new Error(`There is no case ${id}.`);
  const facts = new Set(cases.flatMap(({ document }) => (document.facts ?? []).map((fact) => fact.id)));
  const ranges = Object.fromEntries(Object.entries(whole.ranges).filter(([name]) => facts.has(name)));
  const presets = whole.presets.map((preset) => ({ ...preset, source: undefined }));
  return JSON.stringify({ ...whole, presets, cases, ranges }, (name, value: unknown) =>
    name === "shift" ? undefined : value,
  );
}

/** Its file's name, which changes with what is in it. */
function libraryName(id: string): string {
  const hash = createHash("sha256").update(libraryOf(id)).digest("hex").slice(0, 8);
  return `libraries/${id === "" ? "presets" : id}-${hash}.json`;
}

/**
 * A library for each page in the place of one with all cases. A page says which it needs: `<meta name="library" content="case:" />`,
 * with a case's name after the colon or with none.
 */
export function libraries(): Plugin {
  let outDir = "";
  return {
    name: "seeklab-libraries",
    configResolved(config) {
      outDir = resolve(config.root, config.build.outDir);
    },
    transformIndexHtml: {
      order: "pre",
      handler: (page) =>
        page.replace(
          /content="case:([a-z0-9+-]*)"/,
          (_, id: string) => `content="${libraryName(id)}" data-case="${id}"`,
        ),
    },
    configureServer(server) {
      server.middlewares.use("/libraries", (request, response, next) => {
        const name = /^\/([a-z0-9+-]+)-[0-9a-f]{8}\.json$/.exec(request.url ?? "")?.[1];
        if (name === undefined) next();
        else response.setHeader("content-type", "application/json").end(libraryOf(name === "presets" ? "" : name));
      });
    },
    async closeBundle() {
      mkdirSync(join(outDir, "libraries"), { recursive: true });
      for (const id of ["", frontCases, ...(await allCases()).map((document) => document.id)]) {
        writeFileSync(join(outDir, libraryName(id)), libraryOf(id));
      }
    },
  };
}

/** Links from a case's page to others, and its metadata for links to it. */
export interface Surroundings {
  /** All cases, in the order of pages and lists. */
  readonly cases: readonly Pick<CaseDocument, "id" | "code" | "title" | "symptom" | "family">[];
  /** Caption of the picture on its card. */
  readonly caption: string;
  readonly library: string;
  /** Where the site will be, ending with a slash: cards need whole addresses. */
  readonly address: string;
  /** The frame of the opening run, and what it is painted with. */
  readonly first: { readonly picture: string; readonly style: string; readonly patterns: string };
  readonly explanation: Explanation;
  /** The file of its clip. */
  readonly clip?: string | undefined;
}

/** What a page's head says of its clip. The browser is told before the page's script asks for it. */
function clipLinks(name: string | undefined): string {
  if (name === undefined) return "";
  return `  <meta name="clip" content="${name}" />\n    <link rel="preload" href="./${name}" as="fetch" crossorigin="anonymous" />\n  `;
}

/** The front page with the first picture of its incident, and the list of all. */
async function fillFrontPage(page: string, cases: readonly CaseDocument[]): Promise<string> {
  const id = /name="library" content="(?:case:|libraries\/)([a-z0-9-]+?)(?:\+|-[0-9a-f]{8}\.json|")/.exec(page)?.[1];
  const document = cases.find((each) => each.id === id);
  if (document === undefined) throw new Error(`index.html: there is no case "${id ?? ""}" to show`);
  const painted = theme();
  const beats = beatsScript(await explanationFor(document));
  const picture = `${painted.patterns}${beats}${await firstPicture(document)}`;
  const list = listOf(await Promise.all(cases.map(incidentOf)));
  // The bundler does not know the file, which is written after it has run.
  const links = clipLinks((await clip(document))?.name).replace("<link ", "<link vite-ignore ");
  return page
    .replace("</head>", () => `${links}  <style>${painted.style}</style>\n  </head>`)
    .replace("<!--front-picture-->", () => picture)
    .replace("<!--incident-list-->", () => list)
    .replace("<!--fact-dots-->", () => dotsOf(cases))
    .replace("<!--ticket-->", () => escapeHtml(ticket.opened.ticket));
}

/** The first sentence of a text in Markdown, without its marks. */
function firstSentence(text: string): string {
  return /^.*?[.](?=\s|$)/s.exec(text.trim())?.[0].replace(/[`*]/g, "").replace(/\s+/g, " ") ?? "";
}

/** The explanation's steps, as data in the page's file. */
function beatsScript(explanation: Explanation): string {
  const text = JSON.stringify(explanation).replaceAll("<", "\\u003c");
  return `<script type="application/json" id="beats">${text}</script>`;
}

/** The template of a case's page, filled. */
export function fillCasePage(template: string, document: CaseDocument, surroundings: Surroundings): string {
  const { cases, caption, library, address, first, explanation, clip } = surroundings;
  const words: Record<string, string> = {
    id: document.id,
    code: document.code,
    title: document.title,
    symptom: document.symptom,
    view: document.view,
    question: document.ask.question.replaceAll("`", ""),
    setting: `${document.source.year} · ${firstSentence(document.story)}`,
    library,
    card: `${address}${cardFile(document.id)}`,
    cardWidth: String(card.width),
    cardHeight: String(card.height),
    caption,
  };
  return template
    .replace(
      /%(id|code|view|title|symptom|question|setting|library|card|cardWidth|cardHeight|caption)%/g,
      (_, name: string) => escapeHtml(keepUnits(words[name]!)),
    )
    .replace("</head>", () => `${clipLinks(clip)}  <style>${first.style}</style>\n  </head>`)
    .replace("<!--first-picture-->", () => first.picture)
    .replace("<!--patterns-->", () => `${first.patterns}${beatsScript(explanation)}`)
    .replace(
      '<footer class="site">',
      () => `${around(cases, document.id)}\n    ${familyList(cases, document.id)}\n    <footer class="site">`,
    );
}

/**
 * Pages for the cases: `<id>.html` beside `index.html`, in the built site and from the development server; beside them the list of
 * incidents, the picture of each one's run, and its card.
 */
export function casePages(): Plugin {
  let outDir = "";
  const address = siteAddress ?? "./";
  const fill = async (template: string, document: CaseDocument, cases: readonly CaseDocument[]) =>
    fillCasePage(template, document, {
      cases,
      caption: (await opening(document)).caption,
      library: libraryName(document.id),
      address,
      first: { ...theme(), picture: await firstPicture(document) },
      explanation: await explanationFor(document),
      clip: (await clip(document))?.name,
    });
  return {
    name: "seeklab-case-pages",
    configResolved(config) {
      outDir = resolve(config.root, config.build.outDir);
    },
    transformIndexHtml: {
      order: "pre",
      handler: async (page) => {
        const withCards = page.replace(/%card:([a-z0-9-]+)%/g, (_, id: string) => `${address}${cardFile(id)}`);
        return withCards.includes("<!--front-picture-->") ? fillFrontPage(withCards, await allCases()) : withCards;
      },
    },
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        const path = (request.url ?? "").replace(/[?#].*$/, "");
        const [, kind, name] =
          /^\/(pictures\/|cards\/|clips\/|)([a-z0-9-]+?)(?:\.(?:html|svg|png)|-[0-9a-f]{8}\.clip)$/.exec(path) ?? [];
        const serve = async () => {
          const cases = await allCases();
          if (path === "/incidents.json") {
            response.setHeader("content-type", "application/json");
            return JSON.stringify(await Promise.all(cases.map(incidentOf)));
          }
          const document = cases.find(({ id }) => id === name);
          if (document === undefined) return undefined;
          if (kind === "clips/") {
            response.setHeader("content-type", "application/octet-stream");
            return (await clip(document))?.packed;
          }
          const { picture } = await opening(document);
          if (kind === "cards/") {
            response.setHeader("content-type", "image/png");
            return cardOf(...(await cardParts(document)));
          }
          if (kind === "pictures/") {
            response.setHeader("content-type", "image/svg+xml");
            return picture;
          }
          if (existsSync(join(webRoot, `${document.id}.html`))) return undefined;
          response.setHeader("content-type", "text/html");
          const template = readFileSync(join(webRoot, "case.html"), "utf8");
          return server.transformIndexHtml(request.url ?? "/", await fill(template, document, cases));
        };
        if (name === undefined && path !== "/incidents.json") {
          next();
          return;
        }
        serve()
          .then((body) => (body === undefined ? next() : response.end(body)))
          .catch(next);
      });
    },
    async closeBundle() {
      const template = readFileSync(join(outDir, "case.html"), "utf8");
      const cases = await allCases();
      for (const folder of ["pictures", "cards", "clips"]) mkdirSync(join(outDir, folder), { recursive: true });
      for (const document of cases) {
        const { picture } = await opening(document);
        writeFileSync(join(outDir, `${document.id}.html`), await fill(template, document, cases));
        writeFileSync(join(outDir, pictureFile(document.id)), picture);
        const stored = await clip(document);
        if (stored !== undefined) writeFileSync(join(outDir, stored.name), stored.packed);
        writeFileSync(join(outDir, cardFile(document.id)), cardOf(...(await cardParts(document))));
      }
      writeFileSync(join(outDir, "incidents.json"), JSON.stringify(await Promise.all(cases.map(incidentOf))));
      rmSync(join(outDir, "case.html"));
    },
  };
}

/** The policy that keeps every request on the site's own origin. The development server needs inline scripts. */
export function policy(): Plugin {
  return {
    name: "seeklab-policy",
    apply: "build",
    transformIndexHtml: () => [
      {
        tag: "meta",
        attrs: { "http-equiv": "Content-Security-Policy", content: contentSecurityPolicy },
        injectTo: "head-prepend",
      },
    ],
  };
}

/**
 * Tells the browser of the fonts, and of the library, before the page's script asks for them. The engine's module waits for the first
 * paint.
 */
export function preloadFiles(): Plugin {
  return {
    name: "seeklab-preload",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler: (page, { bundle }) => {
        const library = /<meta name="library" content="([^"]+)"/.exec(page)?.[1];
        const files = library === undefined ? [] : [library];
        const fonts = Object.keys(bundle ?? {}).filter((name) => name.endsWith(".woff2"));
        const preload = (name: string, as: string) => ({
          tag: "link",
          attrs: { rel: "preload", href: `./${name}`, as, crossorigin: "anonymous" },
          injectTo: "head" as const,
        });
        return [...fonts.map((name) => preload(name, "font")), ...files.map((name) => preload(name, "fetch"))];
      },
    },
  };
}

/** Return the size of the console's downloads besides the page's, in bytes, uncompressed and compressed. */
function sizeOfPython(): { bytes: number; gzip_bytes: number } {
  const wheel = findWheel();
  const runtime = join(webRoot, "node_modules/pyodide");
  const files = [
    ...pyodideFiles.map((name) => join(runtime, name)),
    libraryFile,
    ...(wheel === undefined ? [] : [wheel]),
  ];
  const contents = files.map((name) => readFileSync(name));
  return {
    bytes: contents.reduce((sum, content) => sum + content.length, 0),
    gzip_bytes: contents.reduce((sum, content) => sum + gzipSync(content).length, 0),
  };
}

/** Pyodide and the `seeklab` wheel under `pyodide/`, where the course's lab finds it too. The wheel is the newest in `dist/`, or `SEEKLAB_WHEEL`. */
export function pythonRuntime(): Plugin {
  const runtime = join(webRoot, "node_modules/pyodide");
  let outDir = "";
  return {
    name: "seeklab-python",
    config: () => ({
      define: {
        pythonSize: JSON.stringify(sizeOfPython()),
        wheelName: JSON.stringify(basename(findWheel() ?? "seeklab.whl")),
      },
    }),
    configResolved(config) {
      outDir = resolve(config.root, config.build.outDir);
    },
    configureServer(server) {
      server.middlewares.use("/pyodide", (request, response, next) => {
        const name = (request.url ?? "").replace(/^\/|\?.*$/g, "");
        const path = name.endsWith(".whl")
          ? findWheel()
          : pyodideFiles.includes(name)
            ? join(runtime, name)
            : undefined;
        if (path === undefined) {
          next();
          return;
        }
        response.setHeader("content-type", mimeType(name));
        response.end(readFileSync(path));
      });
    },
    closeBundle() {
      const target = join(outDir, "pyodide");
      mkdirSync(target, { recursive: true });
      for (const name of pyodideFiles) cpSync(join(runtime, name), join(target, name));
      const wheel = findWheel();
      if (wheel === undefined)
        this.warn("there is no seeklab wheel in dist/, so the Python console will report an error");
      else cpSync(wheel, join(target, basename(wheel)));
    },
  };
}

function findWheel(): string | undefined {
  const chosen = process.env.SEEKLAB_WHEEL;
  if (chosen !== undefined) return chosen;
  const folder = resolve(webRoot, "../dist");
  if (!existsSync(folder)) return undefined;
  const built = readdirSync(folder)
    .filter((name) => /^seeklab-.*\.whl$/.test(name))
    .map((name) => join(folder, name));
  return built.toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)[0];
}

function mimeType(name: string): string {
  if (name.endsWith(".mjs")) return "text/javascript";
  if (name.endsWith(".wasm")) return "application/wasm";
  return name.endsWith(".json") ? "application/json" : "application/zip";
}

/**
 * The course in the browser (scripts/browser_lab.py) laid over the site: `lab/`, and in `pyodide/` what Python imports there,
 * with a lock file that takes the place of the runtime's own.
 */
export function browserLab(): Plugin {
  const built = resolve(webRoot, "../.cache/browser-lab/site");
  let outDir = "";
  return {
    name: "seeklab-browser-lab",
    configResolved(config) {
      outDir = resolve(config.root, config.build.outDir);
    },
    closeBundle: {
      sequential: true,
      order: null,
      handler() {
        if (existsSync(built)) cpSync(built, outDir, { recursive: true });
        else this.warn("the course in the browser is not built, so links to it are broken");
      },
    },
  };
}

/** The licences of what Vite does not see as code, after those of the bundled packages. */
export function licences(): Plugin {
  const fonts = ["@fontsource-variable/source-sans-3", "@fontsource-variable/source-serif-4"];
  const crates = resolve(webRoot, "../engine/python/seeklab/_engine/licences.txt");
  let outDir = "";
  return {
    name: "seeklab-licences",
    configResolved(config) {
      outDir = resolve(config.root, config.build.outDir);
    },
    closeBundle() {
      const own = (name: string) => readFileSync(join(webRoot, "licences", `${name}.txt`), "utf8").trim();
      const texts = fonts.map((name) => {
        const text = readFileSync(join(webRoot, "node_modules", name, "LICENSE"), "utf8");
        return `## ${name} (OFL-1.1)\n\nCut to the characters and weights that the pages use.\n\n${text.trim()}\n`;
      });
      texts.push(
        readFileSync(crates, "utf8"),
        "# Licences of Python in the browser\n",
        `## Pyodide (MPL-2.0)\n\nUnmodified. Its source is at https://github.com/pyodide/pyodide.\n\n${own("mpl")}\n`,
        `## Python (PSF-2.0)\n\n${own("python")}\n`,
        `${own("pyodide-libraries")}\n`,
        "# Licences of the lab\n",
        "JupyterLite, JupyterLab and Jupyter Widgets (BSD-3-Clause), anywidget (MIT). Only the policy of the pages is changed. " +
          "Their sources are at https://github.com/jupyterlite/jupyterlite. The files `third-party-licenses.json` in `lab/` have " +
          "the licences of the packages in their bundles. The Python packages in `pyodide/` contain their licences.\n",
      );
      appendFileSync(join(outDir, licenceFile), `\n${texts.join("\n")}`);
    },
  };
}

/** The service worker with the list of files it keeps. Its version is a hash of them: a new build is a new cache. */
export function serviceWorker(): Plugin {
  let outDir = "";
  return {
    name: "seeklab-service-worker",
    configResolved(config) {
      outDir = resolve(config.root, config.build.outDir);
    },
    closeBundle: {
      order: "post",
      sequential: true,
      handler() {
        const all = filesOf(outDir).filter((name) => name !== "service-worker.js");
        // Python, the lab, the documentation and pages of notebooks are kept once they have been used; a new wheel is a new version all the
        // same. Cards and the feed are for other sites, the library with all cases for Python; a clip is for those who wait for the engine.
        const files = all.filter(
          (name) =>
            !/^(pyodide|lab|cards|clips|docs)\/|^(sitemap\.xml|feed\.xml|robots\.txt|llms\.txt)$|^\d\d-[^/]*\.html$|\/library-[^/]*\.json$/.test(
              name,
            ),
        );
        const hash = createHash("sha256");
        for (const name of all) hash.update(name).update(readFileSync(join(outDir, name)));
        const template = readFileSync(join(webRoot, "src/serviceWorker.js"), "utf8");
        writeFileSync(
          join(outDir, "service-worker.js"),
          template
            .replace("%version%", hash.digest("hex").slice(0, 16))
            .replace('["%files%"]', JSON.stringify(["./", ...files])),
        );
      },
    },
  };
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}
