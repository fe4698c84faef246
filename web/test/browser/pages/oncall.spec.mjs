import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { note, test } from "../fixtures.mjs";
import { site } from "../host.mjs";
import { sealedCase, assertAccessible } from "../kit.mjs";

test("a shift is played by keyboard to a solved end, and its state survives a reload", async ({ open }) => {
  const page = await open("/oncall.html#seed=7");
  const begin = page.locator("button.begin");
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
  assert.match(await ended.textContent(), /\b0 of 100\b/);

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
  await logged(" 1,000 ");
  await type("iostat");
  await logged("Device");
  await page.keyboard.press("ArrowUp");
  assert.equal(await line.inputValue(), "iostat");
  await page.keyboard.press("Control+c");
  assert.equal(await line.inputValue(), "");
  const spent = await page.locator(".shift-standing").textContent();
  assert.match(spent, /03:00:10\s+2 \D+ 3 /);
  await assertAccessible(page);

  // Nothing is lost when the page is loaded again.
  await page.reload();
  await begin.click();
  await line.waitFor({ timeout: 90_000 });
  assert.equal(await page.locator(".shift-standing").textContent(), spent);
  const number = (await log.locator("pre").first().textContent())
    .split("\n")
    .find((text) => text.includes(cause))
    .trim()
    .split(" ")[0];
  await type(`name ${number}`);
  await logged(`# name ${number}`);
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
  note(`${loaded_s.toFixed(1)} s to the ticket, ${points} points`);
});

test("a sealed case is played on the page, and a damaged one gets an error", async ({ open }) => {
  const page = await open("/oncall.html", { viewport: { width: 375, height: 740 } });
  const file = page.locator("#shift-case");
  const title = page.locator("#shift-title");
  const begin = page.locator("button.begin");
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
  await title.filter({ hasText: "spoilt.sealed" }).waitFor();
  await begin.click();
  await page.locator(".notice p").filter({ hasText: "case: " }).waitFor({ timeout: 90_000 });
  await given("shift.sealed", text);
  await title.filter({ hasText: "shift.sealed" }).waitFor();
  await begin.click();
  await page.locator(".shift-ticket").filter({ hasText: "TICKET 1." }).waitFor({ timeout: 60_000 });
  await type("ss");
  await log.getByText("cwnd:45").waitFor({ timeout: 60_000 });

  // The state survives a reload, and the case is solved.
  await page.reload();
  await title.filter({ hasText: "shift.sealed" }).waitFor();
  await begin.click();
  await log.getByText("cwnd:45").waitFor({ timeout: 90_000 });
  await type("name 6");
  await log.getByText("# name 6").waitFor({ timeout: 60_000 });
  await type("set network.client_buffer 4MiB");
  await log.getByText("network.client_buffer = 4MiB").waitFor({ timeout: 60_000 });
  await type("done");
  const ended = page.locator(".shift-debrief h2");
  await ended.waitFor({ timeout: 60_000 });
  assert.match(await ended.textContent(), /\b97 of 100\b/);
  assert.equal(await page.locator(".shift-debrief a").count(), 0);
  await page
    .locator(".shifts-played li")
    .filter({ hasText: /\b97\b/ })
    .waitFor();
  assert.equal(await page.locator(".shifts-played a").count(), 0);
  await assertAccessible(page);
  // The ticket of the day is a drawn shift again.
  await page.getByRole("button", { name: /^Ticket/ }).click();
  const today = new Date().toISOString().slice(0, 10).replaceAll("-", "");
  await title.filter({ hasText: today }).waitFor();
});

test("the on-call page says when it has no network, and opens without one after a visit", async ({ open }) => {
  const page = await open("/oncall.html#seed=<script>");
  await page.locator(".notice p").filter({ hasText: "“#seed=" }).waitFor();
  await page.evaluate(() => (location.hash = "#seed=7"));
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  const begin = page.locator("button.begin");
  await page.context().setOffline(true);
  await begin.click();
  await page
    .locator(".notice p")
    .filter({ hasText: /^Python / })
    .waitFor();
  await page.context().setOffline(false);
  await begin.click();
  const line = page.getByRole("textbox", { name: "Command" });
  await line.waitFor({ timeout: 90_000 });
  await page.waitForTimeout(1000);
  await page.context().setOffline(true);
  await page.reload();
  await begin.click();
  await line.waitFor({ timeout: 90_000 });
});

test("a ticket answers its first commands without Python, and continues in Python", async ({ open }) => {
  const front = await open("/");
  await front.locator("#door-command").fill("iostat -x");
  await front.getByRole("button", { name: "Take the ticket" }).click();
  await front.waitForURL(/oncall/);
  const log = front.locator(".shift-log");
  await log.getByText("%util").waitFor();
  const asked = [];
  front.on("request", (request) => asked.push(request.url()));
  const line = front.getByRole("textbox", { name: "Command" });
  await line.fill("zpool iostat");
  await line.press("Enter");
  await log.getByText("# zpool iostat").waitFor();
  assert.equal(asked.filter((url) => url.includes("pyodide")).length, 0);
  await assertAccessible(front);
  const spent = await front.locator(".shift-standing").textContent();
  await line.fill("causes");
  await line.press("Enter");
  await log.getByText("# causes").waitFor({ timeout: 90_000 });
  assert.equal(await front.locator(".shift-standing").textContent(), spent);
});
