/**
 * How quickly every case's page answers, as a table: a measurement, which no time makes fail. What misses its goal is marked.
 *
 * For each page, in a browser profile without a cache:
 * 1. from navigation to the first picture on the stage, and to the whole run;
 * 2. four seconds of playing: frames a second, tasks that held up the page for over 50 ms; then the same with the processor
 *    slowed to a quarter;
 * 3. a drag of the first slider to its farther end, 20 steps 50 ms apart: from each step to the frame after the first picture
 *    of a run that knows it, and from letting go to the whole run.
 *
 * Other programs on the machine only ever make it slower: the times are upper bounds, and the load of the machine (programs that
 * wanted a processor, over the last minute) stands beside them.
 */
import { writeFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { launch, serve } from "./host.mjs";

/** Milliseconds, and frames a second. */
export const goals = { stage_ms: 1200, drag_median_ms: 100, drag_p90_ms: 200, fps: 60, slow_fps: 30 };
const playMs = 4000;
const slowdown = 4;
const steps = 20;
const stepMs = 50;
const patienceMs = 120_000;
/** A display shows 60 frames a second give or take one at the ends of the time that is counted. */
const frameSlack = 1;

/** Measures the pages whose name has the word in it, prints a table and writes it as JSON where a file is named. */
export async function measurePages(word, file) {
  const server = await serve();
  const { browser, close } = await launch();
  const rows = [];
  try {
    // What a browser does only once is no page's time.
    await (await browser.newPage()).goto(`${server.address}/blank.html`);
    const incidents = await (await fetch(`${server.address}/incidents.json`)).json();
    for (const { id, code } of incidents) {
      if (!id.includes(word)) continue;
      const load = Math.round(loadavg()[0] * 10) / 10;
      const row = { id, code, load, ...(await measurePage(browser, `${server.address}/${id}.html`)) };
      rows.push({ ...row, misses: missesOf(row) });
      console.log(lineOf(rows.at(-1)));
    }
  } finally {
    await close();
    server.close();
  }
  print(rows);
  if (file !== undefined)
    writeFileSync(
      file,
      `${JSON.stringify({ goals, processors: availableParallelism(), pages: rows }, undefined, 1)}\n`,
    );
}

async function measurePage(browser, url) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(patienceMs);
    await page.addInitScript(watch);
    await page.goto(url);
    await page.waitForFunction(() => performance.getEntriesByName("first-chart").length > 0);
    await settled(page);
    const [stage_ms, whole_ms] = await page.evaluate(() => [
      performance.getEntriesByName("first-chart")[0].startTime,
      globalThis.watched.runs.findLast(({ wholeAt }) => wholeAt !== undefined).wholeAt,
    ]);
    const play = await page.evaluate(playFor, playMs);
    const throttle = await context.newCDPSession(page);
    await throttle.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
    const slow = await page.evaluate(playFor, playMs);
    await throttle.send("Emulation.setCPUThrottlingRate", { rate: 1 });
    const drag = await page.evaluate(dragFirst, { steps, stepMs });
    await settled(page);
    const [waits, released_ms] = await page.evaluate(waitsOf, drag.inputs);
    return {
      stage_ms: Math.round(stage_ms),
      whole_ms: Math.round(whole_ms),
      control: drag.control,
      drag_steps: waits.length,
      drag_median_ms: quantile(waits, 0.5),
      drag_p90_ms: quantile(waits, 0.9),
      released_ms,
      fps: play?.fps ?? null,
      long_tasks: play?.longTasks ?? null,
      longest_task_ms: play?.longestMs ?? null,
      slow_fps: slow?.fps ?? null,
      slow_longest_task_ms: slow?.longestMs ?? null,
    };
  } finally {
    await context.close();
  }
}

/** Waits until the engine has answered every run it was asked for on the stage, and the page has drawn it. */
async function settled(page) {
  await page.waitForFunction(() => {
    const { runs } = globalThis.watched;
    return runs.length > 0 && runs.every(({ endedAt }) => endedAt !== undefined && performance.now() - endedAt > 400);
  });
}

/** In the page, before its scripts: notes when runs are asked for and when their pictures have been drawn. */
function watch() {
  const watched = (globalThis.watched = { runs: [], longTasks: [] });
  new PerformanceObserver((list) => watched.longTasks.push(...list.getEntries())).observe({ type: "longtask" });
  const afterFrame = (see) =>
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        see(performance.now());
      };
      port2.postMessage(null);
    });
  const Original = globalThis.Worker;
  globalThis.Worker = class extends Original {
    #open = new Map();

    constructor(...args) {
      super(...args);
      // Heard before the page's own handler, which draws at once: the next frame shows it.
      this.addEventListener("message", ({ data: { id, kind } }) => {
        const run = this.#open.get(id);
        if (run === undefined || kind === "progress") return;
        if (kind === "partial" || kind === "result") afterFrame((now) => (run.drawnAt ??= now));
        if (kind === "partial") return;
        this.#open.delete(id);
        afterFrame((now) => {
          run.endedAt = now;
          if (kind === "result") run.wholeAt = now;
        });
      });
    }

    postMessage(message, ...rest) {
      if (message.kind === "run" && message.slot === "stage") {
        const run = { sentAt: performance.now() };
        this.#open.set(message.id, run);
        watched.runs.push(run);
      }
      super.postMessage(message, ...rest);
    }
  };
}

/** In the page: plays for so long, again from the beginning when it is over; nothing where a stage has nothing to play. */
async function playFor(forMs) {
  const play = document.querySelector(".stage .play");
  if (play === null) return undefined;
  const { longTasks } = globalThis.watched;
  const isPlaying = () => play.textContent === "Pause";
  // The opening stops by itself.
  while (isPlaying()) await new Promise(requestAnimationFrame);
  await new Promise((rested) => setTimeout(rested, 500));
  play.click();
  const begun = await new Promise(requestAnimationFrame);
  const before = longTasks.length;
  let [now, frames] = [begun, 0];
  while (now - begun < forMs) {
    now = await new Promise(requestAnimationFrame);
    frames += 1;
    if (!isPlaying()) play.click();
  }
  play.click();
  const tasks = longTasks.slice(before).filter(({ startTime }) => startTime >= begun);
  return {
    fps: Math.round((frames * 10_000) / (now - begun)) / 10,
    longTasks: tasks.length,
    longestMs: Math.round(Math.max(0, ...tasks.map(({ duration }) => duration))),
  };
}

/** In the page: drags the first slider to its farther end. */
async function dragFirst({ steps, stepMs }) {
  // A value that is refused brings sliders anew.
  const slider = () => document.querySelector(".controls input[type=range]");
  const inputs = [];
  const first = slider();
  if (first === null) return { control: null, inputs };
  const control = first.labels[0].textContent;
  const { min, max, valueAsNumber: from } = first;
  const to = Number(max) - from >= from - Number(min) ? Number(max) : Number(min);
  let last = from;
  for (let nth = 1; nth <= steps; nth++) {
    const position = Math.round(from + ((to - from) * nth) / steps);
    if (position !== last) {
      const input = slider();
      input.valueAsNumber = last = position;
      inputs.push(performance.now());
      input.dispatchEvent(new Event("input"));
    }
    await new Promise((next) => setTimeout(next, stepMs));
  }
  inputs.push(performance.now());
  slider().dispatchEvent(new Event("change"));
  return { control, inputs };
}

/** In the page: how long each step of a drag waited for a picture that knows it, and its end for the whole run. */
function waitsOf(inputs) {
  const { runs } = globalThis.watched;
  const waits = inputs.slice(0, -1).flatMap((at) => {
    const drawn = runs.filter(({ sentAt, drawnAt }) => sentAt >= at && drawnAt !== undefined);
    return drawn.length === 0 ? [] : [Math.min(...drawn.map(({ drawnAt }) => drawnAt)) - at];
  });
  const released = inputs.at(-1);
  const last = runs.findLast(({ sentAt }) => sentAt >= released);
  return [waits, last?.wholeAt === undefined ? null : Math.round(last.wholeAt - released)];
}

function quantile(values, share) {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)]);
}

function missesOf(row) {
  const over = ["stage_ms", "drag_median_ms", "drag_p90_ms"].filter((name) => row[name] > goals[name]);
  const under = ["fps", "slow_fps"].filter((name) => row[name] !== null && row[name] < goals[name] - frameSlack);
  return [...over, ...under];
}

const columns = [
  ["stage", "stage_ms"],
  ["whole", "whole_ms"],
  ["drag p50", "drag_median_ms"],
  ["drag p90", "drag_p90_ms"],
  ["released", "released_ms"],
  ["fps", "fps"],
  ["long", "long_tasks"],
  ["longest", "longest_task_ms"],
  [`fps/${slowdown}`, "slow_fps"],
  ["longest", "slow_longest_task_ms"],
  ["load", "load"],
];

function lineOf(row) {
  const cells = columns.map(([, name]) => `${row[name] ?? "-"}${row.misses.includes(name) ? "*" : ""}`.padStart(9));
  return `${row.code.padEnd(4)} ${row.id.padEnd(22)}${cells.join("")}`;
}

function print(rows) {
  console.log(`\n${"".padEnd(27)}${columns.map(([title]) => title.padStart(9)).join("")}`);
  for (const row of rows) console.log(lineOf(row));
  console.log(
    "\nTimes in ms, upper bounds where the machine is shared; long: tasks of over 50 ms while playing; * misses its goal:",
  );
  for (const [name, goal] of Object.entries(goals)) {
    const missing = rows.filter(({ misses }) => misses.includes(name)).length;
    console.log(`  ${name.padEnd(15)} ${String(goal).padStart(5)}: ${missing} of ${rows.length} pages miss it`);
  }
}
