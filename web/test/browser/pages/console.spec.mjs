import assert from "node:assert/strict";
import { note, test } from "../fixtures.mjs";
import { casePage, fingerprint, shown, hashOf } from "../kit.mjs";

test("the Python console runs the case on the stage and gives its fingerprint", async ({ open }) => {
  const page = await open(casePage + hashOf({ variant: "fixed", seed: 7, set: { "volume.prefetch.chunk": 4194304 } }));
  await shown(page);
  const expected = await fingerprint(page);
  await page.getByRole("button", { name: "Python console" }).click();
  await page.locator(".console textarea").waitFor();
  assert.match(await page.locator(".console textarea").inputValue(), /seeklab\.case\("odx-prefetch"\)/);
  const begun = performance.now();
  await page.locator(".console").getByRole("button", { name: "Run" }).click();
  await page.waitForFunction(
    () => /[0-9a-f]{16}\n|rror/.test(document.querySelector(".python-output").textContent),
    undefined,
    { timeout: 60_000 },
  );
  const text = await page.locator(".python-output").textContent();
  assert.ok(text.includes(expected), text.slice(-600));
  note(`${((performance.now() - begun) / 1000).toFixed(1)} s from a click to the fingerprint`);
});

test(
  "the console draws a run, and a loop that prints without an end neither freezes the page nor survives Stop",
  { tag: "@timed" },
  async ({ open }) => {
    const page = await open(casePage);
    await shown(page);
    await page.getByRole("button", { name: "Python console" }).click();
    const told = await page.locator(".console .status").textContent();
    assert.match(told, /\d+\sMB, or [\d.]+\sMB/);
    const editor = page.locator(".console textarea");
    const run = page.locator(".console").getByRole("button", { name: "Run" });
    await editor.fill('import seeklab\nseeklab.case("odx-prefetch").run()');
    await run.click();
    await page.locator(".python-output .figure svg").first().waitFor({ timeout: 90_000 });
    await page.locator(".python-output iframe").waitFor();
    await editor.fill("n = 0\nwhile True:\n    print(n, 'x' * 200)\n    n += 1");
    await run.click();
    await page.waitForFunction(() => document.querySelector(".python-output").textContent.includes("100 xxx"));
    const slowest = await page.evaluate(async () => {
      let worst = 0;
      for (let last = performance.now(), until = last + 3000; last < until;) {
        await new Promise(requestAnimationFrame);
        worst = Math.max(worst, performance.now() - last);
        last = performance.now();
      }
      return worst;
    });
    const length = await page.evaluate(() => document.querySelector(".python-output").textContent.length);
    assert.ok(length < 400_000, `${length} characters`);
    const begun = performance.now();
    await page.locator(".console").getByRole("button", { name: "Stop" }).click();
    await page.locator(".python-output .error").filter({ hasText: "Stopped." }).waitFor();
    const took_ms = performance.now() - begun;
    assert.ok(took_ms < 1000, `Stop took ${took_ms} ms`);
    await run.waitFor();
    assert.equal(await run.isEnabled(), true);
    note(`${told} Longest frame ${slowest.toFixed(0)} ms, Stop after ${took_ms.toFixed(0)} ms.`);
  },
);
