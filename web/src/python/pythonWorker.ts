/**
 * Python's thread. Pyodide comes from this site (`pyodide/`), never from elsewhere; the `seeklab` wheel is unpacked beside
 * the standard library, and the engine's JavaScript module is registered under the name that the package imports.
 */
import libraryUrl from "seeklab-library?url";
import init, { call, Run } from "seeklab-engine";
import wasmUrl from "seeklab-engine-wasm?url";
import type { PyodideAPI } from "pyodide";
import { type Result, unwrap } from "../engine/api.ts";
import type { OpenRun } from "../engine/simulate.ts";
import type { ColumnEntry, Summary } from "../engine/types.ts";
import type { HandlerName, FromPython, GivenFile, ShownValue, ToPython } from "./messages.ts";
import { Outlet } from "./outlet.ts";

/** The wheel's file, as the build has named it. */
declare const wheelName: string;

const site = new URL(import.meta.env.BASE_URL, self.location.href);
const home = new URL(import.meta.env.DEV ? "/pyodide/" : "../pyodide/", import.meta.env.DEV ? site : import.meta.url);

const outlet = new Outlet({ send: (text, isError) => send({ kind: "print", text, isError }) });
const mostRepr = 100_000;
const mostHtml = 400_000;
const python = load();
python.catch((error: unknown) => send({ kind: "unloaded", why: wordsOf(error) }));

interface JsonHandler {
  answer(message: string, progress: (share: number) => void): string;
}
/** The parts of Emscripten's interface that are used; Pyodide has no types for them. */
interface FileSystem {
  chdir(path: string): void;
  analyzePath(path: string): { readonly exists: boolean };
  mkdirTree(path: string): void;
  writeFile(path: string, bytes: Uint8Array): void;
}

const handlers = new Map<HandlerName, JsonHandler>();

/** Where files of the reader lie, in the thread's own memory. */
const folder = "/given";

self.onmessage = ({ data }: MessageEvent<ToPython>) => {
  if (data.kind === "run") void run(data);
  else void ask(data);
};

async function load(): Promise<PyodideAPI> {
  // The file is not part of the bundle: it is loaded from the site when the console is opened.
  const { loadPyodide } = (await import(/* @vite-ignore */ new URL("pyodide.mjs", home).href)) as {
    loadPyodide: (options: object) => Promise<PyodideAPI>;
  };
  const [pyodide, wheel, library] = await Promise.all([
    loadPyodide({
      indexURL: home.href,
      stdout: (text: string) => outlet.write(text + "\n", false),
      stderr: (text: string) => outlet.write(text + "\n", true),
    }),
    fetchWheel(),
    fetch(libraryUrl).then((response) => response.text()),
    init({ module_or_path: wasmUrl }),
  ]);
  call("give_library", library);
  // To a folder of its own: the working folder changes when files are given, and the package is imported after that.
  const packages = pyodide.runPython("import sysconfig; sysconfig.get_path('purelib')") as string;
  pyodide.unpackArchive(wheel, "wheel", { extractDir: packages });
  // Python would look for modules in the working folder first, and a given file may be named like one.
  pyodide.runPython("import sys; sys.path[:] = [path for path in sys.path if path != '']");
  pyodide.registerJsModule("seeklab_engine", { call, Run });
  send({
    kind: "ready",
    version: pyodide.runPython("import sys; sys.version.split()[0]") as string,
    loaded: performance.getEntriesByType("resource").map(({ name }) => name),
  });
  return pyodide;
}

async function fetchWheel(): Promise<ArrayBuffer> {
  const response = await fetch(new URL(wheelName, home));
  if (!response.ok) throw new Error("The seeklab wheel is missing on this site; build the wheel before the site.");
  return response.arrayBuffer();
}

async function run({ id, code }: Extract<ToPython, { kind: "run" }>): Promise<void> {
  const pyodide = await python.catch(() => undefined);
  if (pyodide === undefined) return;
  try {
    outlet.begin();
    const value: unknown = await pyodide.runPythonAsync(code);
    outlet.end();
    send({ kind: "done", id, value: value === undefined ? null : shownOf(pyodide, value), error: null });
    if (value instanceof pyodide.ffi.PyProxy) value.destroy();
  } catch (error) {
    outlet.end();
    send({ kind: "done", id, value: null, error: wordsOf(error) });
  }
}

async function ask({ id, handler: name, message, files }: Extract<ToPython, { kind: "ask" }>): Promise<void> {
  const pyodide = await python.catch(() => undefined);
  if (pyodide === undefined) return;
  try {
    if (files !== undefined) layOut(pyodide, files);
    const handler = handlers.get(name) ?? (pyodide.pyimport(name) as { Handler: () => JsonHandler }).Handler();
    handlers.set(name, handler);
    const answer = handler.answer(message, (share) => send({ kind: "progress", id, share }));
    send({ kind: "answer", id, answer, error: null });
  } catch (error) {
    send({ kind: "answer", id, answer: null, error: wordsOf(error) });
  }
}

function layOut(pyodide: PyodideAPI, files: readonly GivenFile[]): void {
  const { FS } = pyodide as unknown as { FS: FileSystem };
  FS.chdir("/");
  if (FS.analyzePath(folder).exists) pyodide.runPython(`import shutil; shutil.rmtree("${folder}")`);
  FS.mkdirTree(folder);
  for (const { path, bytes } of files) {
    const parent = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    if (parent !== "") FS.mkdirTree(`${folder}/${parent}`);
    FS.writeFile(`${folder}/${path}`, bytes);
  }
  FS.chdir(folder);
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Return the display of a value as in a notebook's cell: its picture or table, or a run's columns for charts. */
function shownOf(pyodide: PyodideAPI, value: unknown): ShownValue {
  const builtins = pyodide.pyimport("builtins") as { repr: (value: unknown) => string };
  const whole = builtins.repr(value);
  const more = whole.length - mostRepr;
  const repr = more > 0 ? `${whole.slice(0, mostRepr)}… and ${more.toLocaleString("en")} more characters` : whole;
  if (!(value instanceof pyodide.ffi.PyProxy)) return { repr };
  const { _repr_html_, _handle } = value as { _repr_html_?: () => string; _handle?: { _run?: OpenRun } };
  const html = typeof _repr_html_ === "function" ? _repr_html_() : "";
  const run = value.type === "Result" ? _handle?._run : undefined;
  return {
    repr,
    ...(html === "" || html.length > mostHtml ? {} : { html }),
    ...(run === undefined ? {} : { run: binsOf(run) }),
  };
}

/** A run's summary, and how its latencies are distributed. */
function binsOf(run: OpenRun): Pick<Result, "summary" | "columns"> {
  const names = unwrap<ColumnEntry[]>(run.columns()).filter(({ name }) => name.startsWith("bins."));
  const columns = names.map(({ name, dtype }) => [name, dtype === "u32" ? run.u32(name) : run.f64(name)] as const);
  return { summary: unwrap<Summary>(run.summary()), columns: Object.fromEntries(columns) };
}

function send(message: FromPython): void {
  self.postMessage(message);
}
