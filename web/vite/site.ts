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
import { join, relative, resolve } from "node:path";
import type { Plugin } from "vite";
import { keepUnits } from "../src/base/format.ts";
import type { CaseDocument, CaseEntry } from "../src/engine/types.ts";

export const webRoot = resolve(import.meta.dirname, "..");
export const enginePackage = resolve(webRoot, "../engine/wasm/pkg");

export const licenceFile = "licences.txt";

/** What the page may load: itself only. Charts carry their own style elements; the engine is WebAssembly. */
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

interface EngineModule {
  initSync(input: { module: Uint8Array }): unknown;
  call(name: string, json: string): string;
}

async function askEngine<T>(name: string, input: unknown): Promise<T> {
  const glue = join(enginePackage, "seeklab.js");
  if (!existsSync(glue)) throw new Error("engine/wasm/pkg holds no engine; run make wasm first.");
  // From its text: a file of this name outside a package would be read twice, as two kinds of module.
  const text = readFileSync(glue).toString("base64");
  const engine = (await import(`data:text/javascript;base64,${text}`)) as EngineModule;
  engine.initSync({ module: readFileSync(join(enginePackage, "seeklab_bg.wasm")) });
  engine.call("give_library", readFileSync(join(enginePackage, "library.json"), "utf8"));
  const envelope = JSON.parse(engine.call(name, JSON.stringify(input))) as { ok?: T; errors?: { message: string }[] };
  if (envelope.ok === undefined) throw new Error(envelope.errors?.map((error) => error.message).join(" "));
  return envelope.ok;
}

/** The template of a case's page, filled. */
export function fillCasePage(template: string, document: CaseDocument): string {
  const words: Record<string, string> = {
    id: document.id,
    code: document.code,
    title: document.title,
    symptom: document.symptom,
    subtitle: document.subtitle,
  };
  return template.replace(/%(id|code|title|symptom|subtitle)%/g, (_, name: string) =>
    escapeHtml(keepUnits(words[name]!)),
  );
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** Pages for the cases: `<id>.html` beside `index.html`, in the built site and from the development server. */
export function casePages(): Plugin {
  let outDir = "";
  return {
    name: "seeklab-case-pages",
    configResolved(config) {
      outDir = resolve(config.root, config.build.outDir);
    },
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        const id = /^\/([a-z0-9-]+)\.html/.exec(request.url ?? "")?.[1];
        if (id === undefined || existsSync(join(webRoot, `${id}.html`))) {
          next();
          return;
        }
        askEngine<CaseDocument>("case", { id })
          .then((document) => {
            const template = readFileSync(join(webRoot, "case.html"), "utf8");
            return server.transformIndexHtml(request.url ?? "/", fillCasePage(template, document));
          })
          .then((page) => response.setHeader("content-type", "text/html").end(page))
          .catch(next);
      });
    },
    async closeBundle() {
      const template = readFileSync(join(outDir, "case.html"), "utf8");
      for (const { id } of await askEngine<CaseEntry[]>("cases", {})) {
        const document = await askEngine<CaseDocument>("case", { id });
        writeFileSync(join(outDir, `${id}.html`), fillCasePage(template, document));
      }
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

/** Tells the browser of the engine's module and library before the page's script asks for them. */
export function preloadEngine(): Plugin {
  return {
    name: "seeklab-preload",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler: (_, { bundle }) => {
        const files = Object.keys(bundle ?? {}).filter((name) => /\.wasm$|library-[^/]*\.json$/.test(name));
        return files.map((name) => ({
          tag: "link",
          attrs: { rel: "preload", href: `./${name}`, as: "fetch", crossorigin: "anonymous" },
          injectTo: "head" as const,
        }));
      },
    },
  };
}

/** Pyodide and the `seeklab` wheel under `pyodide/`. The wheel is the newest in `dist/`, or `SEEKLAB_WHEEL`. */
export function pythonRuntime(): Plugin {
  const runtime = join(webRoot, "node_modules/pyodide");
  let outDir = "";
  return {
    name: "seeklab-python",
    configResolved(config) {
      outDir = resolve(config.root, config.build.outDir);
    },
    configureServer(server) {
      server.middlewares.use("/pyodide", (request, response, next) => {
        const name = (request.url ?? "").replace(/^\/|\?.*$/g, "");
        const path =
          name === "seeklab.whl" ? findWheel() : pyodideFiles.includes(name) ? join(runtime, name) : undefined;
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
      if (wheel === undefined) this.warn("there is no seeklab wheel in dist/: the Python console will say so");
      else cpSync(wheel, join(target, "seeklab.whl"));
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
        else this.warn("the course in the browser has not been built: links to it lead nowhere");
      },
    },
  };
}

/** The licences of what Vite does not see as code, after those of the bundled packages. */
export function licences(): Plugin {
  const fonts = ["@fontsource-variable/source-sans-3", "@fontsource-variable/source-serif-4"];
  let outDir = "";
  return {
    name: "seeklab-licences",
    configResolved(config) {
      outDir = resolve(config.root, config.build.outDir);
    },
    closeBundle() {
      const texts = fonts.map((name) => {
        const text = readFileSync(join(webRoot, "node_modules", name, "LICENSE"), "utf8");
        return `## ${name} (OFL-1.1)\n\n${text.trim()}\n`;
      });
      texts.push(
        "## pyodide (MPL-2.0)\n\nPython for the browser, unmodified; its source is at https://github.com/pyodide/pyodide.\n",
        "## JupyterLite, JupyterLab, Jupyter Widgets (BSD-3-Clause), anywidget (MIT)\n\nThe lab in `lab/`, unmodified but for " +
          "the policy of its pages; its sources are at https://github.com/jupyterlite/jupyterlite. The Python packages in " +
          "`pyodide/` carry their licences inside.\n",
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
        // Python and the lab are kept once they have been used; a new wheel is a new version all the same.
        const files = all.filter((name) => !/^(pyodide|lab)\//.test(name));
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
