import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "../fixtures.mjs";
import { validationPage } from "../kit.mjs";

// The other pages that take files: fileDrop.spec.mjs (diagnose, calibrate) and oncall.spec.mjs start with a file, too.
const validation = resolve(import.meta.dirname, "../../../../engine/validation");

test("a job file of one's own may be the first thing that the front page reads", async ({ open }) => {
  const page = await open("/");
  const files = [
    ["mine.fio", "[global]\ninclude common.fio\n[mine]\nrw=randwrite\nsize=8m\n"],
    ["common.fio", "bs=16k\n"],
  ];
  await page
    .locator("#fio-files")
    .setInputFiles(files.map(([name, text]) => ({ name, mimeType: "", buffer: Buffer.from(text) })));
  await page.locator(".fio").getByRole("button", { name: "Run", exact: true }).click();
  await page.locator(".fio-output .printed").filter({ hasText: "mine: (g=0): rw=randwrite, bs=(R) 16.0KiB" }).waitFor();
});

test("a drive and a trace of one's own may be the first that the page on validation reads", async ({ open }) => {
  const page = await open(validationPage);
  const file = (name, from) => ({ name, mimeType: "", buffer: readFileSync(join(validation, from)) });
  await page.locator("#own-drive").setInputFiles(file("mine.json", "synthetic-drive.json"));
  await page.locator("#own-trace").setInputFiles(file("mine.csv", "synthetic-trace.csv"));
  await page.getByText("mine.json and mine.csv, as chosen.").waitFor();
  await page.locator(".sentence").filter({ hasText: "Demerit" }).waitFor();
});
