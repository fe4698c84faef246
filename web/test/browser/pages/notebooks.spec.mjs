import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "../fixtures.mjs";
import { site } from "../host.mjs";
import { phone, ran, assertAccessible } from "../kit.mjs";

test("a notebook is read on its page, and what follows a question is closed until it is answered", async ({ open }) => {
  const page = await open("/odx-prefetch.html");
  await ran(page);
  await page.getByRole("link", { name: "read it as a page" }).click();
  await page.getByRole("heading", { name: "The missing 256 KiB" }).waitFor();
  const answer = page.getByRole("cell", { name: "8,388,608" }).first();
  assert.equal(await answer.isVisible(), false);
  assert.equal(await page.locator(".live").first().isVisible(), false);
  await assertAccessible(page);

  await page.getByLabel("most find everything, a few find nothing").check();
  await page.getByRole("button", { name: "Commit" }).first().click();
  await page.getByText(/^You said .*\. The run gives each read misses a little\.$/).waitFor();
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
  await page.getByText(/^You said .*\. The run gives each read misses a little\.$/).waitFor();
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
});
