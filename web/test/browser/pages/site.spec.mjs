import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { note, test } from "../fixtures.mjs";
import { monkeyTest } from "../monkey.mjs";
import { site } from "../host.mjs";
import {
  casePage,
  casePages,
  ownPages,
  phone,
  fingerprint,
  frontShown,
  shown,
  ran,
  violations,
  assertAccessible,
  skipQuestion,
  scrollThrough,
} from "../kit.mjs";

test("monkey testing finds no error", async ({ open }) => {
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
  note(`seed ${seed}`);
});

test("axe finds nothing, light and dark", async ({ open }) => {
  for (const colorScheme of ["light", "dark"]) {
    for (const path of [casePage, "/"]) {
      const page = await open(path, { colorScheme, reducedMotion: "reduce" });
      if (path === casePage) {
        await skipQuestion(page);
        // From then on the facts wait to be seen.
        await ran(page);
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
  if (process.env.SEEKLAB_PAGES !== "all") return;
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
  note(`${names.length} pages`);
});

test("a phone needs no sideways scrolling, and neither does 200 % zoom", async ({ open }) => {
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
});

test("the site works without a network after the first visit", async ({ open }) => {
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
});
