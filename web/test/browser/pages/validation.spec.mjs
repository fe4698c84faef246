import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { note, test } from "../fixtures.mjs";
import {
  validationPage,
  phone,
  sentence,
  settledSentence,
  untilHash,
  assertAccessible,
  tabTo,
  scrollThrough,
} from "../kit.mjs";

test("the page on validation replays its trace, and axe finds nothing, light and dark, wide and narrow", async ({
  open,
}) => {
  for (const options of [{ colorScheme: "light" }, { colorScheme: "dark" }, phone]) {
    const page = await open(validationPage, { ...options, reducedMotion: "reduce" });
    await page
      .locator(".sentence")
      .filter({ hasText: /Demerit .* reads .* writes / })
      .waitFor();
    await scrollThrough(page);
    await page
      .locator("[aria-labelledby=amplification-title] .count")
      .filter({ hasText: /\d%.*\d%/ })
      .waitFor();
    await assertAccessible(page);
    const [needed, given] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(needed <= given, `${needed} px wide in a window of ${given}`);
  }
  const page = await open("/");
  await page.locator("header.site summary").click();
  await page.getByRole("link", { name: "Validation" }).click();
  await page.locator(".sentence").filter({ hasText: "Demerit" }).waitFor();
  note(await sentence(page));
});

test("on the page on validation the keyboard turns the drive, and a reload shows the same", async ({ open }) => {
  const page = await open(validationPage);
  await page.locator(".sentence").filter({ hasText: "Demerit" }).waitFor();
  const before = await sentence(page);
  await tabTo(page, ".controls input[type=range]");
  for (let presses = 0; presses < 5; presses++) await page.keyboard.press("ArrowRight");
  await page.waitForFunction((old) => document.querySelector(".sentence").textContent !== old, before);
  await untilHash(page, (state) => Object.keys(state.set).length === 1);
  const turned = await settledSentence(page);
  await page.reload();
  await page.locator(".sentence").filter({ hasText: "Demerit" }).waitFor();
  assert.equal(await sentence(page), turned);
  await page.getByRole("button", { name: "Reset" }).click();
  await page.waitForFunction((old) => document.querySelector(".sentence").textContent === old, before);
  // A file that is no drive is refused with a sentence, and what was shown stays.
  await page.locator("details:has(#own-drive) > summary").click();
  await page.locator("#own-drive").setInputFiles({ name: "d.json", mimeType: "", buffer: Buffer.from("{}") });
  await page.locator("#own-trace").setInputFiles({ name: "t.csv", mimeType: "", buffer: Buffer.from("op,lbn\n") });
  await page.locator(".notice p").first().waitFor();
  assert.equal(await sentence(page), before);
  const words = await page.locator(".notice p").first().textContent();
  // A small file that unpacks to a large one is refused by its name and the limit.
  const buffer = gzipSync(Buffer.alloc(2 ** 27));
  await page.locator("#own-trace").setInputFiles({ name: "bomb.csv.gz", mimeType: "application/gzip", buffer });
  await page
    .locator(".notice p")
    .filter({ hasText: /^bomb\.csv\.gz: .*\b64\b/ })
    .waitFor();
  assert.equal(await sentence(page), before);
  note(words);
});
