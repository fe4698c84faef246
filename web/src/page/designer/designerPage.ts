/**
 * The page on which a reader builds a pool: parts and prices on one side, what it costs and holds, and the tests with what
 * binds them on the other. The bounds follow a slider at once; the tests run when it is let go, one after the other, and can
 * be stopped.
 */
import "../../style/page.css";
import { Cancelled, EngineError } from "../../engine/api.ts";
import type { Control, DesignPart, PoolDesign, Problem, Value } from "../../engine/types.ts";
import { EngineClient } from "../../engine/client.ts";
import { controls } from "../../lab/controls.ts";
import { formatNumber } from "../../base/format.ts";
import { bindsOf, poolTests, runOf, type Measured } from "./poolTests.ts";
import { html } from "../../base/elements.ts";
import { addressOf } from "../shared/address.ts";
import { costPanel } from "./costPanel.ts";
import { amount, currencies, currencyOf } from "./currency.ts";
import { explanation, ideas, onward, type PoolIdea } from "./designerWords.ts";
import { openPage, preparePage } from "../shared/pageSetup.ts";
import { defaultState, type PageState } from "../shared/runLink.ts";
import { progress } from "../shared/progress.ts";

type Numbers = Readonly<Record<string, number>>;

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
const choices: Readonly<Record<string, readonly number[]>> = {
  record_kib: [8, 16, 32, 64, 128],
  cache_gib: [0, 4, 8, 16, 32, 64, 96, 128, 192],
};

const page = preparePage();
const { root, message } = page;
void openPage(page, open);

async function open({ set, ui }: PageState): Promise<void> {
  const engine = new EngineClient();
  await designer(engine, await engine.call("design", {}), {
    numbers: numbersOf(set),
    currency: currencyOf(ui.currency),
  });
}

/** A pool that was measured, kept to be compared with others. */
interface Kept {
  readonly design: PoolDesign;
  readonly measured: ReadonlyMap<string, Measured>;
}

function numbersOf(set: Readonly<Record<string, Value>>): Numbers {
  return Object.fromEntries(
    Object.entries(set).filter((entry): entry is [string, number] => typeof entry[1] === "number"),
  );
}

/** What the engine is asked: numbers by part, and prices by part. */
function requestOf(chosen: Numbers): Record<string, number | Numbers> {
  const prices: Record<string, number> = {};
  const request: Record<string, number | Numbers> = { prices };
  for (const [name, value] of Object.entries(chosen)) {
    if (name.startsWith(pricePrefix)) prices[name.slice(pricePrefix.length)] = value;
    else request[name] = value;
  }
  return request;
}

async function designer(
  engine: EngineClient,
  defaults: PoolDesign,
  { numbers: start, currency: startCurrency }: { readonly numbers: Numbers; readonly currency: string },
): Promise<void> {
  let chosen = start;
  let currency = startCurrency;
  let kept: Kept | undefined;
  let shown = defaults;
  let measured: ReadonlyMap<string, Measured> = new Map();
  let before: ReadonlyMap<string, Measured> = new Map();
  /** What the pool did that the page starts with: experiments are compared with it. */
  let atStart: ReadonlyMap<string, Measured> = new Map();
  let running: string | undefined;
  let stop = new AbortController();
  let asked = 0;
  let hasOpened = false;

  const sentence = html("p", { class: "sentence", "aria-live": "polite" });
  const comparison = html("p", { class: "quiet", "aria-live": "polite" });
  const costs = html("p", { class: "quiet costs" });
  const unusual = html("div", { class: "warnings", role: "status" });
  const table = html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Tests of the pool" });
  const bar = progress(() => stop.abort());

  const number = (name: string, of = chosen) =>
    of[name] ?? defaults.parts.find((part) => part.name === name)?.number ?? 0;

  function draw(): void {
    sentence.replaceChildren(
      html("strong", {}, amount(shown.cost, currency)),
      ` for ${formatNumber(shown.capacity_bytes / 1e12)} TB in ${shown.layout}. ${verdict()}`,
    );
    comparison.textContent = kept === undefined ? "" : `${differenceFrom(kept.design)}.`;
    keepIt.textContent = kept === undefined ? "Keep this pool to compare" : "Compare with the last pool again";
    keepIt.disabled = kept === undefined && measured.size < shown.tests.length;
    const paid = shown.parts.filter(({ cost }) => cost > 0).sort((a, b) => b.cost - a.cost);
    costs.textContent = paid.map(({ title, cost }) => `${title} ${amount(cost, currency)}`).join(" · ");
    unusual.replaceChildren(...shown.warnings.map((found) => html("p", { class: "warning" }, `${inWords(found)}.`)));
    const against = kept === undefined ? "change" : "kept pool";
    table.replaceChildren(poolTests(shown.tests, { measured, before: kept?.measured ?? before, against, running }));
  }

  /** What this pool costs and holds more or less than another. */
  function differenceFrom(other: PoolDesign): string {
    const cost = shown.cost - other.cost;
    const room = (shown.capacity_bytes - other.capacity_bytes) / 1e12;
    const money =
      Math.round(cost) === 0 ? "as much" : `${amount(Math.abs(cost), currency)} ${cost > 0 ? "more" : "less"}`;
    const held =
      Math.abs(room) < 0.05 ? "the same room" : `${formatNumber(Math.abs(room))} TB ${room > 0 ? "more" : "less"}`;
    return `Kept: ${amount(other.cost, currency)} for ${formatNumber(other.capacity_bytes / 1e12)} TB in ${other.layout}. This one costs ${money}, for ${held}`;
  }

  function verdict(): string {
    if (measured.size < shown.tests.length) return "";
    const waiting = shown.tests.filter((test) => bindsOf(test, measured.get(test.name)) === "waiting").length;
    return `${shown.tests.length - waiting} of ${shown.tests.length} tests keep a part busy, ${waiting} wait.`;
  }

  /** Asks what the chosen design comes to. Whatever runs is of another one, and stops. */
  async function ask(): Promise<boolean> {
    stop.abort();
    const mine = ++asked;
    try {
      const found = await engine.call("design", requestOf(chosen));
      if (mine !== asked) return false;
      shown = found;
    } catch (error) {
      if (mine === asked) refuse(error);
      return false;
    }
    message.clear();
    if (measured.size === shown.tests.length) before = measured;
    measured = new Map();
    money.forget();
    draw();
    return true;
  }

  function refuse(error: unknown): void {
    if (error instanceof EngineError) message.say(...error.problems.map((problem) => `${inWords(problem)}.`));
    else message.fail(error);
  }

  /** Runs the tests of the chosen design; tells whether all of them did. */
  async function measure(): Promise<boolean> {
    if (!(await ask())) return false;
    stop = new AbortController();
    const { signal } = stop;
    keep();
    bar.start();
    const { tests } = shown;
    try {
      for (const [at, test] of tests.entries()) {
        running = test.name;
        draw();
        const request = runOf(shown, test);
        const onProgress = (share: number) => bar.update((at + share) / tests.length);
        const result = await engine.run(request, { slot: "design", signal, onProgress });
        if (signal.aborted) return false;
        const { metrics } = result.summary;
        const disksBusy = (metrics["load.devices_busy_share_percent"] ?? 0) / 100;
        measured = new Map(measured).set(test.name, { value: metrics[test.metric] ?? 0, disksBusy });
      }
      if (isAtStart()) atStart = measured;
      performance.mark("tests-done");
      return true;
    } catch (error) {
      if (!(error instanceof Cancelled)) message.fail(error);
      return false;
    } finally {
      if (stop.signal === signal) {
        running = undefined;
        bar.end();
        draw();
      }
    }
  }

  function isAtStart(): boolean {
    return Object.keys(chosen).every((name) => name.startsWith(pricePrefix) || number(name) === number(name, {}));
  }

  /** Measures an idea beside the pool that the page starts with, which may have to be measured first. */
  async function compare(numbers: Numbers): Promise<void> {
    const paid = Object.fromEntries(Object.entries(chosen).filter(([name]) => name.startsWith(pricePrefix)));
    if (atStart.size === 0) {
      show(paid);
      if (!(await measure())) return;
    }
    measured = atStart;
    show({ ...paid, ...numbers });
    await measure();
  }

  const address = addressOf({
    state: () => ({ ...defaultState, set: chosen, ui: currency === "" ? {} : { currency } }),
    onState: (state) => {
      currency = state === undefined ? startCurrency : currencyOf(state.ui.currency);
      show(numbersOf(state?.set ?? start));
      void measure();
    },
    message,
  });
  /** Keeps the pool in the address; the one that the page opens with is no step. */
  function keep(): void {
    address.write(hasOpened);
    hasOpened = true;
  }

  function choose(name: string, value: number): void {
    chosen = { ...chosen, [name]: value };
  }

  function show(numbers: Numbers): void {
    chosen = numbers;
    drawFields();
    drawPrices();
  }

  const fields = html("div", {});
  function drawFields(): void {
    const here = layouts.findIndex(({ width, parity }) => width === number("width") && parity === number("parity"));
    const list: readonly Control[] = [
      {
        path: layoutPath,
        title: "Layout",
        help: "How disks are grouped",
        value: Math.max(0, here),
        choices: layouts.map(({ title }, value) => ({ value, title })),
      },
      ...partControls(),
    ];
    const made = controls({
      controls: list,
      onInput: (path, value) => {
        if (path === layoutPath) return;
        choose(path, Number(value));
        void ask();
      },
      onChange: (path, value) => {
        if (path === layoutPath) {
          const { width, parity } = layouts[Number(value)]!;
          chosen = { ...chosen, width, parity, disks: wholeGroups(number("disks"), width) };
          drawFields();
          fields.querySelector("select")?.focus();
        } else choose(path, Number(value));
        void measure();
      },
    });
    fields.replaceChildren(made.element);
  }

  function partControls(): Control[] {
    return defaults.parts.filter(({ name }) => !inLayout.includes(name)).map(controlOf);
  }

  function controlOf({ name, title, unit, range }: DesignPart): Control {
    const [least, most, step] = range;
    const width = number("width");
    const isDisks = name === "disks";
    return {
      path: name,
      title,
      help: title,
      unit: unit === "" ? null : unit,
      min: isDisks ? width : least,
      max: isDisks ? Math.floor(most / width) * width : most,
      step: isDisks ? width : step,
      value: number(name),
      choices:
        choices[name]?.map((value) => ({ value, title: value === 0 ? "all it leaves" : `${value} ${unit}` })) ?? null,
    };
  }

  const prices = html("div", { class: "controls prices" });
  function drawPrices(): void {
    prices.replaceChildren(currencyField(), ...defaults.parts.filter((part) => part.is_priced).map(priceField));
  }

  function currencyField(): HTMLElement {
    const select = html(
      "select",
      { id: "currency" },
      ...currencies.map((name) => html("option", { value: name }, name === "" ? "none" : name)),
    );
    select.value = currency;
    select.addEventListener("change", () => {
      currency = currencyOf(select.value);
      keep();
      draw();
      money.redraw();
    });
    const head = html("div", { class: "control-head" }, html("label", { for: select.id }, "Currency"));
    return html("div", { class: "control" }, head, select);
  }

  function priceField({ name, title, unit, price }: DesignPart): HTMLElement {
    const id = `price-${name}`;
    const path = pricePrefix + name;
    const input = html("input", { type: "number", id, min: 0, step: "any", value: chosen[path] ?? price });
    input.addEventListener("change", () => {
      if (!Number.isFinite(input.valueAsNumber)) return;
      choose(path, input.valueAsNumber);
      void reprice();
    });
    const words = unit === "" ? `${title}, each` : `${title}, each ${unit}`;
    return html(
      "div",
      { class: "control" },
      html("div", { class: "control-head" }, html("label", { for: id }, words)),
      input,
    );
  }

  /** A price changes no result: what was measured, or runs, stays. */
  async function reprice(): Promise<void> {
    try {
      shown = await engine.call("design", requestOf(chosen));
    } catch (error) {
      refuse(error);
      return;
    }
    money.forget();
    message.clear();
    keep();
    draw();
  }

  const keepIt = html("button", { type: "button", class: "quiet", disabled: "" });
  keepIt.addEventListener("click", () => {
    kept = kept === undefined ? { design: shown, measured } : undefined;
    draw();
  });
  const money = costPanel({
    controls: partControls,
    design: (part, value) => engine.call("design", requestOf({ ...chosen, [part]: value })),
    currency: () => currency,
  });

  const again = html("button", { type: "button" }, "Run the tests");
  again.addEventListener("click", () => void measure());
  const reset = html("button", { type: "button", class: "quiet" }, "The pool as it started");
  reset.addEventListener("click", () => {
    show({});
    void measure();
  });

  root.append(
    html(
      "section",
      { class: "stage-section designer", "aria-label": "The pool" },
      html(
        "div",
        { class: "parts" },
        fields,
        message.element,
        html("div", { class: "actions" }, again, reset, keepIt),
        html(
          "details",
          { class: "table" },
          html("summary", {}, "Prices"),
          html(
            "p",
            {},
            "Sample values, and nobody's list prices; a currency is only a name here. Give your own; they stay in this page and in its address.",
          ),
          prices,
        ),
      ),
      html(
        "div",
        { class: "outcome" },
        sentence,
        comparison,
        costs,
        unusual,
        table,
        html("div", { class: "stage-head" }, bar.element),
        experiments((numbers) => void compare(numbers)),
      ),
    ),
    money.element,
    explanation(),
    onward(),
  );
  drawFields();
  drawPrices();
  money.offer(shown.tests);
  draw();
  performance.mark("first-chart");
  await measure();
  if (asked === 1 && measured.size === 0) chosen = {};

  function inWords({ path, message: found }: Pick<Problem, "path" | "message">): string {
    const part = defaults.parts.find(({ name }) => path === name || path === pricePrefix + name);
    const words = part === undefined ? path : part.title + (path.startsWith(pricePrefix) ? ", price" : "");
    return `${words}: ${found}`;
  }
}

/** The multiple of a width nearest to a number of disks, one group at least. */
function wholeGroups(disks: number, width: number): number {
  return Math.max(1, Math.round(disks / width)) * width;
}

function experiments(onTry: (numbers: Numbers) => void): HTMLElement {
  const words = html("p", { class: "surprise", "aria-live": "polite" });
  const entry = ({ title, numbers, surprise }: PoolIdea) => {
    const button = html("button", { type: "button" }, title);
    button.addEventListener("click", () => {
      onTry(numbers);
      words.replaceChildren(html("b", {}, title), `. ${surprise}`);
    });
    return button;
  };
  return html(
    "section",
    { class: "ideas", "aria-labelledby": "what-if-title" },
    html("h2", { id: "what-if-title" }, "What if"),
    html("div", { class: "actions" }, ...ideas.map(entry)),
    words,
  );
}
