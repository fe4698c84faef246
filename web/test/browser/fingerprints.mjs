/**
 * The fingerprints of given runs in Chromium and in Pyodide, for the test that all hosts agree.
 *
 * The file holds requests by name: `{"a name": {"case": ..., "variant": ..., "seed": ...}}`.
 * In Pyodide a request may also hold a `throttle`, the source of a Python function `delay_ns` that throttles its scenario, or a
 * `shard_map`, that of a function `owner`.
 * Prints `{"chromium": {"a name": "..."}, "pyodide": {...}}`.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { launch, serve, site } from "./host.mjs";

export async function fingerprints(file, hosts) {
  const requests = JSON.parse(readFileSync(file, "utf8"));
  const wheelName = readdirSync(join(site, "pyodide")).find((name) => /^seeklab-.*\.whl$/.test(name));
  const server = await serve();
  const { browser, close } = await launch();
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(0);
    await page.goto(`${server.address}/blank.html`);
    const found = {};
    if (hosts.includes("chromium")) found.chromium = await page.evaluate(inChromium, requests);
    if (hosts.includes("pyodide")) found.pyodide = await page.evaluate(inPyodide, { requests, wheelName });
    return found;
  } finally {
    await close();
    server.close();
  }
}

async function inChromium(requests) {
  const engine = await import("/engine/seeklab.js");
  await engine.default({ module_or_path: "/engine/seeklab_bg.wasm" });
  engine.call("give_library", await (await fetch("/engine/library.json")).text());
  const found = {};
  for (const [name, request] of Object.entries(requests)) {
    const run = engine.Run.open(JSON.stringify(request));
    for (let progress = 0; progress >= 0 && progress < 1;) progress = run.step(1_000_000);
    const envelope = JSON.parse(run.summary());
    run.free();
    found[name] = envelope.ok?.fingerprint ?? JSON.stringify(envelope.errors);
  }
  return found;
}

async function inPyodide({ requests, wheelName }) {
  const engine = await import("/engine/seeklab.js");
  await engine.default({ module_or_path: "/engine/seeklab_bg.wasm" });
  engine.call("give_library", await (await fetch("/engine/library.json")).text());
  const { loadPyodide } = await import("/pyodide/pyodide.mjs");
  const pyodide = await loadPyodide({ indexURL: "/pyodide/" });
  const wheel = await fetch(`/pyodide/${wheelName}`);
  if (!wheel.ok) throw new Error(`${wheel.url}: HTTP ${wheel.status}`);
  pyodide.unpackArchive(await wheel.arrayBuffer(), "wheel");
  pyodide.registerJsModule("seeklab_engine", { call: engine.call, Run: engine.Run });
  pyodide.globals.set("text", JSON.stringify(requests));
  return JSON.parse(
    pyodide.runPython(`
import json, seeklab

def fingerprint(request):
    if "throttle" in request:
        place = {}
        exec(request["throttle"], place)
        return seeklab.run_throttle(request["scenario"], place["delay_ns"], seed=request["seed"]).fingerprint
    if "shard_map" in request:
        place = {}
        exec(request["shard_map"], place)
        return seeklab.run_shard_map(request["scenario"], place["owner"], seed=request["seed"]).fingerprint
    if "scenario" in request:
        return seeklab.run(request["scenario"], seed=request.get("seed", 1)).fingerprint
    case = seeklab.case(request["case"]).with_(request.get("set", {}))
    return case.run(request.get("variant"), seed=request.get("seed", 1)).fingerprint

json.dumps({name: fingerprint(request) for name, request in json.loads(text).items()})
`),
  );
}
