/**
 * Runs Python programs in the self-hosted Pyodide, with the engine's own module and the `seeklab` package in it.
 *
 *     node pyodide.mjs PACKAGE.zip [--no-page]
 *
 * Each line of the input is a program as a JSON string, each line of the output its answer: `{"value": ...}`, the value of the
 * program's last line, a string, or `{"error": ...}`. Every program has variables of its own. Nothing is asked of any network.
 * Without a page nobody hands the engine over, as in JupyterLite, and the package loads its own.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { loadPyodide } from "../web/node_modules/pyodide/pyodide.mjs";

const glue = resolve(import.meta.dirname, "../engine/wasm/pkg");

const [, , archive, option] = process.argv;
// What programs print goes beside the answers.
const pyodide = await loadPyodide({ stdout: console.error });
pyodide.unpackArchive(new Uint8Array(readFileSync(archive)), "zip");
if (option !== "--no-page") pyodide.registerJsModule("seeklab_engine", await pageEngine());
for await (const line of createInterface({ input: process.stdin })) {
  const globals = pyodide.toPy({ __name__: "__main__" });
  try {
    console.log(JSON.stringify({ value: pyodide.runPython(JSON.parse(line), { globals }) }));
  } catch (error) {
    // The message alone: a stack would print Pyodide's own source, which is one long line.
    console.log(JSON.stringify({ error: error.message }));
  } finally {
    globals.destroy();
  }
}

/** What a page of ours hands to Python. */
async function pageEngine() {
  // From its text: a file of this name outside a package would be read twice, as two kinds of module.
  const source = readFileSync(join(glue, "seeklab.js")).toString("base64");
  const engine = await import(`data:text/javascript;base64,${source}`);
  engine.initSync({ module: readFileSync(join(glue, "seeklab_bg.wasm")) });
  engine.call("give_library", readFileSync(join(glue, "library.json"), "utf8"));
  return { call: engine.call, Run: engine.Run };
}
