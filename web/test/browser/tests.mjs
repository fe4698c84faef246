/** One function for each behaviour, named by it. A returned string is printed beside the name. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { tableFromIPC } from "apache-arrow";
import { monkeyTest } from "./monkey.mjs";
import { site } from "./host.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const casePage = "/odx-prefetch.html";
const validationPage = "/validation.html";
const designerPage = "/designer.html";
const ownPages = [
  "404.html",
  "index.html",
  "validation.html",
  "presets.html",
  "designer.html",
  "oncall.html",
  "diagnose.html",
  "calibrate.html",
  "notebooks.html",
  "slides.html",
];
const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };

/** The example of the documentation as `seeklab oncall --seal` seals it, by the formats that it names. */
function sealedCase() {
  const text = readFileSync(join(site, "../../docs/instructor/capstone.toml"));
  const coded = gzipSync(text).toString("base64").replace(/.{64}/g, "$&\n");
  const label = "SEEKLAB SEALED CASE-----";
  const digest = createHash("sha256").update(text).digest("hex");
  return `SHA-256: ${digest}\n-----BEGIN ${label}\n${coded}\n-----END ${label}\n`;
}

/** What the designer says of a pool once all of its tests have run. */
const measuredPool = /of 12 tests keep a part busy/;

const fingerprint = (page) => page.locator("#fingerprint").textContent();
const sentence = (page) => page.locator(".sentence").first().textContent();

/** The front page shows a run. */
const frontShown = (page) => page.locator(".live .stage canvas").waitFor();

/** The page shows a run: the strip is drawn and the fingerprint is there. */
async function shown(page) {
  await page.locator(".strip .read").first().waitFor();
  await page.waitForFunction(() => /^[0-9a-f]{16}$/.test(document.querySelector("#fingerprint")?.textContent ?? ""));
}

/** A case's page, whichever its stage, shows a whole run. */
async function ran(page) {
  await page.waitForFunction(
    () => /^[0-9a-f]{16}$/.test(document.querySelector("#fingerprint")?.textContent ?? ""),
    undefined,
    { timeout: 120_000 },
  );
}

async function untilFingerprintChanges(page, from) {
  await page.waitForFunction((old) => document.querySelector("#fingerprint").textContent !== old, from);
  return fingerprint(page);
}

/** Waits until the state in the address passes the test. */
async function untilHash(page, test) {
  for (let tries = 0; tries < 100; tries++) {
    const text = new URL(page.url()).hash.replace(/^#v1=/, "");
    if (text !== "" && test(JSON.parse(Buffer.from(text, "base64url").toString()))) return;
    await page.waitForTimeout(50);
  }
  throw new Error(`the address never held what it should: ${page.url()}`);
}

function hashOf(state) {
  return `#v1=${Buffer.from(JSON.stringify({ set: {}, seed: 1, ui: {}, ...state })).toString("base64url")}`;
}

/** Everything that axe finds, as lines. */
async function violations(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.target.join(" ")} ${node.failureSummary}`),
  );
}

async function assertAccessible(page) {
  const found = await violations(page);
  assert.deepEqual(found, []);
}

/** Makes the question of a case one that the reader has skipped before: nothing is covered. */
async function skipQuestion(page, id = "odx-prefetch") {
  await page.evaluate((key) => localStorage.setItem(key, JSON.stringify({ guess: null })), `seeklab.prediction.${id}`);
  await page.reload();
}

/** The files of all cases' pages. */
function casePages() {
  const isCase = (name) => name.endsWith(".html") && !ownPages.includes(name) && !/^\d\d-/.test(name);
  return readdirSync(site).filter(isCase);
}

/** Those that a test which plays runs looks at: one for each stage, or all of them with SEEKLAB_PAGES=all. */
function playedPages() {
  const one = [
    "odx-prefetch",
    "tune-openzfs",
    "vdisk-sharding",
    "misaligned-io",
    "one-window-per-rtt",
    "sync-serialised",
    "slc-cliff",
  ];
  return process.env.SEEKLAB_PAGES === "all" ? casePages() : one.map((id) => `${id}.html`);
}

/** What the canvas of the stage shows. */
const picture = (page) => page.evaluate(() => document.querySelector(".stage canvas").toDataURL());

async function tabTo(page, selector) {
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
  }
  throw new Error(`no way to ${selector} by the Tab key`);
}

/** Scrolls to the end and back, so that what is drawn when it is seen has been drawn. */
async function scrollThrough(page) {
  await page.evaluate(async () => {
    for (let y = 0; y < document.body.scrollHeight; y += 500) {
      scrollTo(0, y);
      await new Promise((next) => setTimeout(next, 60));
    }
    scrollTo(0, 0);
  });
}

export const tests = {
  async "the first chart is there"({ open }) {
    const page = await open(casePage);
    await shown(page);
    const ms = await page.evaluate(() => performance.getEntriesByName("first-chart")[0].startTime);
    const front = await open("/");
    await front.waitForFunction(() => performance.getEntriesByName("first-chart").length > 0);
    const frontMs = await front.evaluate(() => performance.getEntriesByName("first-chart")[0].startTime);
    return `case page ${ms.toFixed(0)} ms, front page ${frontMs.toFixed(0)} ms after navigation`;
  },

  async "the first load has one case of the library, and beside the engine at most 190 kB gzip"({ open }) {
    const page = await open(casePage);
    await shown(page);
    const urls = await page.evaluate(() =>
      performance.getEntriesByType("resource").map((entry) => new URL(entry.name).pathname.slice(1)),
    );
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
    assert.ok(total - wasm < 190_000, `${total - wasm} bytes beside the engine`);
    return `${(total / 1000).toFixed(0)} kB, of which the engine ${(wasm / 1000).toFixed(0)} kB`;
  },

  async "the front page has a place for every incident on the ladder, and finds incidents by words and by standing"({
    open,
  }) {
    const page = await open("/");
    await frontShown(page);
    const cases = casePages().length;
    assert.equal(await page.locator(".ladder li .rung circle").count(), cases);
    const outside = await page.evaluate(() => {
      const axis = document.querySelector(".ladder-axis").getBoundingClientRect();
      const inside = ({ left, right }) => left > axis.left - 8 && right < axis.right + 8;
      return [...document.querySelectorAll(".rung circle, .rung line")].filter(
        (mark) => !inside(mark.getBoundingClientRect()),
      ).length;
    });
    assert.equal(outside, 0);
    assert.equal(await page.locator(".catalogue .case-card:visible").count(), cases);
    await page.getByLabel("Search").fill("Throttle 2013");
    const some = await page.locator(".catalogue .case-card:visible").count();
    assert.ok(some > 0 && some < 10, `${some} incidents`);
    assert.match(await page.locator(".found").textContent(), new RegExp(`^${some} of ${cases} incidents`));
    await page.getByLabel("Search").fill("nothing is called this");
    await page.locator(".found").filter({ hasText: "No incident has all of these words." }).waitFor();
    // One prediction, far off: predicted, and not well.
    await page.evaluate(() => {
      localStorage.setItem("seeklab.prediction.odx-prefetch", JSON.stringify({ guess: 50 }));
      localStorage.setItem("seeklab.answer.odx-prefetch", "5.2");
    });
    await page.reload();
    await page.getByText(`You have predicted 1 of ${cases}, 0 of them well`).waitFor();
    await page.getByLabel("Your prediction").selectOption("predicted");
    assert.equal(await page.locator(".catalogue .case-card:visible").count(), 1);
    const pictures = await page.evaluate(() =>
      Promise.all([...document.images].map((image) => fetch(image.src).then((response) => response.ok))),
    );
    assert.ok(pictures.length === cases && pictures.every(Boolean));
  },

  async "every case's page has a card with its picture, and leads to the one before, the one after and its family"({
    open,
    address,
  }) {
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
  },

  async "every case's page has a stage, evidence and no sideways scrolling on a phone"({ open }) {
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
    }
    return `${cases.length} cases`;
  },

  async "monkey testing finds no error"({ open }) {
    // With SEEKLAB_PAGES=all on every page, each time in another order; SEEKLAB_SEED repeats one.
    const isWhole = process.env.SEEKLAB_PAGES === "all";
    const seed = Number(process.env.SEEKLAB_SEED ?? (isWhole ? Date.now() % 1e6 : 1));
    const wrong = [];
    for (const name of isWhole ? readdirSync(site).filter((file) => file.endsWith(".html")) : ["odx-prefetch.html"]) {
      const page = await open(`/${name}`);
      wrong.push(...(await monkeyTest(page, { seed, times: isWhole ? 60 : 30 })));
      await page.context().close();
    }
    assert.ok(wrong.length === 0, `seed ${seed}: ${wrong.join("\n")}`);
    return `seed ${seed}`;
  },

  async "on every case's page Play moves actors"({ open }) {
    const led = [];
    for (const name of playedPages()) {
      const page = await open(`/${name}`);
      await page.locator(".stage").first().waitFor();
      await page.waitForFunction(() => performance.getEntriesByName("first-chart").length > 0);
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
    return `${led.length} of ${playedPages().length} pages lead with actors`;
  },

  async "no page shows the answer before its question is answered"({ open }) {
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
      await page.getByRole("button", { name: /^Commit/ }).click();
      const reveal = page.locator(".reveal").filter({ hasText: /Simulated: / });
      await reveal.waitFor({ timeout: 120_000 });
      const answer = await reveal.locator("b").nth(1).textContent();
      const number = /[\d.,]*\d/.exec(answer)[0];
      // A single digit says nothing where it stands, and what the question tells itself is no secret.
      if (number.replace(/\D/g, "").length > 1 && !question.includes(number)) {
        // A hundred of something else is no hundred per cent.
        const unit = answer.endsWith("×") ? "\\s?(×|times)" : answer.endsWith("%") ? "\\s?(%|per cent)" : "";
        const words = new RegExp(`(?<![\\d.,])${number.replaceAll(".", "\\.")}(?![\\d]|[.,]\\d)${unit}`);
        const at = before.search(words);
        if (at >= 0) told.push(`${name}: ${answer} in "${before.slice(Math.max(0, at - 40), at + 20)}"`);
      }
      await page.context().close();
    }
    assert.deepEqual(told, []);
    return `${playedPages().length} pages`;
  },

  async "after the prediction two runs play on one clock"({ open }) {
    const page = await open("/vdisk-sharding.html");
    await page.locator(".stage canvas").first().waitFor();
    await page.getByRole("button", { name: /^Commit/ }).click();
    await page.locator(".scene-title").filter({ hasText: "Before" }).waitFor();
    const titles = await page.locator(".scene-title:visible").allTextContents();
    assert.deepEqual(titles, ["Before", "Both"]);
    await page.locator(".pair-choice input").uncheck();
    assert.equal(await page.locator(".scene-panel:visible").count(), 1);
  },

  async "axe finds nothing, light and dark"({ open }) {
    for (const colorScheme of ["light", "dark"]) {
      for (const path of [casePage, "/"]) {
        const page = await open(path, { colorScheme, reducedMotion: "reduce" });
        if (path === casePage) {
          await skipQuestion(page);
          await page.locator(".strip .read").first().waitFor();
        } else await frontShown(page);
        await scrollThrough(page);
        if (path === casePage) {
          await page.waitForFunction(() => document.querySelector(".count").textContent.includes("hold"));
          for (const tab of await page.getByRole("tab").all()) {
            await tab.click();
            await assertAccessible(page);
          }
        } else await assertAccessible(page);
      }
    }
    if (process.env.SEEKLAB_PAGES !== "all") return undefined;
    const found = [];
    const names = [...casePages(), "presets.html", "designer.html", "404.html"];
    for (const name of names) {
      for (const colorScheme of ["light", "dark"]) {
        const page = await open(`/${name}`, { colorScheme, reducedMotion: "reduce" });
        const look = async (what) => {
          for (const finding of await violations(page)) found.push(`${name}, ${colorScheme}, ${what}: ${finding}`);
        };
        if (ownPages.includes(name)) {
          await page.waitForLoadState("networkidle");
          await look("page");
        } else {
          await ran(page);
          await look("question open");
          await skipQuestion(page, name.replace(".html", ""));
          await ran(page);
          await scrollThrough(page);
          for (const tab of await page.getByRole("tab").all()) {
            await tab.click();
            await look(await tab.textContent());
          }
          const life = page.locator('input[value="life"]');
          if ((await life.count()) > 0) {
            await life.check({ force: true });
            // A request, or that none begins at the moment that was looked at.
            await page.locator(".follow .moment").filter({ hasText: /\S/ }).waitFor();
            await look("life of a request");
          }
        }
        await page.context().close();
      }
    }
    assert.deepEqual(found, []);
    return `${names.length} pages`;
  },

  async "the page on validation replays its trace, and axe finds nothing, light and dark, wide and narrow"({ open }) {
    for (const options of [{ colorScheme: "light" }, { colorScheme: "dark" }, phone]) {
      const page = await open(validationPage, { ...options, reducedMotion: "reduce" });
      await page
        .locator(".sentence")
        .filter({ hasText: /Demerit .* reads .* writes / })
        .waitFor();
      await scrollThrough(page);
      await page.locator(".count").filter({ hasText: "from the closed form" }).waitFor();
      await assertAccessible(page);
      const [needed, given] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(needed <= given, `${needed} px wide in a window of ${given}`);
    }
    const page = await open("/");
    await page.getByRole("link", { name: "Validation" }).click();
    await page.locator(".sentence").filter({ hasText: "Demerit" }).waitFor();
    return sentence(page);
  },

  async "on the page on validation the keyboard turns the drive, and a reload shows the same"({ open }) {
    const page = await open(validationPage);
    await page.locator(".sentence").filter({ hasText: "Demerit" }).waitFor();
    const before = await sentence(page);
    await tabTo(page, ".controls input[type=range]");
    for (let presses = 0; presses < 5; presses++) await page.keyboard.press("ArrowRight");
    await page.waitForFunction((old) => document.querySelector(".sentence").textContent !== old, before);
    await untilHash(page, (state) => Object.keys(state.set).length === 1);
    await page.waitForTimeout(300);
    const turned = await sentence(page);
    await page.reload();
    await page.locator(".sentence").filter({ hasText: "Demerit" }).waitFor();
    assert.equal(await sentence(page), turned);
    await page.getByRole("button", { name: "Reset" }).click();
    await page.waitForFunction((old) => document.querySelector(".sentence").textContent === old, before);
    // A file that is no drive is refused with a sentence, and what was shown stays.
    await page.getByText("Your own drive and trace").click();
    await page.locator("#own-drive").setInputFiles({ name: "d.json", mimeType: "", buffer: Buffer.from("{}") });
    await page.locator("#own-trace").setInputFiles({ name: "t.csv", mimeType: "", buffer: Buffer.from("op,lbn\n") });
    await page.locator(".notice p").first().waitFor();
    assert.equal(await sentence(page), before);
    const words = await page.locator(".notice p").first().textContent();
    // A small file that unpacks to a large one is refused by its name and the limit.
    const buffer = gzipSync(Buffer.alloc(2 ** 27));
    await page.locator("#own-trace").setInputFiles({ name: "bomb.csv.gz", mimeType: "application/gzip", buffer });
    await page.locator(".notice p").filter({ hasText: "bomb.csv.gz: unpacks to more than 64" }).waitFor();
    assert.equal(await sentence(page), before);
    return words;
  },

  async "the designer measures a pool, says what binds it, and refuses what cannot be built"({ open }) {
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
    assert.match(told, /Cache in memory: 192 GiB do not fit into a memory of 128 GiB/);
    assert.match(await sentence(page), /22\.0 TB/);
    await page.getByRole("button", { name: "A log of 74 GB" }).click();
    await page.locator(".warnings p").filter({ hasText: "74 GB in all, of which 6 GiB can ever be used" }).waitFor();
    assert.equal(await page.locator(".notice").isVisible(), false);
    await page.getByRole("button", { name: "Reset" }).click();
    await page.locator(".sentence").filter({ hasText: measuredPool }).waitFor();
    assert.equal(await sentence(page), before);
    // A pool is kept, another one is measured beside it, in the reader's currency.
    await page.getByRole("button", { name: "Keep this pool to compare" }).click();
    await page.getByText("Prices", { exact: true }).click();
    await page.getByLabel("Currency").selectOption("CHF");
    await logs.focus();
    await page.keyboard.press("ArrowRight");
    await page
      .locator(".outcome p")
      .filter({ hasText: "This one costs CHF\u00a04,000 more, for the same room." })
      .waitFor();
    await page.locator(".pool-tests th").filter({ hasText: "kept pool" }).waitFor();
    await page.locator(".sentence").filter({ hasText: measuredPool }).waitFor();
    // A second log SSD lifts one test, and a third one less.
    await page.getByLabel("More of").selectOption({ label: "Log SSDs" });
    await page.getByLabel("in the test").selectOption({ label: "128 threads, synchronous writes" });
    await page.getByRole("button", { name: "Draw the curve" }).click();
    await page.locator(".cost .quiet").filter({ hasText: "The dashed line is the most" }).waitFor();
    assert.match(await page.locator(".cost-curve svg").getAttribute("aria-label"), /^128 threads, synchronous writes/);
    // A link to a pool that cannot be built says so and shows the pool as it starts.
    const wrong = await open(designerPage + hashOf({ set: { disks: 4, width: 6, parity: 2 } }));
    await wrong.locator(".notice p").filter({ hasText: "Disks: 4 are fewer than a group of 6 needs" }).waitFor();
    return `${Math.round(took_ms)} ms; ${told}`;
  },

  async "the keyboard alone is enough"({ open }) {
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
    await page
      .locator(".reveal")
      .filter({ hasText: /You said .* Simulated/ })
      .waitFor();
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
  },

  async "the question can be skipped and is not asked again"({ open }) {
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
  },

  async "a reload from the address gives the same fingerprint"({ open }) {
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
    return `${before}, then ${after}`;
  },

  async "a control is swept over its range on other threads, and a sweep can be cancelled"({ open }) {
    const page = await open(casePage, { reducedMotion: "reduce" });
    await shown(page);
    const before = await fingerprint(page);
    const panel = page.locator(".sweep");
    const status = panel.locator(".sweep-status");
    await panel.getByLabel("Control").selectOption({ index: 1 });
    await panel.getByRole("button", { name: "Sweep this control" }).click();
    await panel.getByRole("button", { name: "Cancel" }).click();
    await status.filter({ hasText: /^Cancelled: \d+ of \d+ runs are shown/ }).waitFor();
    assert.equal(await panel.locator("progress").isVisible(), false);

    await panel.getByRole("button", { name: "Sweep this control" }).click();
    await status.filter({ hasText: /^\d+ runs: / }).waitFor({ timeout: 60_000 });
    const charts = panel.locator(".sweep-charts svg");
    const names = await charts.evaluateAll((found) => found.map((svg) => svg.getAttribute("aria-label")));
    assert.equal(names.length, 3);
    for (const name of names) assert.match(name, / against .+: from .+ to /);
    await panel.locator("summary").click();
    const rows = await panel.locator("tbody tr").count();
    assert.equal(`${rows} runs`, (await status.textContent()).split(":")[0]);
    assert.equal(await fingerprint(page), before);
    await assertAccessible(page);

    // The row of the value on the stage says what the stage says.
    const now = await page.locator(".controls .control output").nth(1).textContent();
    const row = await panel.locator("tbody tr").filter({ hasText: now }).first().locator("td").allTextContents();
    assert.ok((await sentence(page)).includes(row[1].split("\u00a0")[0]), `${row.join(" ")} | ${await sentence(page)}`);

    // What one expects is drawn first, here by keys alone, and laid over the runs.
    await panel.getByRole("button", { name: "Draw what you expect first" }).press("Enter");
    const points = panel.getByRole("slider");
    assert.equal(await points.count(), 7);
    await points.first().press("PageUp");
    await points.last().press("ArrowDown");
    await assertAccessible(page);
    await panel.getByRole("button", { name: "Sweep this control" }).press("Enter");
    await status.filter({ hasText: /Your line is within a quarter at \d+ of \d+ values/ }).waitFor({ timeout: 60_000 });
    assert.equal(await panel.locator(".sketch").count(), 0);
    assert.match(await panel.locator(".sweep-charts").textContent(), /yours/);
    return `${rows} runs; ${names[0]}`;
  },

  async "slides of a week ask before they tell, by keys alone, and play the run in the room"({ open }) {
    const page = await open("/slides.html");
    assert.equal(await page.locator(".slide-weeks li").count(), 10);
    await page.getByRole("link", { name: "Read-ahead and copies" }).press("Enter");
    const slide = page.locator(".slide.shown");
    await slide.getByText("Week 5").waitFor();
    // A belief stands alone before what is to be said to it.
    await page.keyboard.press("ArrowRight");
    const reply = slide.locator(".slide-prose");
    assert.equal(await reply.evaluate((element) => getComputedStyle(element).visibility), "hidden");
    await page.keyboard.press("Space");
    assert.equal(await reply.evaluate((element) => getComputedStyle(element).visibility), "visible");
    while ((await slide.locator(".slide-answer").count()) === 0) await page.keyboard.press("ArrowRight");
    await slide.getByRole("heading", { name: /of the bytes of each read miss the memory/ }).waitFor();
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
    assert.equal(await page.getByRole("button", { name: "On" }).isDisabled(), true);
    await page.keyboard.press("Escape");
    await page.locator(".slide-weeks").waitFor();

    const wrong = await open("/slides.html#week=11&slide=-3");
    await wrong.getByText("There is no week 11: the course has weeks 1 to 10.").waitFor();
    assert.equal(await wrong.locator(".slide-weeks li").count(), 10);
    return `${answer} at ${place}`;
  },

  async "an address that cannot be read says so, and the case starts as it is"({ open }) {
    const good = await open(casePage);
    await shown(good);
    const expected = await fingerprint(good);
    for (const [hash, words] of [
      ["#v1=%%%", /cannot be read/],
      ["#v1=bm90IGpzb24", /cannot be read/],
      ["#v9=e30", /newer version/],
    ]) {
      const page = await open(casePage + hash);
      await shown(page);
      assert.match(await page.locator(".notice").textContent(), words);
      assert.equal(await fingerprint(page), expected);
    }
    // On a page that already shows something, it stays.
    await good.evaluate(() => (location.hash = "#v9=e30"));
    await good.getByText("newer version").waitFor();
    assert.equal(await fingerprint(good), expected);
  },

  async "a link opens cases of this site and nothing else"({ open, address }) {
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
          .filter({ hasText: `“${name}”, which this site does not have` })
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
    await page.locator(".notice").filter({ hasText: "which this site does not have" }).waitFor();
    assert.equal(await fingerprint(page), before);
    await page.evaluate((hash) => (location.hash = hash), hashOf({ case: "combine-limit" }));
    await page.waitForURL(`${address}/combine-limit.html#*`);
    // A page that only led on is not where Back leads.
    await page.goto(`${address}/validation.html`);
    await page.goto(address + casePage + hashOf({ case: "combine-limit" }));
    await page.waitForURL(`${address}/combine-limit.html#*`);
    await page.goBack();
    assert.equal(new URL(page.url()).pathname, validationPage);
  },

  async "a run that is refused says where and why, and the last good one stays"({ open }) {
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
    return words;
  },

  async "Back undoes the last change, and Forward does it again"({ open }) {
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
  },

  async "a drag that goes on is one step back"({ open }) {
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
  },

  async "in a foreign page's frame a whole page shows nothing but a way out"({ open, address, foreign }) {
    const page = await open(
      await foreign(`<!doctype html><html lang="en"><title>Another site</title><body>
      <iframe src="${address}/diagnose.html" width="100%" height="760" title="A page"></iframe></body></html>`),
    );
    const frame = page.frames()[1];
    await frame.getByRole("link", { name: "Open this page of Seeklab" }).waitFor();
    assert.equal(await frame.locator("button:visible, input:visible").count(), 0);
  },

  async "in a foreign page a frame shows the stage, does what it is told, and answers hostile messages with a sentence"({
    open,
    address,
    foreign,
  }) {
    const url = await foreign(`<!doctype html><html lang="en"><title>Another site</title><body>
      <iframe src="${address}/odx-prefetch.html?embed=1" width="100%" height="760" title="An incident"></iframe></body></html>`);
    const page = await open(url);
    await page.evaluate(() => {
      globalThis.heard = [];
      addEventListener("message", ({ data }) => globalThis.heard.push(data));
    });
    const heard = (kind) => page.evaluate((wanted) => globalThis.heard.filter((each) => each.kind === wanted), kind);
    const tell = (message) =>
      page.evaluate((data) => document.querySelector("iframe").contentWindow.postMessage(data, "*"), message);
    const untilHeard = (kind, many) =>
      page.waitForFunction(
        ([wanted, least]) => globalThis.heard.filter((each) => each.kind === wanted).length >= least,
        [kind, many],
      );
    const frame = page.frames()[1];
    await frame.locator(".strip .read").first().waitFor();
    assert.equal(await frame.locator("header.site").isVisible(), false);
    assert.equal(await frame.locator(".evidence, .prediction, .carry-on").count(), 0);
    assert.ok(await frame.locator(".controls input[type=range]").first().isVisible());
    const [needed, given] = await frame.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(needed <= given);
    // What is told is done, and said.
    await tell({ seeklab: 1, kind: "set", variant: "fixed", set: { "volume.prefetch.chunk": 4194304 }, seed: 7 });
    await page.waitForFunction(() => globalThis.heard.some((each) => each.kind === "result" && each.seed === 7));
    const result = (await heard("result")).at(-1);
    assert.deepEqual([result.case, result.variant, result.seed], ["odx-prefetch", "fixed", 7]);
    assert.match(result.fingerprint, /^[0-9a-f]{16}$/);
    assert.ok(result.metrics["odx.read_latency_mean_ms"] > 0);
    await tell({ seeklab: 1, kind: "run" });
    await frame.locator(".play").filter({ hasText: "Pause" }).waitFor();
    // What is hostile changes nothing.
    const before = frame.url();
    const shownBefore = await frame.locator(".sentence").textContent();
    const hostile = [
      "javascript:alert(1)",
      null,
      { seeklab: 1, kind: "open", url: "https://example.org/" },
      { seeklab: 1, kind: "set", variant: "<img src=x onerror=alert(1)>" },
      { seeklab: 1, kind: "set", set: { "layout.unit": "8q" } },
      { seeklab: 1, kind: "set", set: { __proto__: null, "x.y": "<script>alert(1)</script>" } },
    ];
    const sofar = (await heard("refused")).length;
    for (const [nth, message] of hostile.entries()) {
      await tell(message);
      await untilHeard("refused", sofar + nth + 1);
    }
    for (const { message } of await heard("refused")) assert.match(message, /^[^<]{10,}$/s, message);
    assert.equal(await frame.locator(".sentence").textContent(), shownBefore);
    assert.equal(await frame.locator("img, script:not([src])").count(), 0);
    assert.equal(page.frames()[1].url().split("#")[0], before.split("#")[0]);
    assert.ok((await heard("size")).at(-1).height > 300);
    return (await heard("refused")).at(-1).message;
  },

  async "pictures, tables and the run are saved as files, and the code of a frame is copied"({ open, address }) {
    const page = await open(casePage, { permissions: ["clipboard-read", "clipboard-write"] });
    await skipQuestion(page);
    await shown(page);
    const saved = async (button) => {
      const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
      return [download.suggestedFilename(), readFileSync(await download.path())];
    };
    const carry = page.locator(".carry-on");
    const [name, picture] = await saved(carry.getByRole("button", { name: "Picture as PNG" }));
    assert.match(name, /^odx-prefetch-.*\.png$/);
    assert.equal(picture.subarray(1, 4).toString(), "PNG");
    assert.ok(picture.length > 5_000);
    const [, svg] = await saved(carry.getByRole("button", { name: "Picture as SVG" }));
    assert.match(svg.toString(), /^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
    assert.ok(!svg.toString().includes("var(--"), "the picture needs the page's variables");
    const saves = page.locator(".evidence .saves");
    await page.locator(".evidence").scrollIntoViewIfNeeded();
    await page.locator(".evidence .figure svg").first().waitFor();
    const [, chart] = await saved(saves.getByRole("button", { name: "SVG" }));
    assert.ok(chart.toString().includes("<path"));
    const [, table] = await saved(saves.getByRole("button", { name: "CSV" }));
    assert.ok(table.toString().split("\n").length > 3);
    const [, csv] = await saved(carry.getByRole("button", { name: "Operations as CSV" }));
    const [, arrow] = await saved(carry.getByRole("button", { name: "Operations as Arrow" }));
    const operations = tableFromIPC(arrow);
    assert.equal(operations.numRows, csv.toString().trimEnd().split("\n").length - 1);
    assert.equal(operations.getChild("op").get(0), "read");
    const [, run] = await saved(carry.getByRole("button", { name: "Run as JSON" }));
    assert.equal(JSON.parse(run).fingerprint, await fingerprint(page));
    await carry.getByRole("button", { name: "Copy embed code" }).click();
    await carry.getByText("is on the clipboard").waitFor();
    const code = await page.evaluate(() => navigator.clipboard.readText());
    assert.ok(code.includes(`${address}/odx-prefetch.html?embed=1`), code);
  },

  async "an address without a page is answered with what may have been meant"({ open }) {
    const page = await open("/odx-prefecth.html");
    await page.getByRole("heading", { name: "There is no page at this address" }).waitFor();
    await page.getByText("Did you mean").waitFor();
    await assertAccessible(page);
    await page.locator(".near a").first().click();
    await shown(page);
  },

  async "terms explain themselves by mouse, by key and by a tap"({ open }) {
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
  },

  async "a slider simulates again while it moves"({ open }) {
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
    return `median ${median.toFixed(0)} ms from slider to redraw`;
  },

  async "the end of a prefetch can be dragged"({ open }) {
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
  },

  async "the machine of the cluster map is sent to another node by hand and by key, and the map follows"({ open }) {
    const page = await open("/hci-taxonomy.html", { reducedMotion: "reduce" });
    const map = ".cluster-map svg[role=img]";
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
    await page.waitForFunction(
      (node) => document.querySelector(".moment").textContent.includes(`runs on node ${node}`),
      wasSentTo - 1,
    );
    const frame = await page.locator(".cluster-frame").boundingBox();
    const grip = await machine.boundingBox();
    const sent = await fingerprint(page);
    await page.mouse.move(grip.x + grip.width / 2, grip.y + grip.height / 2);
    await page.mouse.down();
    await page.mouse.move(frame.x + frame.width - 20, grip.y + grip.height / 2, { steps: 5 });
    await page.mouse.up();
    await untilFingerprintChanges(page, sent);
    assert.equal(await target(), 7, "dropped on the last node");
    await page.waitForFunction(() => document.querySelector(".moment").textContent.includes("runs on node 7"));
  },

  async "a long run shows progress and can be cancelled"({ open }) {
    const page = await open("/");
    await page.locator("#fio-preset option").first().waitFor({ state: "attached" });
    await page
      .locator("#fio-job")
      .fill("[long]\nrw=randread\nbs=4k\niodepth=32\nsize=4g\nnumber_ios=20000000\nnorandommap\n");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.locator(".bring .progress").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.locator(".bring .notice").filter({ hasText: "cancelled" }).waitFor();
  },

  async "a fio job file runs and prints what fio prints"({ open }) {
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
    return await page.locator(".bring .notice p").first().textContent();
  },

  async "facts are checked one after the other"({ open }) {
    const page = await open(casePage);
    await skipQuestion(page);
    await shown(page);
    await page.locator("#facts-title").scrollIntoViewIfNeeded();
    await page.waitForFunction(() => /^\d+ of \d+ facts hold/.test(document.querySelector(".count").textContent));
    assert.equal(await page.locator(".facts .verdict.error").count(), 0);
    return page.locator(".count").textContent();
  },

  async "every evidence tab shows something and says what it hides"({ open }) {
    const page = await open(casePage);
    await shown(page);
    const names = [];
    for (const tab of await page.getByRole("tab").all()) {
      await tab.click();
      const name = (await tab.getAttribute("id")).replace("tab-", "");
      await page.locator(`.evidence .figure[data-view="${name}"] > *`).first().waitFor();
      assert.equal(await page.locator(".evidence .figure .empty").count(), 0, await tab.textContent());
      assert.match(await page.locator(".hides").textContent(), /[Hh]ide/);
      names.push(await tab.textContent());
    }
    return names.join(", ");
  },

  async "a phone needs no sideways scrolling, and neither does 200 % zoom"({ open }) {
    for (const path of [casePage, "/"]) {
      for (const options of [phone, { viewport: { width: 640, height: 450 } }]) {
        const page = await open(path, options);
        await page.waitForFunction(() => performance.getEntriesByName("first-chart").length > 0);
        await scrollThrough(page);
        await page.waitForTimeout(500);
        const width = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        assert.ok(width[0] <= width[1], `${path} is ${width[0]} px wide in a window of ${width[1]}`);
      }
    }
  },

  async "with reduced motion it steps"({ open }) {
    const page = await open(casePage, { reducedMotion: "reduce" });
    await shown(page);
    const moments = await page.evaluate(async () => {
      const seen = new Set();
      for (const end = performance.now() + 2500; performance.now() < end;) {
        seen.add(document.querySelector(".clock").textContent);
        await new Promise(requestAnimationFrame);
      }
      return seen.size;
    });
    assert.ok(moments >= 2 && moments <= 5, `${moments} different moments in 2.5 s`);
  },

  async "the site works without a network after the first visit"({ open }) {
    const page = await open(casePage);
    await shown(page);
    const before = await fingerprint(page);
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.waitForFunction(
      async () =>
        (await caches.keys()).length === 1 && (await (await caches.open((await caches.keys())[0])).keys()).length > 5,
    );
    await page.context().setOffline(true);
    await page.reload();
    await shown(page);
    assert.equal(await fingerprint(page), before);
  },

  async "the Python console runs the case on the stage and gives its fingerprint"({ open }) {
    const page = await open(
      casePage + hashOf({ variant: "fixed", seed: 7, set: { "volume.prefetch.chunk": 4194304 } }),
    );
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
    return `${((performance.now() - begun) / 1000).toFixed(1)} s from a click to the fingerprint`;
  },

  async "the console draws a run, and a loop that prints without an end neither freezes the page nor survives Stop"({
    open,
  }) {
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
    return `${told} Longest frame ${slowest.toFixed(0)} ms, Stop after ${took_ms.toFixed(0)} ms.`;
  },

  async "a shift is played by keyboard to a solved end, and its state survives a reload"({ open }) {
    const page = await open("/oncall.html#seed=7");
    const begin = page.getByRole("button", { name: "Start the shift" });
    const line = page.getByRole("textbox", { name: "Command" });
    const log = page.locator(".shift-log");
    const logged = (words) =>
      page.waitForFunction((text) => document.querySelector(".shift-log").textContent.includes(text), words, {
        timeout: 60_000,
      });
    const type = async (text) => {
      await page.keyboard.type(text);
      await page.keyboard.press("Enter");
    };
    const ended = page.locator(".shift-debrief h2");

    await begin.focus();
    const begun = performance.now();
    await page.keyboard.press("Enter");
    assert.match(await page.locator(".shift-section .said").textContent(), /^Loading Python: \d+\sMB/);
    await line.waitFor({ timeout: 90_000 });
    const loaded_s = (performance.now() - begun) / 1000;
    await page.waitForFunction(() => document.activeElement?.matches(".shift-line"));

    // Ending at once shows the cause.
    await type("done");
    await ended.waitFor({ timeout: 60_000 });
    const cause = (await page.locator(".shift-debrief > p").nth(1).textContent()).replace("Cause: ", "");
    const remedy = await page.locator(".shift-beside > :last-child p").last().locator("code").textContent();
    assert.match(await ended.textContent(), /0 of 100 points/);

    // The same shift again, now with the known cause.
    await page.getByRole("link", { name: "Ticket 7" }).waitFor();
    await page.reload();
    await begin.click();
    await line.waitFor({ timeout: 90_000 });
    await page.keyboard.type("caus");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await logged(cause);
    await page.keyboard.type("x".repeat(1000));
    await page.keyboard.press("Enter");
    await logged("this one has 1,000, and was not carried out");
    await type("iostat");
    await logged("Device");
    await page.keyboard.press("ArrowUp");
    assert.equal(await line.inputValue(), "iostat");
    await page.keyboard.press("Control+c");
    assert.equal(await line.inputValue(), "");
    const spent = await page.locator(".shift-standing").textContent();
    assert.match(spent, /03:00:10\s+2 points spent, 3 tries left/);
    await assertAccessible(page);

    // Nothing is lost when the page is loaded again.
    await page.reload();
    await page.getByRole("button", { name: "Continue the shift" }).click();
    await line.waitFor({ timeout: 90_000 });
    assert.equal(await page.locator(".shift-standing").textContent(), spent);
    const number = (await log.locator("pre").first().textContent())
      .split("\n")
      .find((text) => text.includes(cause))
      .trim()
      .split(" ")[0];
    await type(`name ${number}`);
    await logged("That is it.");
    for (const setting of remedy.split("; ")) {
      await type(setting);
      await logged(setting.replace(/^set (\S+) .*/, "$1 = "));
    }
    await type("done");
    await ended.waitFor({ timeout: 60_000 });
    const points = Number(/(\d+) of 100/.exec(await ended.textContent())[1]);
    assert.ok(points >= 80, `${points} points`);
    assert.equal(await ended.evaluate((heading) => heading === document.activeElement), true);
    await assertAccessible(page);
    const incident = await page.locator(".shift-debrief a").getAttribute("href");
    assert.ok(existsSync(join(site, incident)), incident);
    return `${loaded_s.toFixed(1)} s to the ticket, ${points} points`;
  },

  async "a sealed case is played on the page, and a damaged one gets an error"({ open }) {
    const page = await open("/oncall.html", { viewport: { width: 375, height: 740 } });
    const file = page.getByLabel("Or a sealed case from someone else");
    const begin = page.getByRole("button", { name: "Start the shift" });
    const line = page.getByRole("textbox", { name: "Command" });
    const log = page.locator(".shift-log");
    const type = async (text) => {
      await line.fill(text);
      await line.press("Enter");
    };
    const given = async (name, text) => file.setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.from(text) });

    // The session reports a case that has changed since it was sealed.
    const text = sealedCase();
    await given("spoilt.sealed", text.replace(/(CASE-----\n.{20})../, "$1xx"));
    await page.getByRole("heading", { name: "The case in spoilt.sealed" }).waitFor();
    await begin.click();
    await page.getByText("case: has changed since it was sealed").waitFor({ timeout: 90_000 });
    await given("shift.sealed", text);
    await page.getByRole("heading", { name: "The case in shift.sealed" }).waitFor();
    await begin.click();
    await page.getByText("TICKET 1. The nightly copy").waitFor({ timeout: 60_000 });
    await type("ss");
    await log.getByText("cwnd:45").waitFor({ timeout: 60_000 });

    // The state survives a reload, and the case is solved.
    await page.reload();
    await page.getByRole("heading", { name: "The case in shift.sealed" }).waitFor();
    await page.getByRole("button", { name: "Continue the shift" }).click();
    await log.getByText("cwnd:45").waitFor({ timeout: 90_000 });
    await type("name 6");
    await log.getByText("That is it.").waitFor({ timeout: 60_000 });
    await type("set network.client_buffer 4MiB");
    await log.getByText("network.client_buffer = 4MiB").waitFor({ timeout: 60_000 });
    await type("done");
    const ended = page.locator(".shift-debrief h2");
    await ended.waitFor({ timeout: 60_000 });
    assert.match(await ended.textContent(), /97 of 100 points/);
    assert.equal(await page.locator(".shift-debrief a").count(), 0);
    await page.getByText("A sealed case, 97 points: The archive on the other continent").waitFor();
    await assertAccessible(page);
    // The ticket of the day is a drawn shift again.
    await page.getByRole("button", { name: "Ticket of the day" }).click();
    await page.getByRole("heading", { name: "the ticket of the day" }).waitFor();
  },

  async "a notebook is read on its page, and what follows a question is closed until it is answered"({ open }) {
    const page = await open("/odx-prefetch.html");
    await ran(page);
    await page.getByRole("link", { name: "read as a page" }).click();
    await page.getByRole("heading", { name: "The missing 256 KiB" }).waitFor();
    const answer = page.getByRole("cell", { name: "8,388,608" }).first();
    assert.equal(await answer.isVisible(), false);
    assert.equal(await page.locator(".live").first().isVisible(), false);
    await assertAccessible(page);

    await page.getByLabel("most find everything, a few find nothing").check();
    await page.getByRole("button", { name: "Commit" }).first().click();
    await page.getByText("Committed, and not so: each read misses a little.").waitFor();
    await page.getByText("That is what a cache with a poor hit rate looks like").waitFor();
    assert.equal(await answer.isVisible(), true);
    assert.equal(await page.getByText("of each read", { exact: true }).first().isVisible(), false);
    await page.getByText("One way to write it, and what it shows").first().click();
    await page.locator(".solution").first().getByText("Counter((row[").waitFor();

    // The picture moves, in a frame of the incident's own page, which comes when it is seen.
    await page.locator(".live").first().scrollIntoViewIfNeeded();
    const stage = page.frameLocator(".live >> nth=0");
    await stage.locator(".strip .read").first().waitFor({ timeout: 60_000 });
    await page.waitForFunction(() => document.querySelector(".live").style.height !== "");
    await assertAccessible(page);

    await page.reload();
    await page.getByText("Committed, and not so: each read misses a little.").waitFor();
    assert.equal(await answer.isVisible(), true);
    const lab = await page.getByRole("link", { name: "Open in the browser lab" }).getAttribute("href");
    const [file, notebook] = lab.split("?path=");
    assert.ok(existsSync(join(site, file)) && existsSync(join(site, "lab/files", notebook)), lab);

    // The list leads to every notebook, and every one has its page; on a phone, too.
    const list = await open("/notebooks.html", phone);
    const hrefs = await list.locator(".week a").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
    const named = new Set(hrefs.filter((href) => /^\d\d-/.test(href)));
    assert.deepEqual(
      [...named].sort(),
      readdirSync(site)
        .filter((name) => /^\d\d-.*\.html$/.test(name))
        .sort(),
    );
    await list.locator(".week a").first().click();
    await list.getByRole("heading", { level: 1 }).waitFor();
    assert.equal(await list.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
  },

  async "the on-call page says when it has no network, and opens without one after a visit"({ open }) {
    const page = await open("/oncall.html#seed=<script>");
    await page.getByText("which is not a shift").waitFor();
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    const begin = page.getByRole("button", { name: "Start the shift" });
    await page.context().setOffline(true);
    await begin.click();
    await page.getByText("Python could not be loaded. Without a network").waitFor();
    await page.context().setOffline(false);
    await begin.click();
    const line = page.getByRole("textbox", { name: "Command" });
    await line.waitFor({ timeout: 90_000 });
    await page.waitForTimeout(1000);
    await page.context().setOffline(true);
    await page.reload();
    await begin.click();
    await line.waitFor({ timeout: 90_000 });
  },

  async "an outage is diagnosed by keyboard, from a sample and from files, and what is no report is refused by its name"({
    open,
  }) {
    const page = await open("/diagnose.html");
    await page.locator(".bring-samples button").first().waitFor();
    await assertAccessible(page);
    await tabTo(page, ".bring-samples button");
    await page.keyboard.press("Enter");
    assert.match(await page.locator(".bring-files .said").textContent(), /^Loading Python: \d+\sMB/);
    const focused = (words) =>
      page.waitForFunction((text) => document.activeElement?.textContent === text, words, { timeout: 90_000 });
    await focused("What the numbers say by themselves");
    assert.match(
      await page.locator(".fits li").first().textContent(),
      /Commits one after the other.*As in S2 · One at a time/s,
    );
    assert.match(
      await page.locator(".given").textContent(),
      /iostat\.txt.*taken as iostat -x.*taken as an operation log/s,
    );
    await assertAccessible(page);
    await page.locator(".bring-samples button").last().press("Enter");
    await page.locator("#fits-title").filter({ hasText: "None of the incidents fits" }).waitFor();
    for (const href of await page.locator(".fits a").evaluateAll((links) => links.map((link) => link.href)))
      assert.ok(existsSync(join(site, new URL(href).pathname)), href);

    // Files of one's own: what is no report is refused by its name, and nothing that a file holds harms the page.
    const files = (...list) =>
      page
        .locator("#given-files")
        .setInputFiles(list.map(([name, text]) => ({ name, mimeType: "", buffer: Buffer.from(text) })));
    const ask = async () => {
      await page.locator(".go").click();
      await page
        .locator(".bring-files button")
        .filter({ hasText: "Stop" })
        .waitFor({ state: "hidden", timeout: 60_000 });
      return page.locator(".notice p").allTextContents();
    };
    const only = async (...list) => {
      const clear = page.getByRole("button", { name: "Remove all" });
      if (await clear.isVisible()) await clear.click();
      await files(...list);
      return ask();
    };
    const refused = [
      [
        ["holiday.txt", "sun\n"],
        'holiday.txt: begins with "sun", which is none of the known reports; give a report of',
      ],
      [["<img src=x>.json", '{"a": 1}'], "<img src=x>.json: is JSON of another tool; give a report of"],
      [["picture.png", Buffer.from([0x89, 0x50, 0x4e, 0x47])], "picture.png: byte 0 (line 1) is 0x89"],
      [["deep.json", '{"a":\n'.repeat(200_000)], "deep.json: is JSON nested deeper than 64 levels"],
      [
        ["bomb.csv.gz", gzipSync(Buffer.alloc(2 ** 27))],
        "bomb.csv.gz line 1: is longer than 65536 bytes; give a report",
      ],
    ];
    for (const [file, words] of refused) {
      const said = (await only(file)).join(" ");
      assert.ok(said.startsWith(words), `${file[0]}: ${said}`);
    }
    const iostat =
      "Device r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s wrqm/s %wrqm w_await wareq-sz aqu-sz %util\n" +
      "sda 100.00 6400.00 0.00 0.00 20.00 64.00 0.00 0.00 0.00 0.00 0.00 0.00 2.00 95.00\n";
    assert.deepEqual(await only(["iostat.txt", iostat]), []);
    await page.getByText("sda is busy 95 % of the time with 2.0 requests at a time").waitFor();
    await page.getByText("A log of the clients' own requests").waitFor();
    await page.getByText("Or paste a report").click();
    await page.getByRole("textbox", { name: "Or paste a report" }).fill(iostat.replaceAll("r_await", "await"));
    await page.getByRole("button", { name: "Take this text" }).click();
    assert.match((await ask()).join(" "), /^pasted\.txt line 1: found a header without r_await/);
    await page.locator(".given li").last().getByRole("button", { name: "Remove" }).click();
    await page.evaluate(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([new Uint8Array(2 ** 26)], "large.csv"));
      document.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
    });
    await page
      .locator(".notice p")
      .filter({ hasText: /large\.csv holds 64\sMiB; this page reads files of at most 32\sMiB\./ })
      .waitFor();
    assert.equal(await page.locator(".given li").count(), 1);

    // Without a network it works where it has worked before.
    await page.waitForFunction(
      async () => {
        const names = await caches.keys();
        const kept = names.length === 0 ? [] : await (await caches.open(names[0])).keys();
        return ["pyodide.asm.wasm", "seeklab.whl", "library-"].every((part) =>
          kept.some(({ url }) => url.includes(part)),
        );
      },
      undefined,
      { timeout: 60_000 },
    );
    await page.context().setOffline(true);
    await page.reload();
    await page.locator(".bring-samples button").nth(1).click();
    await page.locator(".fits").waitFor({ timeout: 90_000 });
    return page.locator(".fit-name").first().textContent();
  },

  async "a file of one's own may be the first thing that a page reads, even under the name of a module"({ open }) {
    const iostat = "Device r/s w/s rkB/s wkB/s r_await w_await aqu-sz %util\nsda 100 0 400 0 9 0 1 95\n";
    for (const [path, name, text, words] of [
      ["/diagnose.html", "seeklab.py", iostat, "sda is busy 95 % of the time with 1.0 requests at a time"],
      ["/calibrate.html", "old.json", '{"fio version": "fio-3.1", "jobs": []}', "old.json: is of fio-3.1"],
    ]) {
      const page = await open(path);
      await page.locator("#given-files").setInputFiles({ name, mimeType: "", buffer: Buffer.from(text) });
      await page.locator(".go").click();
      await page.locator(".bring-result, .notice").getByText(words).first().waitFor({ timeout: 90_000 });
      await page.context().close();
    }
  },

  async "a device is fitted in the page, Stop ends it within a second, and an incident opens on it"({ open }) {
    const page = await open("/calibrate.html");
    const sample = (name) => page.locator(".bring-samples").getByRole("button", { name });
    const stop = page.getByRole("button", { name: "Stop" });
    await sample("A solid-state drive").waitFor();
    await assertAccessible(page);
    await sample("A solid-state drive").press("Enter");
    await page.waitForFunction(() => document.querySelectorAll(".given li").length > 20, undefined, {
      timeout: 90_000,
    });
    await page.waitForFunction(() => document.querySelector(".bring-files progress").value > 0.02, undefined, {
      timeout: 60_000,
    });
    const begun = performance.now();
    await stop.press("Enter");
    await page.locator(".said").filter({ hasText: "Stopped." }).waitFor();
    const stopped_ms = performance.now() - begun;
    assert.ok(stopped_ms < 1000, `Stop took ${stopped_ms} ms`);
    assert.equal(await page.evaluate(() => document.activeElement?.className), "go");

    // The same files, once more, by a new thread; then a folder in which one is of no use.
    await sample("A logical unit").click();
    await page.locator("#verdict-title").waitFor({ timeout: 90_000 });
    assert.equal(
      await page.locator("#verdict-title").textContent(),
      "It behaves like a logical unit with a fixed rate",
    );
    assert.match(
      await page.locator(".bring-result .prose").first().textContent(),
      /^Good: on 6 jobs that were not used to fit it/,
    );
    await page.locator(".measured-simulated svg").nth(1).waitFor();
    await page
      .locator("#given-files")
      .setInputFiles([
        { name: "old.json", mimeType: "", buffer: Buffer.from('{"fio version": "fio-3.1", "jobs": []}') },
      ]);
    await page.locator(".go").click();
    await page.locator("#left-title").waitFor({ timeout: 60_000 });
    assert.equal(
      await page.locator("#left-title + ul").textContent(),
      "old.json: is of fio-3.1; at least fio-3.18 is needed",
    );
    await assertAccessible(page);
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save the preset (mine.toml)" }).click(),
    ]);
    const preset = readFileSync(await saved.path(), "utf8");
    assert.match(
      preset,
      /^name = "mine"\n[^]*\[device\.lun\]\ncapacity = "\d+"\nrate = "999\d{5}"\nlatency = "0ns"\n$/,
    );
    await page.getByRole("link", { name: "Open Q1 · The missing 256 KiB on it" }).click();
    await shown(page);
    const set = JSON.parse(Buffer.from(new URL(page.url()).hash.slice(4), "base64url").toString()).set;
    assert.equal(set["devices[0]"].lun.latency, "0ns");
    return `Stop after ${stopped_ms.toFixed(0)} ms; on the device: ${await sentence(page)}`;
  },

  async "pages that take files are no wider than a phone, and axe finds nothing there, in the dark"({ open }) {
    for (const [path, name] of [
      ["/diagnose.html", "A copy that stutters"],
      ["/calibrate.html", "A hard disk"],
    ]) {
      const page = await open(path, { ...phone, colorScheme: "dark", reducedMotion: "reduce" });
      await page.getByRole("button", { name }).click();
      await page.locator(".bring-result section").nth(2).waitFor({ timeout: 90_000 });
      await assertAccessible(page);
      const [needed, given] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(needed <= given, `${path}: ${needed} px wide in a window of ${given}`);
      await page.context().close();
    }
  },

  async "the notebook's widget simulates while a slider moves and tells the kernel on release"({ open }) {
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
    return `first drawing ${firstMs.toFixed(0)} ms`;
  },
};

// They measure time, so they are not run beside others.
for (const name of [
  "the first chart is there",
  "the designer measures a pool, says what binds it, and refuses what cannot be built",
  "a slider simulates again while it moves",
  "with reduced motion it steps",
  "the console draws a run, and a loop that prints without an end neither freezes the page nor survives Stop",
  "a device is fitted in the page, Stop ends it within a second, and an incident opens on it",
])
  tests[name].isTimed = true;
