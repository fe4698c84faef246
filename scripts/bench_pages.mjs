// The run that each incident's page opens on, in V8: its CPU time in milliseconds by the case's name, the shortest of three.
// Usage: node bench_pages.mjs FOLDER_OF_SEEKLAB_JS

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const folder = resolve(process.argv[2]);
const engine = await import(pathToFileURL(join(folder, "seeklab.js")).href);
await engine.default({ module_or_path: readFileSync(join(folder, "seeklab_bg.wasm")) });
engine.call("give_library", readFileSync(join(folder, "library.json"), "utf8"));

function cpuMs(input) {
  const before = process.cpuUsage();
  const run = engine.Run.open(input);
  for (let progress = 0; progress >= 0 && progress < 1; ) progress = run.step(2 ** 32 - 1);
  const summary = JSON.parse(run.summary());
  run.free();
  if (!summary.ok) throw new Error(JSON.stringify(summary));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const found = {};
for (const { id } of JSON.parse(engine.call("cases", "{}")).ok) {
  const { opens, default_variant } = JSON.parse(engine.call("case", JSON.stringify({ id }))).ok;
  const input = JSON.stringify({ case: id, variant: opens ?? default_variant });
  found[id] = Math.min(cpuMs(input), cpuMs(input), cpuMs(input));
}
console.log(JSON.stringify(found));
