// One run in headless Chromium, on a page of its own. The mirror of seeklab-bench and of bench_wasmtime.py.
// Usage: node bench_chromium.mjs FOLDER_OF_SEEKLAB_JS FILE.json

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { launch } from "../web/test/browser/host.mjs";

const [glueFolder, file] = process.argv.slice(2);
const { browser, close } = await launch();
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(0);
  const row = await page.evaluate(measure, {
    glue: readFileSync(join(glueFolder, "seeklab.js"), "utf8"),
    library: readFileSync(join(glueFolder, "library.json"), "utf8"),
    engine: readFileSync(join(glueFolder, "seeklab_bg.wasm")).toString("base64"),
    input: readFileSync(file, "utf8"),
  });
  console.log(JSON.stringify(row));
} finally {
  await close();
}

async function measure({ glue, library, engine, input }) {
  const repeatedForMs = 3000; // as in seeklab-bench: repeats go on for so long, and the fastest counts
  const module = await import(URL.createObjectURL(new Blob([glue], { type: "text/javascript" })));
  await module.default({ module_or_path: Uint8Array.from(atob(engine), (letter) => letter.charCodeAt(0)) });
  module.call("give_library", library);
  let fastestMs = Infinity;
  let summary;
  for (const begun = performance.now(); performance.now() - begun < repeatedForMs; ) {
    const start = performance.now();
    const run = module.Run.open(input);
    for (let progress = 0; progress >= 0 && progress < 1; ) progress = run.step(2 ** 32 - 1);
    const wallMs = performance.now() - start;
    const envelope = JSON.parse(run.summary());
    run.free();
    if (!envelope.ok) throw new Error(JSON.stringify(envelope));
    summary = envelope.ok;
    fastestMs = Math.min(fastestMs, wallMs);
  }
  const requests = Object.entries(summary.metrics)
    .filter(([name]) => name.endsWith(".read_ios") || name.endsWith(".write_ios"))
    .reduce((sum, [, value]) => sum + value, 0);
  return { wall_s: fastestMs / 1000, events: summary.events, requests, fingerprint: summary.fingerprint };
}
