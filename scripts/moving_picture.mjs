// Write the README's moving picture, an animated PNG of the first incident's page: the prefetch chunk grows, and the reads
// no longer wait for the disks.
//
//     node scripts/moving_picture.mjs    after `make play` or `make dist`, which build the site

import { statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { crc32 } from "node:zlib";
import { launch, serve } from "../web/test/browser/host.mjs";

const FILE = fileURLToPath(new URL("../web/screenshot.png", import.meta.url));
const MAX_BYTES = 1_500_000;
const SIZE = { width: 1000, height: 712 };
const PLAYED = 4; // pictures while the run plays
const PLAYED_MS = 600;
const STEPS = 4; // of the slider, from 8 MiB to more than a read
const STEP_MS = 500;
const LAST_MS = 2600;

const frames = await photograph();
writeFileSync(FILE, animate(frames));
const { size } = statSync(FILE);
console.log(`${FILE}: ${frames.length} frames, ${size} bytes`);
if (size > MAX_BYTES) throw new Error(`The picture has more than ${MAX_BYTES} bytes.`);

async function photograph() {
  const server = await serve();
  const { browser, close } = await launch();
  try {
    const page = await browser.newPage({ viewport: SIZE });
    await page.goto(`${server.address}/odx-prefetch.html?embed=1`);
    const live = page.locator(".run-frame:not(.first-picture)"); // the first picture has sliders without effect
    const slider = live.locator("input[type=range]").and(live.getByLabel("Prefetch chunk"));

    await slider.waitFor();
    const pictures = [];
    for (let played = 0; played < PLAYED; played += 1) {
      await page.waitForTimeout(PLAYED_MS);
      pictures.push({ png: await page.screenshot(), ms: PLAYED_MS });
    }
    await page.getByRole("button", { name: "Play", exact: true }).waitFor(); // it stops after five reads
    await slider.focus();
    for (let step = 1; step <= STEPS; step += 1) {
      await page.keyboard.press("ArrowRight");
      await page.waitForTimeout(1500); // for the run and its picture
      pictures.push({ png: await page.screenshot(), ms: step === STEPS ? LAST_MS : STEP_MS });
    }
    return pictures;
  } finally {
    await close();
    server.close();
  }
}

/** Join PNG files of one size to an animated PNG. https://www.w3.org/TR/png-3/#apng-frame-based-animation */
function animate(pictures) {
  const [first] = pictures;
  const header = chunks(first.png).find(({ type }) => type === "IHDR").data;
  const size = header.subarray(0, 8);
  let sequence = 0;
  const control = ({ ms }) =>
    chunk("fcTL", number(sequence++), size, number(0), number(0), short(ms), short(1000), Buffer.from([0, 0]));
  const bodies = pictures.map((picture, index) => [
    control(picture),
    ...chunks(picture.png)
      .filter(({ type }) => type === "IDAT")
      .map(({ data }) => (index === 0 ? chunk("IDAT", data) : chunk("fdAT", number(sequence++), data))),
  ]);
  const signature = first.png.subarray(0, 8);
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("acTL", number(pictures.length), number(0)),
    ...bodies.flat(),
    chunk("IEND"),
  ]);
}

function chunks(png) {
  const found = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    const length = png.readUInt32BE(at);
    found.push({ type: png.toString("latin1", at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
  }
  return found;
}

function chunk(type, ...parts) {
  const data = Buffer.concat(parts);
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  return Buffer.concat([number(data.length), body, number(crc32(body))]);
}

function number(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function short(value) {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
