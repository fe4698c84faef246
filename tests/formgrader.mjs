/**
 * Opens pages as an instructor does, and tells whether a learner's script ran in them.
 *
 *     node formgrader.mjs PATIENCE < ADDRESSES
 *
 * ADDRESSES is a JSON object of addresses by name. PATIENCE, in seconds, is how long a page may take. Prints a JSON
 * object: for each name whether a script ran, what else in the page could run one, and the page's text.
 */
import { readFileSync } from "node:fs";
import { launch } from "../web/test/browser/host.mjs";

const patience = Number(process.argv[2]);
const addresses = JSON.parse(readFileSync(0, "utf8"));
const chromium = await launch();
try {
  const context = await chromium.browser.newContext();
  context.setDefaultTimeout(patience * 1000);
  // Nothing is fetched from other machines; what the templates name there is not needed.
  await context.route(
    (url) => url.protocol.startsWith("http") && url.hostname !== "127.0.0.1",
    (route) => route.abort(),
  );
  const seen = {};
  for (const [name, address] of Object.entries(addresses)) {
    const page = await context.newPage();
    await page.goto(address, { waitUntil: "load" });
    await page.waitForSelector("#notebook");
    seen[name] = await page.evaluate(async () => {
      // A picture that is not there reports that a little later.
      await new Promise((resolve) => setTimeout(resolve, 300));
      const inside = [...document.querySelectorAll("#notebook *")];
      return {
        ran: window.ranByALearner === true,
        couldRun: inside
          .filter(
            (one) =>
              ["SCRIPT", "IFRAME", "OBJECT", "EMBED"].includes(one.tagName) ||
              [...one.attributes].some(
                ({ name, value }) => name.startsWith("on") || /^\s*(javascript|data:text)/i.test(value),
              ),
          )
          .map((one) => one.outerHTML),
        text: document.querySelector("#notebook").innerText,
      };
    });
    await page.close();
  }
  console.log(JSON.stringify(seen));
} finally {
  await chromium.close();
}
