import assert from "node:assert/strict";
import { note, test } from "../fixtures.mjs";
import { sentence } from "../kit.mjs";

test("the notebook's widget simulates while a slider moves and tells the kernel on release", async ({ open }) => {
  const page = await open("/blank.html");
  const begun = await page.evaluate(async () => {
    const values = {
      case_id: "odx-prefetch",
      variant: "broken",
      set: {},
      seed: 1,
      view: "prefetch-strip",
      controls: [],
      result: {},
    };
    const listeners = new Map();
    globalThis.saved = [];
    globalThis.model = {
      get: (name) => values[name],
      set: (name, value) => (values[name] = value),
      save_changes: () => globalThis.saved.push(structuredClone(values)),
      on: (name, callback) => listeners.set(name, callback),
      off: (name) => listeners.delete(name),
      fromKernel(name, value) {
        values[name] = value;
        listeners.get(`change:${name}`)?.();
      },
    };
    const widget = await import("/widget.js");
    const start = performance.now();
    await widget.default.render({ model: globalThis.model, el: document.body });
    return start;
  });
  await page.locator(".strip .read").first().waitFor();
  const firstMs = (await page.evaluate(() => performance.now())) - begun;
  await page.waitForFunction(() => globalThis.saved.length === 1);
  const before = await sentence(page);
  const slider = page.locator(".controls input[type=range]").nth(1);
  const move = (event) =>
    slider.evaluate((input, type) => {
      if (type === "input") input.valueAsNumber -= 4;
      input.dispatchEvent(new Event(type, { bubbles: true }));
    }, event);
  await move("input");
  await page.waitForFunction((old) => document.querySelector(".sentence").textContent !== old, before);
  assert.equal(
    await page.evaluate(() => globalThis.saved.length),
    1,
    "the kernel must not hear a slider that still moves",
  );
  await move("change");
  await page.waitForFunction(() => globalThis.saved.length === 2);
  const [first, second] = await page.evaluate(() => globalThis.saved);
  assert.equal(second.set["volume.prefetch.chunk"], 7340032);
  assert.notEqual(first.result.fingerprint, second.result.fingerprint);
  await page.evaluate(() => {
    globalThis.model.fromKernel("set", {});
  });
  await page.waitForFunction(() => globalThis.saved.length === 3);
  assert.equal(await page.evaluate(() => globalThis.saved[2].result.fingerprint), first.result.fingerprint);
  note(`first drawing ${firstMs.toFixed(0)} ms`);
});
