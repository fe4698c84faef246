/** Helpers of the browser tests: addresses, waiting, and axe. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { site } from "./host.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
export const casePage = "/odx-prefetch.html";
export const validationPage = "/validation.html";
export const designerPage = "/designer.html";
export const ownPages = [
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
export const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };

/** The example of the documentation as `seeklab oncall --seal` seals it, by the formats that it names. */
export function sealedCase() {
  const text = readFileSync(join(site, "../../docs/instructor/capstone.toml"));
  const coded = gzipSync(text).toString("base64").replace(/.{64}/g, "$&\n");
  const label = "SEEKLAB SEALED CASE-----";
  const digest = createHash("sha256").update(text).digest("hex");
  return `SHA-256: ${digest}\n-----BEGIN ${label}\n${coded}\n-----END ${label}\n`;
}

/** What the designer says of a pool once all of its tests have run. */
export const measuredPool = /of 12 tests keep a part busy/;

export const fingerprint = (page) => page.locator("#fingerprint").textContent();
export const sentence = (page) => page.locator(".sentence").first().textContent();

/** The front page shows a run. */
export const frontShown = (page) => page.locator(".live .run-frame:not(.first-picture) .stage canvas").waitFor();

/** The page shows a run: the strip is drawn and the fingerprint is there. */
export async function shown(page) {
  await page.locator(".strip .read").first().waitFor();
  await page.waitForFunction(() => /^[0-9a-f]{16}$/.test(document.querySelector("#fingerprint")?.textContent ?? ""));
}

/** A case's page, whichever its stage, shows a whole run. */
export async function ran(page) {
  await page.waitForFunction(
    () => /^[0-9a-f]{16}$/.test(document.querySelector("#fingerprint")?.textContent ?? ""),
    undefined,
    { timeout: 120_000 },
  );
}

export async function untilFingerprintChanges(page, from) {
  await page.waitForFunction((old) => document.querySelector("#fingerprint").textContent !== old, from);
  return fingerprint(page);
}

/** Returns the sentence when it has stayed the same for a second. */
export async function settledSentence(page) {
  for (let before = await sentence(page); ;) {
    await page.waitForTimeout(1000);
    const now = await sentence(page);
    if (now === before) return now;
    before = now;
  }
}

/** Waits until the state in the address passes the test. */
export async function untilHash(page, test) {
  for (let tries = 0; tries < 600; tries++) {
    const text = new URL(page.url()).hash.replace(/^#v1=/, "");
    if (text !== "" && test(JSON.parse(Buffer.from(text, "base64url").toString()))) return;
    await page.waitForTimeout(50);
  }
  throw new Error(`the address never held what it should: ${page.url()}`);
}

export function hashOf(state) {
  return `#v1=${Buffer.from(JSON.stringify({ set: {}, seed: 1, ui: {}, ...state })).toString("base64url")}`;
}

/** Everything that axe finds, as lines. */
export async function violations(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.target.join(" ")} ${node.failureSummary}`),
  );
}

export async function assertAccessible(page) {
  const found = await violations(page);
  assert.deepEqual(found, []);
}

/** Makes the question of a case one that the reader has skipped before: nothing is covered. */
export async function skipQuestion(page, id = "odx-prefetch") {
  await page.evaluate((key) => localStorage.setItem(key, JSON.stringify({ guess: null })), `seeklab.prediction.${id}`);
  await page.reload();
}

/** The files of all cases' pages. */
export function casePages() {
  const isCase = (name) => name.endsWith(".html") && !ownPages.includes(name) && !/^\d\d-/.test(name);
  return readdirSync(site).filter(isCase);
}

/** Those that a test which plays runs looks at: one for each stage, or all of them with SEEKLAB_PAGES=all. */
export function playedPages() {
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
export const picture = (page) => page.evaluate(() => document.querySelector(".stage canvas").toDataURL());

export async function tabTo(page, selector) {
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
  }
  throw new Error(`no way to ${selector} by the Tab key`);
}

/** Scrolls to the end and back, so that what is drawn when it is seen has been drawn. */
export async function scrollThrough(page) {
  await page.evaluate(async () => {
    for (let y = 0; y < document.body.scrollHeight; y += 500) {
      scrollTo(0, y);
      // A picture of it, as a reader gets one, however busy the page is.
      await new Promise((next) => requestAnimationFrame(() => setTimeout(next, 60)));
    }
    scrollTo(0, 0);
  });
}
