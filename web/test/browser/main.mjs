/**
 * Programs on the built site in a real browser. The tests are in `pages/`.
 *
 *     node test/browser/main.mjs --fingerprints FILE [--hosts chromium,pyodide]
 *     node test/browser/main.mjs --speed [FILE] [--only WORD]      measures how quickly pages answer; FILE gets it as JSON
 *     node test/browser/main.mjs --layout [FILE] [--only WORD]     measures what the first screen holds and how far it jumps
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fingerprints } from "./fingerprints.mjs";
import { site } from "./host.mjs";
import { measureLayout } from "./layout.mjs";
import { measurePages } from "./speed.mjs";

if (!existsSync(join(site, "index.html"))) {
  console.error("There is no built site; run npm run build first.");
  process.exit(2);
}

const args = process.argv.slice(2);
const option = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);

const fileOf = (name) => (option(name)?.startsWith("--") === true ? undefined : option(name));

const file = option("--fingerprints");
if (file !== undefined) {
  const hosts = (option("--hosts") ?? "chromium,pyodide").split(",");
  console.log(JSON.stringify(await fingerprints(file, hosts)));
} else if (args.includes("--speed")) {
  await measurePages(option("--only") ?? "", fileOf("--speed"));
} else if (args.includes("--layout")) {
  await measureLayout(option("--only") ?? "", fileOf("--layout"));
} else {
  console.error("Pass --fingerprints FILE, --speed or --layout; npm run test:browser runs the tests.");
  process.exit(2);
}
