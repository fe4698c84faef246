import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { note, test } from "../fixtures.mjs";
import { site } from "../host.mjs";
import { ran, casePages, playedPages, picture } from "../kit.mjs";

test("every case's page has a card with its picture, and leads to the one before, the one after and its family", async ({
  open,
  address,
}) => {
  for (const name of casePages()) {
    const text = readFileSync(join(site, name), "utf8");
    const meta = (key) => new RegExp(`<meta (?:property|name)="${key}" content="([^"]+)"`).exec(text)?.[1];
    const file = meta("og:image");
    assert.equal(meta("twitter:image"), file, name);
    const png = readFileSync(join(site, file));
    assert.equal(png.subarray(1, 4).toString(), "PNG", name);
    assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [1200, 630], name);
    assert.ok(png.length > 8_000, `${file} has nothing on it: ${png.length} bytes`);
  }
  // From the first page on, Next leads through all.
  const page = await open("/odx-prefetch.html");
  const seen = new Set(["odx-prefetch.html"]);
  let text = await page.content();
  for (let next; (next = /<a rel="next" href="\.\/([a-z0-9-]+\.html)"/.exec(text)?.[1]) !== undefined;) {
    assert.ok(!seen.has(next), `${next} comes twice`);
    seen.add(next);
    text = readFileSync(join(site, next), "utf8");
  }
  assert.equal(seen.size, casePages().length);
  await page.locator(".around a[rel=next]").click();
  await page.waitForURL(`${address}/copy-offload.html`);
  await page.locator(".family-list a").first().click();
  await page.waitForURL(`${address}/odx-prefetch.html`);
});

test("every case's page has a stage, evidence and no sideways scrolling on a phone", async ({ open }) => {
  const cases = casePages();
  // One visitor, who has the engine after the first page.
  const page = await open(`/${cases[0]}`, { viewport: { width: 360, height: 740 }, reducedMotion: "reduce" });
  for (const name of cases) {
    await page.goto(new URL(`/${name}`, page.url()).href);
    await page.locator(".stage svg").first().waitFor();
    await ran(page);
    await page.locator(".evidence").scrollIntoViewIfNeeded();
    await page.locator(".evidence .figure > *").first().waitFor();
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (overflow > 0) throw new Error(`${name} is ${overflow} px wider than the phone`);
    assert.deepEqual(await page.evaluate(cutOrSmall), [], name);
  }
  note(`${cases.length} cases`);
});

/** In the page: the setting, if a part of it cannot be read, and what is smaller than a finger needs. */
function cutOrSmall() {
  const least_px = 24;
  const found = [];
  const setting = document.querySelector(".setting");
  if (setting.scrollWidth > setting.clientWidth) found.push(`"${setting.textContent}" is cut`);
  for (const target of document.querySelectorAll("main :is([role=slider], summary, button, select)")) {
    const { width, height } = target.getBoundingClientRect();
    if (target.checkVisibility() && width > 0 && Math.min(width, height) < least_px)
      found.push(`${target.localName}.${target.className}: ${width} × ${height} px`);
  }
  return found;
}

test("a window of 1280 by 800 pixels has Play and a knob on its first screen", async ({ open }) => {
  // The highest pictures, the longest words above one, and the longest label of a knob.
  for (const name of ["averaged-away", "context-read-ahead", "burst-credits", "ordered-journal", "hci-taxonomy"]) {
    const page = await open(`/${name}.html`, { viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
    await ran(page);
    const bottomOf = async (selector) => {
      const { y, height } = await page.locator(`.run-frame:not(.first-picture) ${selector}`).first().boundingBox();
      return y + height;
    };
    for (const selector of [".play", ".controls .control"]) {
      const bottom = await bottomOf(selector);
      assert.ok(bottom <= 800, `${name}: ${selector} ends at ${bottom} px`);
    }
    await page.context().close();
  }
});

test("on a phone a step can be chosen while two runs play, one above the other", async ({ open }) => {
  const page = await open("/picket-fence.html", { viewport: { width: 390, height: 844 }, reducedMotion: "reduce" });
  await ran(page);
  await page.getByRole("button", { name: /^Check/ }).click();
  await page.locator(".scene-title").filter({ hasText: "light load" }).waitFor();
  await page.locator(".run-frame:not(.first-picture) .steps button").nth(1).click({ timeout: 10_000 });
});

test("on every case's page Play moves actors", async ({ open }) => {
  const led = [];
  for (const name of playedPages()) {
    const page = await open(`/${name}`);
    await page.locator(".stage").first().waitFor();
    // The page plays by itself once the whole run is there.
    await ran(page);
    // A stage without a canvas leads some pages; the life of a request is a second stage on all.
    if ((await page.locator(".stage canvas").count()) === 0)
      await page.locator('input[value="life"]').check({ force: true });
    else led.push(name);
    // Where an actor stands for many requests, none is followed.
    const isFollowed = () =>
      document.querySelector(".life-bar rect") !== null || document.querySelector(".follow").hidden;
    await page.waitForFunction(isFollowed);
    if ((await page.locator(".play").textContent()) === "Pause") await page.locator(".play").click();
    await page.locator(".scrubber").evaluate((range) => {
      range.value = String(Number(range.max) * 0.3);
      range.dispatchEvent(new Event("input"));
    });
    const before = await picture(page);
    await page.locator(".play").click();
    for (let looks = 0; (await picture(page)) === before; looks++) {
      assert.ok(looks < 100, `${name}: nothing moves`);
      await page.waitForTimeout(100);
    }
    await page.context().close();
  }
  note(`${led.length} of ${playedPages().length} pages lead with actors`);
});

test("no page shows the answer before its question is answered", async ({ open }) => {
  const told = [];
  for (const name of playedPages()) {
    const page = await open(`/${name}`, { reducedMotion: "reduce" });
    await page.waitForFunction(() => performance.getEntriesByName("first-chart").length > 0);
    await page
      .locator("#fingerprint")
      .filter({ hasText: /^[0-9a-f]{16}$/ })
      .waitFor();
    const [question, before] = await page.evaluate(() => {
      // The round numbers of an axis state nothing.
      for (const drawing of document.querySelectorAll("main svg")) drawing.style.visibility = "hidden";
      const words = document.querySelector(".prediction").innerText;
      return [words, document.querySelector("main").innerText.replace(words, "")];
    });
    await page.getByRole("button", { name: /^Check/ }).click();
    // The number and the text after it, which has its unit.
    const revealed = page.locator(".reveal b").nth(1);
    await revealed.waitFor({ timeout: 120_000 });
    const answer = await revealed.evaluate((bold) => bold.textContent + bold.nextSibling.textContent);
    const [number, following] = [/[\d.,]*\d/, /^[\d.,]*\d\s?(×|times|%)/].map((pattern) =>
      pattern.exec(answer)?.at(-1),
    );
    // A single digit says nothing where it stands, and what the question tells itself is no secret.
    if (number.replace(/\D/g, "").length > 1 && !question.includes(number)) {
      // A hundred of something else is no hundred per cent.
      const unit = following === undefined ? "" : following === "%" ? "\\s?(%|per cent)" : "\\s?(×|times)";
      const words = new RegExp(`(?<![\\d.,])${number.replaceAll(".", "\\.")}(?![\\d]|[.,]\\d)${unit}`);
      const at = before.search(words);
      if (at >= 0) told.push(`${name}: ${answer} in "${before.slice(Math.max(0, at - 40), at + 20)}"`);
    }
    await page.context().close();
  }
  assert.deepEqual(told, []);
  note(`${playedPages().length} pages`);
});
