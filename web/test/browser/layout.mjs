/**
 * What a visitor's first screen holds on every case's page, as a table: a measurement, which no number makes fail.
 *
 * For each page, in a browser profile without a cache:
 * 1. on a wide screen, and on a phone with 1.5 Mbit/s and a round trip of 150 ms: how far things jump while the page loads
 *    (cumulative layout shift), where the stage begins, and where Play and the first control end, in pixels from the top;
 * 2. on the wide screen: the steps of the explanation, the pixels of the stage that change while it plays, and when the first
 *    picture is there with a processor four times as slow;
 * 3. on the wide screen: the kilobytes of all files that the page asked for before it showed a run, by gzip and by Brotli;
 * 4. on the phone: how much of the screen the frame takes that stays in view, when the first picture is there, and the kilobytes
 *    that came before it. A picture is an image, a drawing or a
 *    canvas in one of the page's sections that is at least 80 px high.
 */
import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { compressedBytes, launch, serve } from "./host.mjs";

const screens = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
const slowLink = { offline: false, latency: 150, downloadThroughput: 1.5e6 / 8, uploadThroughput: 0.75e6 / 8 };
const othersPages = ["index", "oncall", "diagnose"];
/** What is still expected to move after the first run. */
const settleMs = 1500;
const patienceMs = 60_000;

export const goals = { shift: 0.05, picture_ms: 1500, picture_kB: 160, drag_gzip_kB: 880, drag_brotli_kB: 720 };

/** Measures the pages whose name has the word in it, prints a table and writes it as JSON where a file is named. */
export async function measureLayout(word, file) {
  const server = await serve({ isCompressed: true });
  const { browser, close } = await launch();
  const rows = [];
  try {
    const incidents = await (await fetch(`${server.address}/incidents.json`)).json();
    const pages = [...othersPages.map((id) => ({ id, code: "" })), ...incidents];
    for (const { id, code } of pages) {
      if (!id.includes(word)) continue;
      const url = `${server.address}/${id}.html`;
      const row = { id, code, load: Math.round(loadavg()[0] * 10) / 10 };
      row.wide = await measureScreen(browser, url, screens.wide);
      row.slow_picture_ms = (await measureScreen(browser, url, screens.wide, undefined, 4)).picture_ms;
      row.phone = await measureScreen(browser, url, screens.phone, slowLink);
      rows.push(row);
      console.log(lineOf(row));
    }
  } finally {
    await close();
    server.close();
  }
  print(rows);
  if (file !== undefined) writeFileSync(file, `${JSON.stringify({ goals, pages: rows }, undefined, 1)}\n`);
}

async function measureScreen(browser, url, viewport, link, slowdown) {
  const context = await browser.newContext({ viewport, ...mobile(viewport) });
  try {
    const page = await context.newPage();
    let received = 0;
    let bytes = 0;
    let moved_px;
    if (link !== undefined) {
      const network = await context.newCDPSession(page);
      await network.send("Network.enable");
      await network.send("Network.emulateNetworkConditions", link);
      network.on("Network.dataReceived", ({ encodedDataLength }) => (received += encodedDataLength));
    }
    if (slowdown !== undefined) {
      const processor = await context.newCDPSession(page);
      await processor.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
    }
    await page.addInitScript(watch);
    await page.exposeFunction("pictureSeen", () => (bytes = received));
    await page.goto(url, { waitUntil: "commit" });
    const isCase = (await page.locator("meta[name=case]").count()) > 0 || url.endsWith("/index.html");
    await page.waitForFunction(
      (isRun) => (isRun ? performance.getEntriesByName("first-chart").length > 0 : document.readyState === "complete"),
      isCase,
      { timeout: patienceMs },
    );
    const loaded = sumOf(await page.evaluate(filesBeforeRun));
    await page.waitForTimeout(settleMs);
    if (link === undefined && slowdown === undefined && isCase) moved_px = await movedPixels(page);
    const found = await page.evaluate(
      (picture_kB) => {
        const box = (selector, edge) => {
          const found = [...document.querySelectorAll(selector)].find((element) => element.checkVisibility());
          return found === undefined ? null : Math.round(found.getBoundingClientRect()[edge] + scrollY);
        };
        const { shift, picture_ms } = globalThis.watched;
        return {
          shift: Math.round(shift * 1000) / 1000,
          stage_y: box(".stage", "top"),
          play_y: box(".stage .play", "bottom"),
          control_y: box(".controls .control", "bottom"),
          frame_px: document.querySelector(".frame")?.getBoundingClientRect().height ?? null,
          steps: document.querySelectorAll(".steps li").length,
          page_px: document.documentElement.scrollHeight,
          picture_ms: picture_ms === 0 ? null : Math.round(picture_ms),
          picture_kB,
        };
      },
      Math.round(bytes / 1000),
    );
    return { ...found, ...loaded, ...(moved_px === undefined ? {} : { moved_px }) };
  } finally {
    await context.close();
  }
}

/** In the page: the addresses of all files that it asked for before it showed a run. */
function filesBeforeRun() {
  const shownAt = performance.getEntriesByName("first-chart")[0]?.startTime ?? Infinity;
  const files = performance.getEntriesByType("resource").filter(({ startTime }) => startTime < shownAt);
  return [location.href, ...new Set(files.map(({ name }) => name))];
}

/** The kilobytes of files of the site, compressed. */
function sumOf(urls) {
  const sizes = urls.filter((url) => url.startsWith("http")).map(compressedBytes);
  const kB = (kind) => Math.round(sizes.reduce((sum, size) => sum + size[kind], 0) / 1000);
  return { files: sizes.length, drag_gzip_kB: kB("gzip"), drag_brotli_kB: kB("brotli") };
}

/** How many pixels of the picture differ a second apart while it plays: the median of three pairs. */
async function movedPixels(page) {
  const play = page.locator(".stage .play");
  if ((await play.count()) === 0) return 0;
  if ((await play.first().textContent()) === "Pause") await play.first().click();
  await play.first().click();
  const counts = [];
  const shot = async () => (await page.locator(".stage").first().screenshot()).toString("base64");
  for (let pair = 0; pair < 3; pair++) {
    const before = await shot();
    await page.waitForTimeout(1000);
    counts.push(await page.evaluate(differing, [before, await shot()]));
  }
  return counts.toSorted((a, b) => a - b)[1];
}

/** In the page: the pixels in which two pictures differ. */
async function differing(pictures) {
  const [one, other] = await Promise.all(
    pictures.map(async (text) => {
      const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
      const canvas = new OffscreenCanvas(image.width, image.height);
      canvas.getContext("2d").drawImage(image, 0, 0);
      return canvas.getContext("2d").getImageData(0, 0, image.width, image.height).data;
    }),
  );
  let count = 0;
  for (let at = 0; at < Math.min(one.length, other.length); at += 4)
    if (
      Math.abs(one[at] - other[at]) + Math.abs(one[at + 1] - other[at + 1]) + Math.abs(one[at + 2] - other[at + 2]) >
      24
    )
      count += 1;
  return count;
}

const mobile = ({ width }) => (width < 760 ? { hasTouch: true, isMobile: true } : {});

/** In the page, before its scripts: sums up layout shifts, and notes when the first picture has been painted. */
function watch() {
  const watched = (globalThis.watched = { shift: 0, picture_ms: 0 });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) watched.shift += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  const least_px = 80;
  const isPicture = (element) => {
    const { width, height } = element.getBoundingClientRect();
    if (width < least_px || height < least_px || !element.checkVisibility({ visibilityProperty: true })) return false;
    return element.localName !== "img" || (element.complete && element.naturalWidth > 0);
  };
  const look = () => {
    const pictures = document.querySelectorAll("main section :is(canvas, svg, img)");
    if (![...pictures].some(isPicture)) return void requestAnimationFrame(look);
    watched.picture_ms = performance.now();
    globalThis.pictureSeen?.();
  };
  requestAnimationFrame(look);
}

const columns = [
  ["shift", ({ wide }) => wide.shift],
  ["stage y", ({ wide }) => wide.stage_y],
  ["play y", ({ wide }) => wide.play_y],
  ["knob y", ({ wide }) => wide.control_y],
  ["page", ({ wide }) => wide.page_px],
  ["files", ({ wide }) => wide.files],
  ["gzip kB", ({ wide }) => wide.drag_gzip_kB],
  ["br kB", ({ wide }) => wide.drag_brotli_kB],
  ["steps", ({ wide }) => wide.steps],
  ["moved", ({ wide }) => wide.moved_px],
  ["slow ms", ({ slow_picture_ms }) => slow_picture_ms],
  ["ph shift", ({ phone }) => phone.shift],
  ["frame", ({ phone }) => (phone.frame_px === null ? null : Math.round(phone.frame_px))],
  ["stage y", ({ phone }) => phone.stage_y],
  ["play y", ({ phone }) => phone.play_y],
  ["knob y", ({ phone }) => phone.control_y],
  ["page", ({ phone }) => phone.page_px],
  ["pic ms", ({ phone }) => phone.picture_ms],
  ["kB", ({ phone }) => phone.picture_kB],
  ["load", ({ load }) => load],
];

function lineOf(row) {
  const cells = columns.map(([, value]) => `${value(row) ?? "-"}`.padStart(9));
  return `${row.code.padEnd(4)} ${row.id.padEnd(22)}${cells.join("")}`;
}

function print(rows) {
  console.log(`\n${"".padEnd(27)}${columns.map(([title]) => title.padStart(9)).join("")}`);
  for (const row of rows) console.log(lineOf(row));
  const over = (test) => `${rows.filter(test).length} of ${rows.length} pages`;
  console.log(
    [
      "",
      `Layout shift over ${goals.shift}: wide ${over(({ wide }) => wide.shift > goals.shift)}, phone ${over(({ phone }) => phone.shift > goals.shift)}.`,
      `First picture later than ${goals.picture_ms} ms or after ${goals.picture_kB} kB at 1.5 Mbit/s: ${over(
        ({ phone: { picture_ms, picture_kB } }) =>
          picture_ms === null || picture_ms > goals.picture_ms || picture_kB > goals.picture_kB,
      )}.`,
      `Over ${goals.drag_gzip_kB} kB (gzip) or ${goals.drag_brotli_kB} kB (Brotli) before a first drag: ${over(
        ({ wide }) => wide.drag_gzip_kB > goals.drag_gzip_kB || wide.drag_brotli_kB > goals.drag_brotli_kB,
      )}.`,
      `Play and a control in the first screen: wide ${over(
        ({ wide }) => Math.max(wide.play_y ?? 0, wide.control_y ?? Infinity) <= screens.wide.height,
      )}, phone ${over(({ phone }) => Math.max(phone.play_y ?? 0, phone.control_y ?? Infinity) <= screens.phone.height)}.`,
    ].join("\n"),
  );
}
