import assert from "node:assert/strict";
import { test } from "../fixtures.mjs";
import { fingerprint, phone, ran, tabTo, untilFingerprintChanges } from "../kit.mjs";

/** Incidents with different stages. */
const incidents = ["incast", "throttle-2008", "media-prefetch"];
const rooms = [{}, { ...phone, viewport: { width: 390, height: 844 } }];

for (const id of incidents)
  for (const room of rooms)
    test(`${id} is done by keyboard alone, ${room.isMobile === true ? "on a phone" : "on a wide screen"}`, async ({
      open,
    }) => {
      const page = await open(`/${id}.html`, room);
      await ran(page);
      const start = await fingerprint(page);
      const variant = () => page.locator("input[name=variant]:checked, select[name=variant]").first().inputValue();
      const opening = await variant();
      await page.locator(".play").filter({ hasText: "Play" }).waitFor();

      await tabTo(page, ".play");
      await assertSeen(page);
      await page.keyboard.press("Enter");
      await page.locator(".play").filter({ hasText: "Pause" }).waitFor();
      await page.keyboard.press("Enter");

      await tabTo(page, ".next-step");
      await page.keyboard.press("Enter");
      await assertSeen(page);
      await tabTo(page, ".steps button");
      const steps = page.locator(".run-frame:not(.first-picture) .steps button");
      for (let nth = 1; nth < (await steps.count()); nth++) {
        assert.equal(await steps.nth(nth).getAttribute("aria-current"), "step");
        await assertSeen(page);
        await page.keyboard.press("ArrowDown");
      }

      await tabTo(page, "#guess");
      await assertSeen(page);
      for (let presses = 0; presses < 5; presses++) await page.keyboard.press("ArrowRight");
      await tabTo(page, ".prediction button[type=submit]");
      await assertSeen(page);
      await page.keyboard.press("Enter");
      assert.ok(await page.evaluate(() => document.activeElement.matches(".reveal")));
      // The guess and the answer.
      await page.locator(".reveal b").nth(1).waitFor({ timeout: 60_000 });
      // A question may be about the run that the page opens on.
      const revealed = (await variant()) === opening ? start : await untilFingerprintChanges(page, start);

      await page.evaluate(() => document.activeElement.blur());
      await tabTo(page, ".run-frame:not(.first-picture) .controls input[type=range]");
      await assertSeen(page);
      const isAtEnd = await page.evaluate(() => document.activeElement.value === document.activeElement.max);
      await page.keyboard.press(isAtEnd ? "Home" : "End");
      await untilFingerprintChanges(page, revealed);
    });

/** What has the focus shows it, and nothing covers it. */
async function assertSeen(page) {
  await page.waitForTimeout(100);
  const wrong = await page.evaluate(() => {
    const element = document.activeElement;
    const { left, top, width, height } = element.getBoundingClientRect();
    const at = [left + width / 2, top + height / 2];
    const name = `${element.localName}.${element.className} "${element.textContent.slice(0, 40)}"`;
    if (!element.matches(":focus-visible")) return `${name} does not show its focus`;
    if (at[1] < 0 || at[1] > innerHeight) return `${name} is at ${at[1]} of ${innerHeight}`;
    const above = document.elementFromPoint(...at);
    const label = element.labels?.[0];
    if (element.contains(above) || above?.contains(element) || label?.contains(above)) return undefined;
    return `${name} is behind ${above?.localName}.${above?.className}`;
  });
  assert.equal(wrong, undefined);
}
