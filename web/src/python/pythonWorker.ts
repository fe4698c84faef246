/**
 * Python's thread. Pyodide comes from this site (`pyodide/`), never from elsewhere; the `seeklab` wheel is unpacked beside
 * the standard library, and the engine's JavaScript module is registered under the name that the package imports.
 */
import libraryUrl from "seeklab-library?url";
import init, { call, Run } from "seeklab-engine";
import wasmUrl from "seeklab-engine-wasm?url";
import type { PyodideAPI } from "pyodide";
import type { FromPython, ToPython } from "./messages.ts";

const site = new URL(import.meta.env.BASE_URL, self.location.href);
const home = new URL(import.meta.env.DEV ? "/pyodide/" : "../pyodide/", import.meta.env.DEV ? site : import.meta.url);

const python = load();
python.catch(() => undefined);

self.onmessage = (event: MessageEvent<ToPython>) => void run(event.data);

async function load(): Promise<PyodideAPI> {
  // The file is not part of the bundle: it is loaded from the site when the console is opened.
  const { loadPyodide } = (await import(/* @vite-ignore */ new URL("pyodide.mjs", home).href)) as {
    loadPyodide: (options: object) => Promise<PyodideAPI>;
  };
  const [pyodide, wheel, library] = await Promise.all([
    loadPyodide({
      indexURL: home.href,
      stdout: (text: string) => send({ kind: "print", text: text + "\n", isError: false }),
      stderr: (text: string) => send({ kind: "print", text: text + "\n", isError: true }),
    }),
    fetchWheel(),
    fetch(libraryUrl).then((response) => response.text()),
    init({ module_or_path: wasmUrl }),
  ]);
  call("give_library", library);
  pyodide.unpackArchive(wheel, "wheel");
  pyodide.registerJsModule("seeklab_engine", { call, Run });
  send({ kind: "ready", version: pyodide.runPython("import sys; sys.version.split()[0]") as string });
  return pyodide;
}

async function fetchWheel(): Promise<ArrayBuffer> {
  const response = await fetch(new URL("seeklab.whl", home));
  if (!response.ok) throw new Error("The site holds no seeklab wheel; build the wheel before the site.");
  return response.arrayBuffer();
}

async function run({ id, code }: ToPython): Promise<void> {
  try {
    const pyodide = await python;
    const value: unknown = await pyodide.runPythonAsync(code);
    const builtins = pyodide.pyimport("builtins") as { repr: (value: unknown) => string };
    send({ kind: "done", id, result: value === undefined ? null : builtins.repr(value), error: null });
    if (value instanceof pyodide.ffi.PyProxy) value.destroy();
  } catch (error) {
    send({ kind: "done", id, result: null, error: error instanceof Error ? error.message : String(error) });
  }
}

function send(message: FromPython): void {
  self.postMessage(message);
}
