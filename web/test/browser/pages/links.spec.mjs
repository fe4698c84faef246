import assert from "node:assert/strict";
import { note, test } from "../fixtures.mjs";
import {
  casePage,
  validationPage,
  fingerprint,
  shown,
  untilFingerprintChanges,
  untilHash,
  hashOf,
  assertAccessible,
  skipQuestion,
} from "../kit.mjs";

test("a reload from the address gives the same fingerprint", async ({ open }) => {
  const page = await open(casePage + hashOf({ case: "odx-prefetch", variant: "fixed", seed: 7 }));
  await shown(page);
  const before = await fingerprint(page);
  const slider = page.locator(".controls input[type=range]").nth(1);
  await slider.focus();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  const after = await untilFingerprintChanges(page, before);
  await untilHash(
    page,
    (state) => state.seed === 7 && state.variant === "fixed" && Object.keys(state.set).length === 1,
  );
  await page.waitForTimeout(400);
  const settled = await fingerprint(page);
  await page.reload();
  await shown(page);
  assert.equal(await fingerprint(page), settled);
  assert.notEqual(settled, before);
  note(`${before}, then ${after}`);
});

test("an address that cannot be read says so, and the case starts as it is", async ({ open }) => {
  const good = await open(casePage);
  await shown(good);
  const expected = await fingerprint(good);
  for (const [hash, words] of [
    ["#v1=%%%", /: .*#v1=/],
    ["#v1=bm90IGpzb24", /: .*#v1=/],
    ["#v9=e30", /: .*\b9\b.*\b1\b/],
  ]) {
    const page = await open(casePage + hash);
    await shown(page);
    assert.match(await page.locator(".notice").textContent(), words);
    assert.equal(await fingerprint(page), expected);
  }
  // On a page that already shows something, it stays.
  await good.evaluate(() => (location.hash = "#v9=e30"));
  await good.locator(".notice p").filter({ hasText: /\b9\b/ }).waitFor();
  assert.equal(await fingerprint(good), expected);
});

test("a link opens cases of this site and nothing else", async ({ open, address }) => {
  for (const start of [casePage, "/"]) {
    for (const name of [
      "//example.org/x",
      "https://example.org/",
      "javascript:document.title='led away'//",
      "nowhere",
    ]) {
      const page = await open(start + hashOf({ case: name, variant: "fixed", seed: 7 }));
      await page
        .locator(".notice")
        .filter({ hasText: `“${name}”` })
        .waitFor();
      await page.waitForFunction(() => performance.getEntriesByName("first-chart").length > 0);
      assert.equal(new URL(page.url()).pathname, start);
      assert.notEqual(await page.title(), "led away");
      await page.context().close();
    }
  }
  // The same on a page that is open already: it keeps what it shows.
  const page = await open(casePage);
  await shown(page);
  const before = await fingerprint(page);
  await page.evaluate((hash) => (location.hash = hash), hashOf({ case: "//example.org/x" }));
  await page.locator(".notice").filter({ hasText: "“//example.org/x”" }).waitFor();
  assert.equal(await fingerprint(page), before);
  await page.evaluate((hash) => (location.hash = hash), hashOf({ case: "combine-limit" }));
  await page.waitForURL(`${address}/combine-limit.html#*`);
  // A page that only led on is not where Back leads.
  await page.goto(`${address}/validation.html`);
  await page.goto(address + casePage + hashOf({ case: "combine-limit" }));
  await page.waitForURL(`${address}/combine-limit.html#*`);
  await page.goBack();
  assert.equal(new URL(page.url()).pathname, validationPage);
});

test("Back undoes the last change, and Forward does it again", async ({ open }) => {
  const page = await open("/odx-prefetch.html");
  await skipQuestion(page);
  await shown(page);
  const opened = await fingerprint(page);
  await page.locator('input[name="variant"][value="fixed"]').check({ force: true });
  const second = await untilFingerprintChanges(page, opened);
  await page.waitForTimeout(300);
  const slider = page.locator(".controls input[type=range]").nth(1);
  // Another variant brings sliders of its own, perhaps just now.
  for (const old = await slider.inputValue(); (await slider.inputValue()) === old;) await slider.press("PageDown");
  const third = await untilFingerprintChanges(page, second);
  await page.waitForTimeout(300);
  await page.goBack();
  assert.equal(await untilFingerprintChanges(page, third), second);
  await page.goBack();
  assert.equal(await untilFingerprintChanges(page, second), opened);
  await page.goForward();
  assert.equal(await untilFingerprintChanges(page, opened), second);
  // The page is the same one all the while: nothing was loaded again.
  assert.equal(await page.evaluate(() => performance.getEntriesByType("navigation").length), 1);
});

test("a drag that goes on is one step back", async ({ open }) => {
  const page = await open(casePage);
  await skipQuestion(page);
  await shown(page);
  const before = await page.evaluate(() => history.length);
  await page.evaluate(async () => {
    const slider = document.querySelectorAll(".controls input[type=range]")[1];
    for (let step = 0; step < 10; step++) {
      slider.valueAsNumber -= 1;
      slider.dispatchEvent(new Event("input", { bubbles: true }));
      await new Promise((next) => setTimeout(next, 60));
    }
    slider.dispatchEvent(new Event("change", { bubbles: true }));
  });
  await page.waitForTimeout(600);
  assert.equal(await page.evaluate(() => history.length), before + 1);
});

test("an address without a page is answered with what may have been meant", async ({ open }) => {
  const page = await open("/odx-prefecth.html");
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.locator("#near-title").waitFor();
  await assertAccessible(page);
  await page.locator(".near a").first().click();
  await shown(page);
});
