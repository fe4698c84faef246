import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { tableFromIPC } from "apache-arrow";
import { note, test } from "../fixtures.mjs";
import { site } from "../host.mjs";
import {
  casePage,
  phone,
  fingerprint,
  sentence,
  ran,
  shown,
  untilFingerprintChanges,
  untilHash,
  hashOf,
  assertAccessible,
  skipQuestion,
  tabTo,
} from "../kit.mjs";

test("the first load has one case of the library, and beside the engine at most 175 kB gzip", async ({ open }) => {
  const page = await open(casePage);
  await shown(page);
  const urls = await page.evaluate(() => {
    const [first] = performance.getEntriesByName("first-chart");
    const files = performance.getEntriesByType("resource").filter((entry) => entry.startTime < first.startTime);
    return files.map((entry) => new URL(entry.name).pathname.slice(1));
  });
  const files = new Set(["odx-prefetch.html", ...urls].filter((name) => existsSync(join(site, name))));
  const sizes = [...files].map((name) => {
    const bytes = readFileSync(join(site, name));
    return [name, name.endsWith(".woff2") ? bytes.length : gzipSync(bytes, { level: 9 }).length];
  });
  const library = sizes.filter(([name]) => name.includes("librar"));
  assert.equal(library.length, 1);
  assert.ok(library[0][1] < 25_000, `${library[0]}`);
  const total = sizes.reduce((sum, [, size]) => sum + size, 0);
  const wasm = sizes.find(([name]) => name.endsWith(".wasm"))[1];
  assert.ok(total - wasm < 175_000, `${total - wasm} bytes beside the engine`);
  note(`${(total / 1000).toFixed(0)} kB, of which the engine ${(wasm / 1000).toFixed(0)} kB`);
});

test("after the prediction two runs play on one clock", async ({ open }) => {
  const page = await open("/vdisk-sharding.html");
  await page.locator(".stage canvas").first().waitFor();
  await page.getByRole("button", { name: /^Check/ }).click();
  await page.locator(".scene-title").filter({ hasText: "Before" }).waitFor();
  const titles = await page.locator(".scene-title:visible").allTextContents();
  assert.deepEqual(titles, ["Before", "Both"]);
  await page.locator(".pair-choice input").uncheck();
  assert.equal(await page.locator(".scene-panel:visible").count(), 1);
});

test("the keyboard alone is enough", async ({ open }) => {
  const page = await open(casePage);
  await shown(page);
  const broken = await fingerprint(page);
  await tabTo(page, "input[name=variant]");
  await page.keyboard.press("ArrowRight");
  // The question comes first; its slider has the focus.
  await page.waitForFunction(() => document.activeElement?.id === "guess");
  for (let presses = 0; presses < 5; presses++) await page.keyboard.press("ArrowRight");
  await tabTo(page, ".prediction button[type=submit]");
  await page.keyboard.press("Enter");
  const fixed = await untilFingerprintChanges(page, broken);
  // The guess and the answer.
  await page.locator(".reveal b").nth(1).waitFor();
  assert.equal(await page.locator("input[name=variant]:checked").inputValue(), "fixed");

  await page.locator("body").press("Home");
  await page.evaluate(() => document.activeElement.blur());
  await tabTo(page, ".scrubber");
  await page.keyboard.press("Home");
  const first = await page.locator(".moment").textContent();
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await page.locator(".moment").textContent(), first);
  assert.match(await page.locator(".moment").textContent(), /^Read 2 /);

  await tabTo(page, ".controls input[type=range]");
  // The fixed variant does not feel the first step, from 8.25 to 8 MiB.
  for (let presses = 0; presses < 4; presses++) await page.keyboard.press("ArrowLeft");
  await untilFingerprintChanges(page, fixed);

  await tabTo(page, "[role=tab]");
  const chosen = await page.evaluate(() => document.activeElement.textContent);
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await page.evaluate(() => document.activeElement.textContent), chosen);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-selected")), "true");

  const own = await fingerprint(page);
  await tabTo(page, ".what-ifs button");
  const experiment = await page.evaluate(() => document.activeElement.textContent);
  await page.keyboard.press("Enter");
  await untilFingerprintChanges(page, own);
  assert.equal(await page.locator(".what-ifs button[aria-pressed=true]").textContent(), experiment);
  assert.ok((await page.locator(".variant-summary").textContent()).startsWith(experiment));

  await tabTo(page, ".carry-on button");
  await page.keyboard.press("Enter");
  await page.locator(".console textarea").waitFor();
  await tabTo(page, ".family-list a");
  const next = await page.evaluate(() => document.activeElement.href);
  await page.keyboard.press("Enter");
  await page.waitForURL(next);
});

test("on a phone a key never gives the focus to what is out of sight, and an experiment takes it to the picture", async ({
  open,
}) => {
  const page = await open("/openzfs-throttle.html", { ...phone, reducedMotion: "reduce" });
  await skipQuestion(page, "openzfs-throttle");
  await ran(page);
  const outside = [];
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press("Tab");
    // What comes near is laid out and drawn meanwhile, and moves what has the focus.
    await page.waitForTimeout(150);
    const where = () => {
      const { activeElement: focused } = document;
      const { top, bottom, height } = focused.getBoundingClientRect();
      const isOut = height < innerHeight && (top < -1 || bottom > innerHeight + 1);
      return { isOut, name: `${focused.localName} ${focused.textContent.slice(0, 40)}: ${top} to ${bottom}` };
    };
    let found = await page.evaluate(where);
    for (let waits = 0; found.isOut && waits < 10; waits++) {
      await page.waitForTimeout(100);
      found = await page.evaluate(where);
    }
    if (found.isOut) outside.push(found.name);
  }
  assert.deepEqual(outside, []);
  await page.locator(".what-ifs button").first().focus();
  await page.keyboard.press("Enter");
  const summary = page.locator(".variant-summary");
  assert.ok(await summary.evaluate((words) => words === document.activeElement));
  const { y, height } = await summary.boundingBox();
  assert.ok(y >= 0 && y + height <= phone.viewport.height, `the words are at ${y} px`);
  await summary.getByRole("button").click();
  assert.ok(await page.evaluate(() => document.activeElement.matches(".what-ifs button")));
});

test("what is read while the page is scrolled at once does not move", async ({ open }) => {
  const page = await open("/blank.html", { viewport: { width: 390, height: 844 } });
  await page.addInitScript(() => {
    globalThis.moved = 0;
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) globalThis.moved += value;
    }).observe({ type: "layout-shift", buffered: true });
  });
  await page.goto(new URL("/incast.html", page.url()).href);
  await ran(page);
  for (let turns = 0; turns < 50; turns++) {
    await page.mouse.wheel(0, 180);
    await page.waitForTimeout(60);
  }
  await page.waitForTimeout(1000);
  const moved = await page.evaluate(() => globalThis.moved);
  assert.ok(moved <= 0.05, `moved by ${moved}`);
  note(moved.toFixed(3));
});

test("the question can be skipped and is not asked again", async ({ open }) => {
  const page = await open(casePage);
  await shown(page);
  const broken = await fingerprint(page);
  await page.getByRole("button", { name: "Skip" }).click();
  await untilFingerprintChanges(page, broken);
  await page.goto(page.url().replace(/#.*/, ""));
  await page.reload();
  await shown(page);
  assert.equal(await page.locator(".question").isVisible(), false);
  const before = await fingerprint(page);
  await page.locator("input[name=variant][value=fixed]").check({ force: true });
  await untilFingerprintChanges(page, before);
});

test("visited values leave a trail, and the whole range is run on other threads and can be cancelled", async ({
  open,
}) => {
  const page = await open(casePage, { reducedMotion: "reduce" });
  await shown(page);
  const panel = page.locator(".trail");
  const whole = panel.getByRole("button", { name: "Whole range" });
  // The range may hold the answer.
  assert.equal(await whole.isDisabled(), true);
  const first = await fingerprint(page);
  await page.getByRole("button", { name: "Skip" }).click();
  const before = await untilFingerprintChanges(page, first);
  const slider = page.locator(".controls input[type=range]").nth(1);
  await slider.focus();
  await page.keyboard.press("ArrowLeft");
  const moved = await untilFingerprintChanges(page, before);
  await page.waitForFunction(() => document.querySelectorAll(".trail .visited").length > 0);
  const title = await page.locator(".controls .control label").nth(1).textContent();
  assert.ok((await panel.locator(".trail-title").textContent()).includes(title));

  await whole.click();
  await panel.getByRole("button", { name: "Cancel" }).click();
  await whole.waitFor();
  await whole.click();
  await page.waitForFunction(() => document.querySelector(".whole-range").checkVisibility(), undefined, {
    timeout: 60_000,
  });
  await panel.locator("summary").click();
  await panel.locator("tbody tr").first().waitFor();
  const rows = await panel.locator("tbody tr").count();
  assert.ok(rows > 5, `${rows} rows`);
  assert.equal(await fingerprint(page), moved);
  await assertAccessible(page);
  // One row has the number of the dial: that of the value on the stage.
  const dial = await page.locator(".dial b").first().textContent();
  const cells = await panel.locator("tbody tr").allTextContents();
  assert.ok(
    cells.some((text) => text.includes(dial)),
    cells.join(" "),
  );
  note(`${rows} values`);
});

test("the whole range of a knob comes by itself, but not before the question is answered", async ({ open }) => {
  const page = await open("/averaged-away.html", { reducedMotion: "reduce" });
  await ran(page);
  const drawn = () =>
    page.evaluate(() => document.querySelector(".trail .whole")?.getAttribute("d").split("L").length ?? 0);
  // Several times as long as it takes.
  await page.waitForTimeout(2000);
  assert.equal(await drawn(), 0);
  await page.getByRole("button", { name: "Skip" }).click();
  const isDrawn = () => document.querySelector(".trail .whole")?.getAttribute("d").split("L").length >= 20;
  await page.waitForFunction(isDrawn);
  const before = await page.locator(".trail .whole").getAttribute("d");
  const runs = await page.evaluate(() => document.querySelectorAll(".trail .visited").length);
  // Another knob has another range.
  await page.locator(".controls input[type=range]").last().focus();
  await page.keyboard.press("End");
  await page.waitForFunction((old) => document.querySelector(".trail .whole")?.getAttribute("d") !== old, before);
  await page.waitForFunction(isDrawn);
  note(`${await drawn()} values, of which ${runs} visited`);
});

test("a run that is refused says where and why, and the last good one stays", async ({ open }) => {
  const page = await open(casePage + hashOf({ variant: "broken", set: { "volume.prefetch.chnk": 1 } }));
  await page.locator(".notice").filter({ hasText: "volume.prefetch" }).waitFor();
  await shown(page);
  const good = await fingerprint(page);
  await page.evaluate((hash) => (location.hash = hash), hashOf({ variant: "broken", set: { "layout.unit": "8q" } }));
  await page.locator(".notice").filter({ hasText: "layout.unit" }).waitFor();
  assert.equal(await fingerprint(page), good);
  const words = await page.locator(".notice p").first().textContent();
  const unknown = await open(casePage + hashOf({ variant: "brken" }));
  await unknown.locator(".notice").filter({ hasText: "broken" }).waitFor();
  await shown(unknown);
  note(words);
});

test("terms explain themselves by mouse, by key and by a tap", async ({ open }) => {
  for (const options of [{}, phone]) {
    const page = await open(casePage, { ...options, reducedMotion: "reduce" });
    await skipQuestion(page);
    await shown(page);
    const term = page.locator(".term").first();
    const tip = page.locator(".tip").first();
    await term.scrollIntoViewIfNeeded();
    assert.equal(await tip.isVisible(), false);
    if (options === phone) await term.tap();
    else await term.hover();
    await tip.waitFor();
    const { x, width } = await tip.boundingBox();
    assert.ok(x >= 0 && x + width <= page.viewportSize().width, `from ${x}, ${width} wide`);
    if (options === phone) continue;
    await page.mouse.move(1, 1);
    await tip.waitFor({ state: "hidden" });
    await term.focus();
    await tip.waitFor();
    await page.keyboard.press("Escape");
    await tip.waitFor({ state: "hidden" });
  }
});

test("a slider simulates again while it moves", { tag: "@timed" }, async ({ open }) => {
  const page = await open(casePage);
  await shown(page);
  await page.waitForTimeout(1500);
  const before = await sentence(page);
  const times = await page.evaluate(async () => {
    const slider = document.querySelectorAll(".controls input[type=range]")[1];
    const words = document.querySelector(".sentence");
    const list = [];
    for (let step = 0; step < 12; step++) {
      const drawn = new Promise((resolve) => {
        new MutationObserver((_, observer) => {
          observer.disconnect();
          requestAnimationFrame(() => resolve(performance.now()));
        }).observe(words, { childList: true });
      });
      const begun = performance.now();
      slider.valueAsNumber -= 1;
      slider.dispatchEvent(new Event("input", { bubbles: true }));
      list.push((await drawn) - begun);
    }
    return list;
  });
  assert.notEqual(await sentence(page), before);
  const median = times.toSorted((a, b) => a - b)[6];
  note(`median ${median.toFixed(0)} ms from slider to redraw`);
});

test("the end of a prefetch can be dragged", async ({ open }) => {
  const page = await open(casePage, { reducedMotion: "reduce" });
  await shown(page);
  await page.getByRole("button", { name: "Next" }).click();
  const before = await fingerprint(page);
  const grip = await page.locator(".grip").boundingBox();
  await page.mouse.move(grip.x + grip.width / 2, grip.y + grip.height / 2);
  await page.mouse.down();
  await page.mouse.move(grip.x + grip.width / 2 - 40, grip.y + grip.height / 2, { steps: 5 });
  await page.mouse.up();
  await untilFingerprintChanges(page, before);
  await untilHash(page, (state) => state.set["volume.prefetch.chunk"] < 8388608);
});

test("the machine of the cluster map is sent to another node by hand and by key, and the map follows", async ({
  open,
}) => {
  const page = await open("/hci-taxonomy.html", { reducedMotion: "reduce" });
  const map = ".run-frame:not(.first-picture) .cluster-map svg[role=img]";
  await page.locator(map).waitFor();
  await page.waitForFunction(() => /^[0-9a-f]{16}$/.test(document.querySelector("#fingerprint")?.textContent ?? ""));
  // Skipping the question shows the variant that it was about: another run.
  const first = await fingerprint(page);
  await page.getByRole("button", { name: "Skip" }).click();
  await untilFingerprintChanges(page, first);
  const machine = page.locator(".stage.cluster .machine");
  assert.equal(await page.locator(`${map} > g:has(> rect)`).count(), 8, "a column for each node");
  const target = async () => Number(await machine.getAttribute("aria-valuenow"));
  const wasSentTo = await target();
  const before = await fingerprint(page);
  await machine.focus();
  await page.keyboard.press("ArrowLeft");
  await untilFingerprintChanges(page, before);
  assert.equal(await target(), wasSentTo - 1);
  await untilHash(page, (state) => state.set["cluster.moves[0].to"] === wasSentTo - 1);
  // At the end of the run the machine stands on the node it was sent to.
  const untilItRunsOn = async (node) => {
    await page.locator(".scrubber").press("End");
    await page.waitForFunction(
      (number) => new RegExp(`^\\D+ ${number},`).test(document.querySelector(".moment").textContent),
      node,
    );
  };
  await untilItRunsOn(wasSentTo - 1);
  const frame = await page.locator(".cluster-frame").boundingBox();
  const grip = await machine.boundingBox();
  const sent = await fingerprint(page);
  await page.mouse.move(grip.x + grip.width / 2, grip.y + grip.height / 2);
  await page.mouse.down();
  await page.mouse.move(frame.x + frame.width - 20, grip.y + grip.height / 2, { steps: 5 });
  await page.mouse.up();
  await untilFingerprintChanges(page, sent);
  assert.equal(await target(), 7, "dropped on the last node");
  await untilItRunsOn(7);
});

test("facts are checked one after the other", async ({ open }) => {
  const page = await open(casePage);
  await skipQuestion(page);
  await shown(page);
  await page.locator("#facts-title").scrollIntoViewIfNeeded();
  await page.waitForFunction(() => /^\d+ of \d+ /.test(document.querySelector(".count").textContent));
  assert.equal(await page.locator(".facts .verdict.error").count(), 0);
  note(await page.locator(".count").textContent());
});

test("every evidence tab shows something and says what it hides", async ({ open }) => {
  const page = await open(casePage);
  await shown(page);
  await page.locator(".evidence").scrollIntoViewIfNeeded();
  await page.getByRole("tab").first().waitFor();
  const names = [];
  for (const tab of await page.getByRole("tab").all()) {
    await tab.click();
    const name = (await tab.getAttribute("id")).replace("tab-", "");
    await page.locator(`.evidence .figure[data-view="${name}"] > *`).first().waitFor();
    assert.equal(await page.locator(".evidence .figure .empty").count(), 0, await tab.textContent());
    assert.match(await page.locator(".hides").textContent(), /[Hh]ide/);
    names.push(await tab.textContent());
  }
  assert.ok(names.length > 3, names.join(", "));
  note(names.join(", "));
});

test("with reduced motion it steps", { tag: "@timed" }, async ({ open }) => {
  const page = await open(casePage, { reducedMotion: "reduce" });
  await shown(page);
  await page.locator(".play").click();
  const moments = await page.evaluate(async () => {
    const seen = new Set();
    for (const end = performance.now() + 2500; performance.now() < end;) {
      seen.add(document.querySelector(".clock").textContent);
      await new Promise(requestAnimationFrame);
    }
    return seen.size;
  });
  assert.ok(moments >= 2 && moments <= 5, `${moments} different moments in 2.5 s`);
});

test("pictures, tables and the run are saved as files, and the code of a frame is copied", async ({
  open,
  address,
}) => {
  const page = await open(casePage, { permissions: ["clipboard-read", "clipboard-write"] });
  await skipQuestion(page);
  await shown(page);
  const saved = async (button) => {
    const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
    return [download.suggestedFilename(), readFileSync(await download.path())];
  };
  const carry = page.locator(".carry-on");
  const [name, picture] = await saved(carry.getByRole("button", { name: /PNG/ }));
  assert.match(name, /^odx-prefetch-.*\.png$/);
  assert.equal(picture.subarray(1, 4).toString(), "PNG");
  assert.ok(picture.length > 5_000);
  const [, svg] = await saved(carry.getByRole("button", { name: /SVG/ }));
  assert.match(svg.toString(), /^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
  assert.ok(!svg.toString().includes("var(--"), "the picture needs the page's variables");
  const saves = page.locator(".evidence .saves");
  await page.locator(".evidence").scrollIntoViewIfNeeded();
  await page.locator(".evidence .figure svg").first().waitFor();
  const [, chart] = await saved(saves.getByRole("button", { name: "SVG" }));
  assert.ok(chart.toString().includes("<path"));
  const [, table] = await saved(saves.getByRole("button", { name: "CSV" }));
  assert.ok(table.toString().split("\n").length > 3);
  const [, csv] = await saved(carry.getByRole("button", { name: /CSV/ }));
  const [, arrow] = await saved(carry.getByRole("button", { name: /Arrow/ }));
  const operations = tableFromIPC(arrow);
  assert.equal(operations.numRows, csv.toString().trimEnd().split("\n").length - 1);
  assert.equal(operations.getChild("op").get(0), "read");
  const [, run] = await saved(carry.getByRole("button", { name: /JSON/ }).first());
  assert.equal(JSON.parse(run).fingerprint, await fingerprint(page));
  await carry.getByRole("button", { name: /embed/ }).click();
  await carry.locator(".said").filter({ hasText: /\S/ }).waitFor();
  const code = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(code.includes(`${address}/odx-prefetch.html?embed=1`), code);
});

test("a clip plays in the first picture before the engine is there, and the live frame goes on from it", async ({
  open,
}) => {
  const page = await open("/blank.html");
  let letGo;
  const held = new Promise((resolve) => (letGo = resolve));
  await page.route("**/*.wasm", async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(new URL("/vdisk-sharding.html", page.url()).href);
  const momentOf = (frame) => page.locator(`${frame} .scrubber`).evaluate((scrubber) => scrubber.valueAsNumber);
  const [clip, live] = [".first-picture.wide", ".run-frame:not(.first-picture)"];
  await page.locator(`${clip} .stage canvas`).waitFor();
  const before = await momentOf(clip);
  await page.waitForFunction(
    ([frame, from]) => document.querySelector(`${frame} .scrubber`).valueAsNumber > from,
    [clip, before],
  );
  const stopped = await momentOf(clip);
  letGo();
  await page.locator(`${live} .stage canvas`).waitFor();
  await page.waitForFunction(() => document.querySelector(".first-picture") === null);
  assert.ok((await momentOf(live)) >= stopped);
});
