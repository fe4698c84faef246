import assert from "node:assert/strict";
import { note, test } from "../fixtures.mjs";

test("in a foreign page's frame a whole page shows nothing but a way out", async ({ open, address, foreign }) => {
  const page = await open(
    await foreign(`<!doctype html><html lang="en"><title>Another site</title><body>
    <iframe src="${address}/diagnose.html" width="100%" height="760" title="A page"></iframe></body></html>`),
  );
  const frame = page.frames()[1];
  await frame.locator(`.way-out a[href="${address}/diagnose.html"][target=_blank]`).waitFor();
  assert.equal(await frame.locator("button:visible, input:visible").count(), 0);
});

test("in a foreign page a frame shows the stage, does what it is told, and answers hostile messages with a sentence", async ({
  open,
  address,
  foreign,
}) => {
  const url = await foreign(`<!doctype html><html lang="en"><title>Another site</title><body>
    <iframe src="${address}/odx-prefetch.html?embed=1" width="100%" height="760" title="An incident"></iframe></body></html>`);
  const page = await open(url);
  await page.evaluate(() => {
    globalThis.heard = [];
    addEventListener("message", ({ data }) => globalThis.heard.push(data));
  });
  const heard = (kind) => page.evaluate((wanted) => globalThis.heard.filter((each) => each.kind === wanted), kind);
  const tell = (message) =>
    page.evaluate((data) => document.querySelector("iframe").contentWindow.postMessage(data, "*"), message);
  const untilHeard = (kind, many) =>
    page.waitForFunction(
      ([wanted, least]) => globalThis.heard.filter((each) => each.kind === wanted).length >= least,
      [kind, many],
    );
  const frame = page.frames()[1];
  await frame.locator(".run-frame:not(.first-picture) .strip .read").first().waitFor();
  await frame.waitForFunction(() => document.querySelector(".first-picture") === null);
  assert.equal(await frame.locator("header.site").isVisible(), false);
  assert.equal(await frame.locator(".evidence, .prediction, .carry-on").count(), 0);
  assert.ok(await frame.locator(".controls input[type=range]").first().isVisible());
  const [needed, given] = await frame.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(needed <= given);
  // What is told is done, and said.
  await tell({ seeklab: 1, kind: "set", variant: "fixed", set: { "volume.prefetch.chunk": 4194304 }, seed: 7 });
  await page.waitForFunction(() => globalThis.heard.some((each) => each.kind === "result" && each.seed === 7));
  const result = (await heard("result")).at(-1);
  assert.deepEqual([result.case, result.variant, result.seed], ["odx-prefetch", "fixed", 7]);
  assert.match(result.fingerprint, /^[0-9a-f]{16}$/);
  assert.ok(result.metrics["odx.read_latency_mean_ms"] > 0);
  await tell({ seeklab: 1, kind: "run" });
  await frame.locator(".play").filter({ hasText: "Pause" }).waitFor();
  // What is hostile changes nothing.
  const before = frame.url();
  const shownBefore = await frame.locator(".sentence").textContent();
  const foreignParts = () => frame.locator("img, script:not([src])").count();
  const partsBefore = await foreignParts();
  const hostile = [
    "javascript:alert(1)",
    null,
    { seeklab: 1, kind: "open", url: "https://example.org/" },
    { seeklab: 1, kind: "set", variant: "<img src=x onerror=alert(1)>" },
    { seeklab: 1, kind: "set", set: { "layout.unit": "8q" } },
    { seeklab: 1, kind: "set", set: { __proto__: null, "x.y": "<script>alert(1)</script>" } },
  ];
  const sofar = (await heard("refused")).length;
  for (const [nth, message] of hostile.entries()) {
    await tell(message);
    await untilHeard("refused", sofar + nth + 1);
  }
  for (const { message } of await heard("refused")) assert.match(message, /^[^<]{10,}$/s, message);
  assert.equal(await frame.locator(".sentence").textContent(), shownBefore);
  assert.equal(await foreignParts(), partsBefore);
  assert.equal(page.frames()[1].url().split("#")[0], before.split("#")[0]);
  assert.ok((await heard("size")).at(-1).height > 300);
  note((await heard("refused")).at(-1).message);
});
