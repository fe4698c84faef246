/**
 * The built site in a real browser.
 *
 *     node test/browser/main.mjs [--only WORD] [--timed | --untimed]
 *                                  all tests, or those with the word in their name; those that measure time, or the others
 *     node test/browser/main.mjs --fingerprints FILE [--hosts chromium,pyodide]
 *     node test/browser/main.mjs --speed [FILE] [--only WORD]      measures how quickly pages answer; FILE gets it as JSON
 *
 * The last line is "N passed, N failed"; the exit code is 1 when a test failed.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fingerprints } from "./fingerprints.mjs";
import { launch, serve, serveText, site } from "./host.mjs";
import { measurePages } from "./speed.mjs";
import { tests } from "./tests.mjs";

if (!existsSync(join(site, "index.html"))) {
  console.error("There is no built site; run npm run build first.");
  process.exit(2);
}

const args = process.argv.slice(2);
const option = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);

const file = option("--fingerprints");
if (file !== undefined) {
  const hosts = (option("--hosts") ?? "chromium,pyodide").split(",");
  console.log(JSON.stringify(await fingerprints(file, hosts)));
} else if (args.includes("--speed")) {
  const named = option("--speed");
  await measurePages(option("--only") ?? "", named?.startsWith("--") === true ? undefined : named);
} else {
  const chosen = Object.entries(tests).filter(
    ([name, test]) =>
      name.includes(option("--only") ?? "") && !args.includes(test.isTimed === true ? "--untimed" : "--timed"),
  );
  process.exitCode = await runAll(chosen);
}

async function runAll(chosen) {
  const server = await serve();
  const { browser, close } = await launch();
  let [passed, failed] = [0, 0];
  try {
    for (const [name, test] of chosen) {
      const foreign = [];
      const errors = [];
      const contexts = [];
      const open = async (path, options = {}) => {
        const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
        contexts.push(context);
        context.on("request", (request) => {
          const url = request.url();
          if (!own.some((address) => url.startsWith(address)) && !/^(data|blob):/.test(url)) foreign.push(url);
        });
        const page = await context.newPage();
        page.setDefaultTimeout(20_000);
        page.on("pageerror", (error) => errors.push(error.message));
        await page.goto(new URL(path, server.address).href);
        return page;
      };
      const own = [server.address];
      const others = [];
      /** A page of another origin, which may show ours in a frame. */
      const foreignPage = async (text) => {
        const other = await serveText(text);
        others.push(other);
        own.push(other.address);
        return `${other.address}/`;
      };
      const begun = performance.now();
      try {
        const note = await test({ open, address: server.address, foreign: foreignPage });
        if (foreign.length > 0) throw new Error(`requests left the site's origin: ${foreign.join(", ")}`);
        if (errors.length > 0) throw new Error(`errors on the page: ${errors.join("; ")}`);
        passed += 1;
        console.log(`passed  ${name} (${seconds(begun)})${note === undefined ? "" : `: ${note}`}`);
      } catch (error) {
        failed += 1;
        // A test that visits many pages closes each before the next.
        const open = contexts.flatMap((context) => context.pages()).map((page) => new URL(page.url()).pathname);
        const told = [...error.message.split("\n").slice(0, 12), `open then: ${open.join(", ") || "no page"}`];
        console.log(`FAILED  ${name} (${seconds(begun)})\n        ${told.join("\n        ")}`);
      } finally {
        for (const context of contexts) await context.close();
        for (const other of others) other.close();
      }
    }
  } finally {
    await close();
    server.close();
  }
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

function seconds(begun) {
  return `${((performance.now() - begun) / 1000).toFixed(1)} s`;
}
