import assert from "node:assert/strict";
import { note, test } from "../fixtures.mjs";
import {
  designerPage,
  phone,
  measuredPool,
  sentence,
  untilHash,
  hashOf,
  assertAccessible,
  scrollThrough,
} from "../kit.mjs";

test(
  "the designer measures a pool, says what binds it, and refuses what cannot be built",
  { tag: "@timed" },
  async ({ open }) => {
    // One pool, measured once, in all the ways to look at it.
    const looks = await open(designerPage, { reducedMotion: "reduce" });
    await looks.locator(".sentence").filter({ hasText: measuredPool }).waitFor();
    for (const look of [
      () => looks.emulateMedia({ colorScheme: "light" }),
      () => looks.emulateMedia({ colorScheme: "dark" }),
      () => looks.setViewportSize(phone.viewport),
    ]) {
      await look();
      await scrollThrough(looks);
      await assertAccessible(looks);
      const [needed, given] = await looks.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(needed <= given, `${needed} px wide in a window of ${given}`);
    }
    const page = await open("/");
    await page.locator("header.site summary").click();
    await page.getByRole("link", { name: "Design a pool" }).click();
    await page.locator(".sentence").filter({ hasText: measuredPool }).waitFor();
    const before = await sentence(page);
    const took_ms = await page.evaluate(
      () =>
        performance.getEntriesByName("tests-done")[0].startTime -
        performance.getEntriesByName("first-chart")[0].startTime,
    );
    assert.ok(took_ms < 10_000, `the twelve tests took ${took_ms} ms`);
    // The keyboard buys a second log SSD: one test moves.
    const logs = page.getByLabel("Log SSDs", { exact: true });
    await logs.focus();
    await page.keyboard.press("ArrowRight");
    await page.locator(".pool-tests .moved").filter({ hasText: "× 1." }).waitFor();
    await page.locator(".sentence").filter({ hasText: measuredPool }).waitFor();
    const moved = await page
      .locator(".pool-tests tr", { has: page.locator(".moved") })
      .locator("th")
      .allTextContents();
    assert.deepEqual(moved, ["128 threads, synchronous writes"]);
    await untilHash(page, (state) => state.set.log_ssds === 2);
    const bought = await sentence(page);
    assert.notEqual(bought, before);
    await page.reload();
    await page.locator(".sentence").filter({ hasText: measuredPool }).waitFor();
    assert.equal(await sentence(page), bought);
    // A cache larger than memory is refused with a sentence, and what was shown stays.
    await page.getByLabel("Cache in memory").selectOption({ label: "192 GiB" });
    await page.locator(".notice p").first().waitFor();
    const told = await page.locator(".notice p").first().textContent();
    assert.match(told, /^Cache in memory: 192 GiB .*\b128 GiB/);
    assert.match(await sentence(page), /22\.0 TB/);
    await page.getByRole("button", { name: /74 GB/ }).click();
    await page
      .locator(".warnings p")
      .filter({ hasText: /\b74 GB .*\b6 GiB/ })
      .waitFor();
    assert.equal(await page.locator(".notice").isVisible(), false);
    await page.getByRole("button", { name: "Reset" }).click();
    await page.locator(".sentence").filter({ hasText: measuredPool }).waitFor();
    assert.equal(await sentence(page), before);
    // A pool is kept, another one is measured beside it, in the reader's currency.
    await page.locator(".parts > .actions > button").last().click();
    await page.getByText("Prices", { exact: true }).click();
    await page.getByLabel("Currency").selectOption("CHF");
    await logs.focus();
    await page.keyboard.press("ArrowRight");
    await page
      .locator(".outcome p")
      .filter({ hasText: /\. .*\bCHF\u00a04,000\b/ })
      .waitFor();
    await page.locator(".pool-tests th").filter({ hasText: "kept pool" }).waitFor();
    await page.locator(".sentence").filter({ hasText: measuredPool }).waitFor();
    // A second log SSD lifts one test, and a third one less.
    await page.locator("#cost-part").selectOption({ label: "Log SSDs" });
    await page.locator("#cost-test").selectOption({ label: "128 threads, synchronous writes" });
    await page.locator(".cost-head > button").click();
    await page.locator(".cost-curve svg").waitFor();
    await page.locator(".cost-head > button:enabled").waitFor();
    assert.ok((await page.locator(".cost tbody tr").count()) > 2);
    assert.match(await page.locator(".cost-curve svg").getAttribute("aria-label"), /^128 threads, synchronous writes/);
    // A link to a pool that cannot be built says so and shows the pool as it starts.
    const wrong = await open(designerPage + hashOf({ set: { disks: 4, width: 6, parity: 2 } }));
    await wrong
      .locator(".notice p")
      .filter({ hasText: /^Disks: 4 .*\b6\b/ })
      .waitFor();
    note(`${Math.round(took_ms)} ms; ${told}`);
  },
);
