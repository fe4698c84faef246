import assert from "node:assert/strict";
import { note, test } from "../fixtures.mjs";
import { phone, assertAccessible } from "../kit.mjs";

test("slides of a week ask before they tell, by keys alone, and play the run in the room", async ({ open }) => {
  const page = await open("/slides.html");
  assert.equal(await page.locator(".slide-weeks li").count(), 10);
  await page.locator(".slide-weeks a").nth(4).press("Enter");
  const slide = page.locator(".slide.shown");
  await slide.getByText("Week 5").waitFor();
  // A belief stands alone before what is to be said to it.
  await page.keyboard.press("ArrowRight");
  const reply = slide.locator(".slide-prose");
  assert.equal(await reply.evaluate((element) => getComputedStyle(element).visibility), "hidden");
  await page.keyboard.press("Space");
  assert.equal(await reply.evaluate((element) => getComputedStyle(element).visibility), "visible");
  while ((await slide.locator(".slide-answer").count()) === 0) await page.keyboard.press("ArrowRight");
  await slide.locator("h2").filter({ hasText: /\?$/ }).waitFor();
  assert.equal(await slide.locator(".slide-answer").textContent(), "");
  await page.keyboard.press("ArrowRight");
  const told = slide.locator(".slide-answer b");
  await told.filter({ hasText: /^\d+(\.\d+)?×$/ }).waitFor();
  const answer = await told.textContent();
  await assertAccessible(page);
  await page.keyboard.press("ArrowRight");
  await page.frameLocator(".slide.shown iframe").locator(".strip .read").first().waitFor();
  const place = new URL(page.url()).hash;
  assert.match(place, /^#week=5&slide=\d+$/);

  const again = await open(`/slides.html${place}`, phone);
  await again.frameLocator(".slide.shown iframe").locator(".strip .read").first().waitFor();
  assert.equal(await again.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
  await page.keyboard.press("End");
  assert.equal(await page.getByRole("button", { name: "Next" }).isDisabled(), true);
  await page.keyboard.press("Escape");
  await page.locator(".slide-weeks").waitFor();

  const wrong = await open("/slides.html#week=11&slide=-3");
  await wrong
    .locator(".notice p")
    .filter({ hasText: /\b11\b.*\b1\D+10\b/ })
    .waitFor();
  assert.equal(await wrong.locator(".slide-weeks li").count(), 10);
  note(`${answer} at ${place}`);
});
