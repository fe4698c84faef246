import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "../fixtures.mjs";
import { site } from "../host.mjs";
import { phone, ran, assertAccessible } from "../kit.mjs";

test("a notebook is read on its page, and what follows a question is closed until it is answered", async ({ open }) => {
  const page = await open("/odx-prefetch.html");
  await ran(page);
  await page.locator(".carry-on a[href^='01-']").click();
  await page.locator("form.question").first().waitFor();
  const answer = page.getByRole("cell", { name: "8,388,608" }).first();
  assert.equal(await answer.isVisible(), false);
  assert.equal(await page.locator(".live").first().isVisible(), false);
  await assertAccessible(page);

  // A wrong choice gets its reason, and the gate below its question opens, but not the next.
  const form = page.locator("form.question").first();
  const because = form.locator(".because").first();
  const right = await form.getAttribute("data-answer");
  const wrong = await because.getAttribute("data-choice");
  assert.notEqual(wrong, right);
  assert.equal(await because.isVisible(), false);
  await form.locator(`input[value="${wrong}"]`).check();
  await form.getByRole("button").click();
  const said = form.locator(".said").filter({ hasText: right });
  await said.waitFor();
  assert.equal(await because.isVisible(), true);
  assert.equal(await answer.isVisible(), true);
  const gates = page.locator("details.behind");
  assert.deepEqual(await gates.evaluateAll((all) => all.slice(0, 2).map(({ open }) => open)), [true, false]);
  await page.locator(".solution summary").first().click();
  await page.locator(".solution").first().getByText("Counter((row[").waitFor();

  // The picture moves, in a frame of the incident's own page, which comes when it is seen.
  await page.locator(".live").first().scrollIntoViewIfNeeded();
  const stage = page.frameLocator(".live >> nth=0");
  await stage.locator(".strip .read").first().waitFor({ timeout: 60_000 });
  await page.waitForFunction(() => document.querySelector(".live").style.height !== "");
  await assertAccessible(page);

  await page.reload();
  await said.waitFor();
  assert.equal(await answer.isVisible(), true);
  const lab = await page.locator("a[href*='?path=']").first().getAttribute("href");
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
