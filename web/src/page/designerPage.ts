/**
 * The page on which a reader builds a pool: parts and prices on one side, what it costs and holds, and the tests with what
 * binds them. The bounds follow a slider at once; the tests run when it is let go, one after the other, and can be stopped.
 */
import "../style/page.css";
import { Cancelled, type Control, type Design, type Value } from "../engine/api.ts";
import { EngineClient } from "../engine/client.ts";
import { controls } from "../views/controls.ts";
import { formatNumber, groupThousands } from "../views/format.ts";
import { bindsOf, poolTests } from "../views/poolTests.ts";
import { html } from "../views/svg.ts";
import { installTheme, registerServiceWorker } from "./document.ts";
import { decodeHash, defaultState, encodeHash } from "./hash.ts";
import { notice } from "./notice.ts";
import { progress } from "./progress.ts";

type Numbers = Record<string, number>;

interface Layout {
  readonly title: string;
  readonly width: number;
  readonly parity: number;
}

/** Layouts that are offered; the number of disks is a multiple of the width. */
const layouts: readonly Layout[] = [
  { title: "stripe", width: 1, parity: 0 },
  { title: "mirrors of 2", width: 2, parity: 0 },
  { title: "mirrors of 3", width: 3, parity: 0 },
  { title: "RAID-Z of 4, one parity", width: 4, parity: 1 },
  { title: "RAID-Z of 8, one parity", width: 8, parity: 1 },
  { title: "RAID-Z of 6, two parity", width: 6, parity: 2 },
  { title: "RAID-Z of 11, two parity", width: 11, parity: 2 },
];
const layoutPath = "layout";
const inLayout = ["width", "parity"];
const pricePrefix = "prices.";
const barWidth = 120;
const records = [8, 16, 32, 64, 128];

installTheme();
const root = document.querySelector<HTMLElement>("#page")!;
const message = notice();
root.append(message.element);
void open();

async function open(): Promise<void> {
  const engine = new EngineClient();
  const decoded = decodeHash(location.hash);
  try {
    const first = await engine.call("design", {});
    await designer(engine, first, decoded.kind === "state" ? numbersOf(decoded.state.set) : {});
    if (decoded.kind === "problem") message.say(decoded.message);
  } catch (error) {
    message.fail(error);
  }
  registerServiceWorker();
}

function numbersOf(set: Readonly<Record<string, Value>>): Numbers {
  return Object.fromEntries(
    Object.entries(set).filter((entry): entry is [string, number] => typeof entry[1] === "number"),
  );
}

/** What the engine is asked: numbers by part, and prices by part. */
function requestOf(chosen: Numbers): Record<string, number | Numbers> {
  const prices: Numbers = {};
  const request: Record<string, number | Numbers> = { prices };
  for (const [name, value] of Object.entries(chosen)) {
    if (name.startsWith(pricePrefix)) prices[name.slice(pricePrefix.length)] = value;
    else request[name] = value;
  }
  return request;
}

async function designer(engine: EngineClient, defaults: Design, start: Numbers): Promise<void> {
  let chosen = start;
  let shown = defaults;
  let measured = new Map<string, number>();
  let running: string | undefined;
  let stop = new AbortController();

  const sentence = html("p", { class: "sentence", "aria-live": "polite" });
  const table = html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Tests of the pool" });
  const bar = progress(() => stop.abort());

  const number = (name: string) => chosen[name] ?? shown.parts.find((part) => part.name === name)?.number ?? 0;

  function draw(): void {
    const bound = shown.tests.filter(
      (test) => !["", "waiting"].includes(bindsOf(test, measured.get(test.name))),
    ).length;
    const tests = measured.size === 0 ? "" : ` ${bound} of ${measured.size} tests measured reach what a part allows.`;
    sentence.replaceChildren(
      html("strong", {}, groupThousands(Math.round(shown.cost))),
      ` for ${formatNumber(shown.capacity_bytes / 1e12)} TB in ${shown.layout}.${tests}`,
    );
    table.replaceChildren(poolTests(shown.tests, { width: barWidth, measured, running }));
  }

  /** Asks what a design comes to; what was measured of another one is void. */
  async function ask(): Promise<boolean> {
    try {
      shown = await engine.call("design", requestOf(chosen));
    } catch (error) {
      message.fail(error);
      return false;
    }
    message.clear();
    measured = new Map();
    draw();
    return true;
  }

  async function measure(): Promise<void> {
    stop.abort();
    stop = new AbortController();
    const { signal } = stop;
    if (!(await ask()) || signal.aborted) return;
    history.replaceState(null, "", encodeHash({ ...defaultState, set: chosen }));
    bar.start();
    const { tests } = shown;
    try {
      for (const [at, test] of tests.entries()) {
        running = test.name;
        draw();
        const request = { case: shown.case, variant: test.variant, set: { ...test.set, "record.analytics": false } };
        const onProgress = (share: number) => bar.update((at + share) / tests.length);
        const result = await engine.run(request, { slot: "design", signal, onProgress });
        if (signal.aborted) return;
        measured.set(test.name, result.summary.metrics[test.metric] ?? 0);
      }
    } catch (error) {
      if (!(error instanceof Cancelled)) message.fail(error);
    } finally {
      if (stop.signal === signal) {
        running = undefined;
        bar.end();
        draw();
      }
    }
  }

  const fields = html("div", { class: "controls-row" });
  function drawFields(): void {
    const here = layouts.findIndex(({ width, parity }) => width === number("width") && parity === number("parity"));
    const list: Control[] = [
      {
        path: layoutPath,
        title: "Layout",
        help: "How disks are grouped",
        value: Math.max(0, here),
        choices: layouts.map(({ title }, value) => ({ value, title })),
      },
      ...defaults.parts.filter(({ name }) => !inLayout.includes(name)).map(controlOf),
    ];
    const made = controls({
      controls: list,
      onInput: (path, value) => {
        if (path !== layoutPath) {
          choose(path, Number(value));
          void ask();
        }
      },
      onChange: (path, value) => {
        if (path === layoutPath) {
          const { width, parity } = layouts[Number(value)]!;
          chosen = { ...chosen, width, parity, disks: Math.max(1, Math.round(number("disks") / width)) * width };
          drawFields();
        } else choose(path, Number(value));
        void measure();
      },
    });
    fields.replaceChildren(made.element);
  }

  function choose(name: string, value: number): void {
    chosen = { ...chosen, [name]: value };
  }

  function controlOf({ name, title, unit, range }: Design["parts"][number]): Control {
    const [least, most, step] = range;
    const width = number("width");
    const whole = Math.floor(most / width) * width;
    return {
      path: name,
      title,
      help: title,
      unit: unit === "" ? null : unit,
      min: name === "disks" ? width : least,
      max: name === "disks" ? whole : most,
      step: name === "disks" ? width : step,
      value: number(name),
      choices: name === "record_kib" ? records.map((value) => ({ value, title: `${value} KiB` })) : null,
    };
  }

  const reset = html("button", { type: "button", class: "quiet reset" }, "The pool as it started");
  reset.addEventListener("click", () => {
    chosen = {};
    shown = defaults;
    drawFields();
    drawPrices();
    void measure();
  });
  const prices = html("div", { class: "controls prices" });
  function drawPrices(): void {
    prices.replaceChildren(...defaults.parts.filter((part) => part.is_priced).map(priceField));
  }

  function priceField({ name, title, unit, price }: Design["parts"][number]): HTMLElement {
    const id = `price-${name}`;
    const path = pricePrefix + name;
    const input = html("input", { type: "number", id, min: 0, step: "any", value: chosen[path] ?? price });
    input.addEventListener("change", () => {
      if (!Number.isFinite(input.valueAsNumber)) return;
      choose(path, input.valueAsNumber);
      const kept = measured;
      void ask().then((isGood) => {
        if (!isGood) return;
        // A price changes no result.
        measured = kept;
        history.replaceState(null, "", encodeHash({ ...defaultState, set: chosen }));
        draw();
      });
    });
    const words = unit === "" ? title : `${title}, each ${unit}`;
    return html(
      "div",
      { class: "control" },
      html("div", { class: "control-head" }, html("label", { for: id }, words)),
      input,
    );
  }

  root.append(
    html(
      "section",
      { class: "stage-section", "aria-label": "The pool" },
      sentence,
      fields,
      reset,
      bar.element,
      table,
      html(
        "details",
        { class: "table" },
        html("summary", {}, "Prices"),
        html(
          "p",
          { class: "prose" },
          "Sample values in no particular currency, and nobody's list prices. Give your own; they stay in this page and in its address.",
        ),
        prices,
      ),
    ),
    explanation(),
  );
  if (Object.keys(chosen).length > 0 && !(await ask())) chosen = {};
  drawFields();
  drawPrices();
  draw();
  performance.mark("first-chart");
  await measure();
}

function explanation(): HTMLElement {
  const link = (href: string, text: string) => html("a", { href }, text);
  return html(
    "section",
    { class: "why", "aria-labelledby": "why-title" },
    html("h2", { id: "why-title" }, "Why"),
    html(
      "div",
      { class: "prose" },
      html(
        "p",
        {},
        "Each test is a closed loop: it runs until something is busy all the time. What each part can do is known before anything runs: one disk does 77 random reads a second, up to 200 with a full queue; a link carries its rate less headers; cores do their cycles over those of a request. The least of these binds.",
      ),
      html(
        "p",
        {},
        "A bar that stays short is waiting: its threads wait for one answer after the other, and no part is full. More parts do not help it; more threads would.",
      ),
      html(
        "p",
        {},
        "Windows are a second or a few; the pool is the one of ",
        link("eleven-metrics.html", "the eleven metrics"),
        ", with other numbers. For the working set memory and flash hold what they can from the start, and the disks are as large as the rest needs, so that their arms move as they would. Streams written for so short a time may end in memory. Notebook 12 and the assignment pool-design go on from here.",
      ),
    ),
  );
}
