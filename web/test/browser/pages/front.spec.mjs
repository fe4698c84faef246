import assert from "node:assert/strict";
import { note, test } from "../fixtures.mjs";
import { casePage, frontShown, shown, casePages } from "../kit.mjs";

test("the first chart is there", { tag: "@timed" }, async ({ open }) => {
  const page = await open(casePage);
  await shown(page);
  const ms = await page.evaluate(() => performance.getEntriesByName("first-chart")[0].startTime);
  const front = await open("/");
  await front.waitForFunction(() => performance.getEntriesByName("first-chart").length > 0);
  const frontMs = await front.evaluate(() => performance.getEntriesByName("first-chart")[0].startTime);
  note(`case page ${ms.toFixed(0)} ms, front page ${frontMs.toFixed(0)} ms after navigation`);
});

test("the front page has a place for every incident on the ladder, and finds incidents by words and by standing", async ({
  open,
}) => {
  const page = await open("/");
  await frontShown(page);
  const cases = casePages().length;
  assert.equal(await page.locator(".incident .rung circle").count(), cases);
  const outside = await page.evaluate(() => {
    const axis = document.querySelector(".ladder-axis").getBoundingClientRect();
    const inside = ({ left, right }) => left > axis.left - 8 && right < axis.right + 8;
    return [...document.querySelectorAll(".rung circle, .rung line")].filter(
      (mark) => !inside(mark.getBoundingClientRect()),
    ).length;
  });
  assert.equal(outside, 0);
  assert.equal(await page.locator(".catalogue li.incident:visible").count(), cases);
  await page.getByLabel("Search").fill("Throttle 2013");
  const some = await page.locator(".catalogue li.incident:visible").count();
  assert.ok(some > 0 && some < 10, `${some} incidents`);
  assert.match(await page.locator(".found").textContent(), new RegExp(`^${some} of ${cases} `));
  await page.getByLabel("Search").fill("nothing is called this");
  await page.locator(".found").filter({ hasText: /^\D+$/ }).waitFor();
  // One prediction, far off: predicted, and not well.
  await page.evaluate(() => {
    localStorage.setItem("seeklab.prediction.odx-prefetch", JSON.stringify({ guess: 50 }));
    localStorage.setItem("seeklab.answer.odx-prefetch", "5.2");
  });
  await page.reload();
  await page
    .locator(".progress-so-far p")
    .filter({ hasText: new RegExp(`\\b1 of ${cases}\\D+\\b0 of `) })
    .waitFor();
  await page.getByLabel("Your prediction").selectOption("predicted");
  assert.equal(await page.locator(".catalogue li.incident:visible").count(), 1);
  const pictures = await page.evaluate(() =>
    Promise.all([...document.images].map((image) => fetch(image.src).then((response) => response.ok))),
  );
  assert.ok(pictures.length === cases && pictures.every(Boolean));
  // The list is in the page's file: it needs no script.
  const plain = await open("/", { javaScriptEnabled: false });
  assert.equal(await plain.locator("li.incident a").count(), cases);
  await plain.locator(".first-picture.wide .stage").waitFor();
});

test("the front page has one knob with its trail, doors with something behind them, and a dot for each number", async ({
  open,
}) => {
  const page = await open("/");
  await frontShown(page);
  assert.equal(await page.locator(".live .run-frame:not(.first-picture) .controls input[type=range]").count(), 1);
  await page.locator(".live .controls input[type=range]").focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => document.querySelectorAll(".trail .visited").length === 2);
  const limits = page.locator(".pool-limits li b");
  await limits.first().waitFor();
  const before = await limits.allTextContents();
  await page.locator("#door-pool input[type=range]").first().focus();
  await page.keyboard.press("Home");
  await page.waitForFunction((old) => {
    const now = [...document.querySelectorAll(".pool-limits li b")].map((bold) => bold.textContent);
    return now.length === old.length && now.some((text, nth) => text !== old[nth]);
  }, before);
  const told = await page.locator(".fact-dots p").textContent();
  assert.equal(await page.locator(".fact-dots a .dot").count(), Number(/of (\d+)/.exec(told)[1]));
});

test("a long run shows progress and can be cancelled", async ({ open }) => {
  const page = await open("/");
  await page.locator("#fio-preset option").first().waitFor({ state: "attached" });
  await page
    .locator("#fio-job")
    .fill("[long]\nrw=randread\nbs=4k\niodepth=32\nsize=4g\nnumber_ios=20000000\nnorandommap\n");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.locator(".bring .progress").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.locator(".bring .notice").filter({ hasText: "cancelled" }).waitFor();
});

test("a fio job file runs and prints what fio prints", async ({ open }) => {
  const page = await open("/");
  await page.locator("#fio-preset option").first().waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.locator(".fio-output .printed").filter({ hasText: "IOPS" }).waitFor();
  const printed = await page.locator(".fio-output .printed").textContent();
  await page.reload();
  await page.locator(".fio-output .printed").filter({ hasText: "IOPS" }).waitFor();
  assert.equal(await page.locator(".fio-output .printed").textContent(), printed);
  await page.locator("#fio-job").fill("[a]\nrw=rnadread\n");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.locator(".bring .notice p").first().waitFor();
  assert.equal(await page.locator(".fio-output .printed").textContent(), printed);
  note(await page.locator(".bring .notice p").first().textContent());
});
