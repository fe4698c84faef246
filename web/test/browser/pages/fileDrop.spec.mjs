import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { note, test } from "../fixtures.mjs";
import { site } from "../host.mjs";
import { phone, sentence, shown, assertAccessible, tabTo } from "../kit.mjs";

test("an outage is diagnosed by keyboard, from a sample and from files, and what is no report is refused by its name", async ({
  open,
}) => {
  const page = await open("/diagnose.html");
  await page.locator(".bring-samples button").first().waitFor();
  await assertAccessible(page);
  await tabTo(page, ".bring-samples button");
  await page.keyboard.press("Enter");
  assert.match(await page.locator(".bring-files .said").textContent(), /^Loading Python: \d+\sMB/);
  const focused = (words) =>
    page.waitForFunction((text) => document.activeElement?.textContent === text, words, { timeout: 90_000 });
  await focused("Found in the text");
  assert.match(await page.locator(".fits li").first().textContent(), /likely.*As in S2 · One at a time/s);
  assert.match(await page.locator(".given").textContent(), /iostat\.txt.*contains iostat-x.*contains oplog/s);
  await assertAccessible(page);
  await page.locator(".bring-samples button").last().press("Enter");
  await page.locator(".fit-share").filter({ hasText: "possible" }).first().waitFor();
  for (const href of await page.locator(".fits a").evaluateAll((links) => links.map((link) => link.href)))
    assert.ok(existsSync(join(site, new URL(href).pathname)), href);

  // Files of one's own: what is no report is refused by its name, and nothing that a file holds harms the page.
  const files = (...list) =>
    page
      .locator("#given-files")
      .setInputFiles(list.map(([name, text]) => ({ name, mimeType: "", buffer: Buffer.from(text) })));
  const ask = async () => {
    await page.locator(".go").click();
    await page.locator(".bring-files button").filter({ hasText: "Stop" }).waitFor({ state: "hidden", timeout: 60_000 });
    return page.locator(".notice p").allTextContents();
  };
  const only = async (...list) => {
    const clear = page.getByRole("button", { name: "Remove all" });
    if (await clear.isVisible()) await clear.click();
    await files(...list);
    return ask();
  };
  const refused = [
    [["picture.png", Buffer.from([0x89, 0x50, 0x4e, 0x47])], "picture.png: "],
    [["<img src=x>.bin", Buffer.alloc(4096)], "<img src=x>.bin: "],
    [["bomb.csv.gz", gzipSync(Buffer.alloc(2 ** 27))], "bomb.csv.gz: "],
  ];
  for (const [file, words] of refused) {
    const said = (await only(file)).join(" ");
    assert.ok(said.startsWith(words), `${file[0]}: ${said}`);
  }
  const iostat =
    "Device r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s wrqm/s %wrqm w_await wareq-sz aqu-sz %util\n" +
    "sda 100.00 6400.00 0.00 0.00 20.00 64.00 0.00 0.00 0.00 0.00 0.00 0.00 2.00 95.00\n";
  assert.deepEqual(await only(["iostat.txt", iostat]), []);
  await page
    .locator("[aria-labelledby=readings-title] li")
    .filter({ hasText: /95%.*\b2\b/s })
    .first()
    .waitFor();
  const pasting = page.locator(".pasting");
  await pasting.getByRole("textbox").fill(`$ iostat -x 1\n${iostat}thanks`);
  await pasting.getByText(/iostat -x.*sda.*95%/).waitFor();
  await pasting.getByRole("button").click();
  assert.deepEqual(await ask(), []);
  await page.getByText(/pasted\.txt lines \d+–\d+: iostat-x/).waitFor();
  await page.locator(".given li").last().getByRole("button", { name: "Remove" }).click();
  await page.evaluate(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([new Uint8Array(2 ** 26)], "large.csv"));
    document.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
  });
  await page
    .locator(".notice p")
    .filter({ hasText: /^large\.csv .*\b64\sMiB.*\b20\sMiB/ })
    .waitFor();
  assert.equal(await page.locator(".given li").count(), 1);

  // Without a network it works where it has worked before.
  await page.waitForFunction(
    async () => {
      const names = await caches.keys();
      const kept = names.length === 0 ? [] : await (await caches.open(names[0])).keys();
      return ["pyodide.asm.wasm", "pyodide/seeklab-", "library-"].every((part) =>
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
  note(await page.locator(".fit-name").first().textContent());
});

test("a file of one's own may be the first thing that a page reads, even under the name of a module", async ({
  open,
}) => {
  const iostat = "Device r/s w/s rkB/s wkB/s r_await w_await aqu-sz %util\nsda 100 0 400 0 9 0 1 95\n";
  for (const [path, name, text, words] of [
    ["/diagnose.html", "seeklab.py", iostat, /95%/],
    ["/calibrate.html", "old.json", '{"fio version": "fio-3.1", "jobs": []}', /old\.json/],
  ]) {
    const page = await open(path);
    await page.locator("#given-files").setInputFiles({ name, mimeType: "", buffer: Buffer.from(text) });
    await page.locator(".go").click();
    await page.locator(".bring-result, .notice").getByText(words).first().waitFor({ timeout: 90_000 });
    await page.context().close();
  }
});

test(
  "a device is fitted in the page, Stop ends it within a second, and an incident opens on it",
  { tag: "@timed" },
  async ({ open }) => {
    const page = await open("/calibrate.html");
    const sample = (name) => page.locator(`.bring-samples button[value=${name}]`);
    const stop = page.getByRole("button", { name: "Stop" });
    await sample("ssd").waitFor();
    await assertAccessible(page);
    await sample("ssd").press("Enter");
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
    await sample("unit").click();
    await page.locator("#verdict-title").waitFor({ timeout: 90_000 });
    assert.match(await page.locator(".bring-result .prose").first().textContent(), /^Good: \D+6 /);
    await page.locator(".measured-simulated svg").nth(1).waitFor();
    await page
      .locator("#given-files")
      .setInputFiles([
        { name: "old.json", mimeType: "", buffer: Buffer.from('{"fio version": "fio-3.1", "jobs": []}') },
      ]);
    await page.locator(".go").click();
    await page.locator("#left-title").waitFor({ timeout: 60_000 });
    assert.match(await page.locator("#left-title + ul").textContent(), /^old\.json: /);
    await assertAccessible(page);
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: /mine\.toml/ }).click(),
    ]);
    const preset = readFileSync(await saved.path(), "utf8");
    assert.match(
      preset,
      /^name = "mine"\n[^]*\[device\.lun\]\ncapacity = "\d+"\nrate = "999\d{5}"\nlatency = "0ns"\n$/,
    );
    await page.locator("a.onward[href^='odx-prefetch.html#']").click();
    await shown(page);
    const set = JSON.parse(Buffer.from(new URL(page.url()).hash.slice(4), "base64url").toString()).set;
    assert.equal(set["devices[0]"].lun.latency, "0ns");
    note(`Stop after ${stopped_ms.toFixed(0)} ms; on the device: ${await sentence(page)}`);
  },
);

test("pages that take files are no wider than a phone, and axe finds nothing there, in the dark", async ({ open }) => {
  for (const [path, name] of [
    ["/diagnose.html", "copy"],
    ["/calibrate.html", "disk"],
  ]) {
    const page = await open(path, { ...phone, colorScheme: "dark", reducedMotion: "reduce" });
    await page.locator(`.bring-samples button[value=${name}]`).click();
    await page.locator(".bring-result section").nth(2).waitFor({ timeout: 90_000 });
    await assertAccessible(page);
    const [needed, given] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(needed <= given, `${path}: ${needed} px wide in a window of ${given}`);
    await page.context().close();
  }
});
