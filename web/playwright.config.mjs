/**
 * The built site in a real browser.
 *
 *     npm run test:browser                       all tests
 *     npm run test:browser -- --grep WORD        those with the word in their name
 *     npm run test:browser -- --grep @timed      those that measure time; --grep-invert @timed runs the others
 *     npm run test:browser -- --trace on         records each test, for `npx playwright show-trace`
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "@playwright/test";
import { site } from "./test/browser/host.mjs";

if (!existsSync(join(site, "index.html"))) throw new Error("There is no built site; run npm run build first.");

export default defineConfig({
  testDir: "test/browser/pages",
  testMatch: "*.spec.mjs",
  outputDir: "../test-results",
  reporter: "./test/browser/reporter.mjs",
  // A page has the machine for itself.
  workers: 1,
  timeout: process.env.SEEKLAB_PAGES === "all" ? 0 : 300_000,
});
