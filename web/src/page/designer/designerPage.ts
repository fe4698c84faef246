/**
 * The page on which a reader builds a pool: parts and prices on one side, what it costs and holds, and the tests with what
 * binds them on the other. The bounds follow a slider at once; the tests run when it is let go, one after the other, and can
 * be stopped.
 */
import "../../style/page.css";
import { EngineClient } from "../../engine/client.ts";
import type { PoolDesign } from "../../engine/types.ts";
import { html } from "../../base/elements.ts";
import { controls } from "../../lab/controls.ts";
import { addressOf } from "../shared/address.ts";
import { openPage, preparePage } from "../shared/pageSetup.ts";
import { progress } from "../shared/progress.ts";
import { defaultState, type PageState } from "../shared/runLink.ts";
import { costPanel } from "./costPanel.ts";
import { currencyOf } from "./currency.ts";
import { explanation, onward } from "./designerWords.ts";
import { numbersOf, PoolController, type PoolListeners } from "./poolController.ts";
import { layoutControl, layoutPath, layouts, partControls } from "./poolFields.ts";
import { poolTests } from "./poolTests.ts";
import {
  costsOf,
  currencyField,
  differenceFrom,
  experiments,
  inWords,
  poolSentence,
  priceField,
  problemsOf,
} from "./poolViews.ts";

const page = preparePage();
const { root, message } = page;
void openPage(page, open);

async function open({ set, ui }: PageState): Promise<void> {
  const engine = new EngineClient();
  const defaults = await engine.call("design", {});
  await designer(engine, defaults, { set, ui });
}

async function designer(
  engine: EngineClient,
  defaults: PoolDesign,
  start: Pick<PageState, "set" | "ui">,
): Promise<void> {
  let currency = currencyOf(start.ui.currency);
  const sentence = html("p", { class: "sentence", "aria-live": "polite" });
  const comparison = html("p", { class: "quiet", "aria-live": "polite" });
  const costs = html("p", { class: "quiet costs" });
  const unusual = html("div", { class: "warnings", role: "status" });
  const table = html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Tests of the pool" });
  const fields = html("div", {});
  const prices = html("div", { class: "controls prices" });
  const button = (words: string, onClick: () => void, attributes = {}) => {
    const element = html("button", { type: "button", ...attributes }, words);
    element.addEventListener("click", onClick);
    return element;
  };
  const again = button("Run the tests", () => void pool.measure());
  const reset = button("Reset", () => void pool.replace({}), { class: "quiet" });
  const keep = button("", () => pool.toggleKept(), { class: "quiet" });
  const bar = progress(() => pool.stop());

  const listeners: PoolListeners = {
    onChange: draw,
    onNumbers: drawFields,
    onOutdated: () => money.forget(),
    onStep: (isOpening) => address.write(!isOpening),
    onBusy(isBusy) {
      if (isBusy) bar.start();
      else bar.end();
      if (!isBusy && pool.isMeasured) performance.mark("tests-done");
    },
    onProgress: (share) => bar.update(share),
    onAccepted: () => message.clear(),
    onError(error) {
      const problems = problemsOf(error, defaults.parts);
      if (problems === undefined) message.fail(error);
      else message.say(...problems);
    },
  };
  const pool = new PoolController({
    host: {
      design: (request) => engine.call("design", request),
      run: async (request, options) => (await engine.run(request, { slot: "design", ...options })).summary,
    },
    defaults,
    chosen: numbersOf(start.set),
    listeners,
  });
  const money = costPanel({
    controls: () => partControls(pool),
    design: (part, value) => pool.designWith({ [part]: value }),
    currency: () => currency,
  });
  const address = addressOf({
    state: () => ({ ...defaultState, set: pool.chosen, ui: currency === "" ? {} : { currency } }),
    onState(state) {
      const { set, ui } = state ?? start;
      currency = currencyOf(ui.currency);
      void pool.replace(numbersOf(set));
    },
    message,
  });

  function draw(): void {
    const { design, measured, compared, running, kept } = pool;
    sentence.replaceChildren(...poolSentence(pool, currency));
    comparison.textContent = kept === undefined ? "" : differenceFrom(kept.design, design, currency);
    keep.textContent = kept === undefined ? "Keep pool to compare" : "Stop comparing";
    keep.disabled = kept === undefined && !pool.isMeasured;
    costs.textContent = costsOf(design, currency);
    unusual.replaceChildren(
      ...design.warnings.map((found) => html("p", { class: "warning" }, inWords(found, defaults.parts))),
    );
    const against = kept === undefined ? "change" : "kept pool";
    table.replaceChildren(poolTests(design.tests, { measured, before: compared, against, running }));
  }

  function drawFields(): void {
    const made = controls({
      controls: [layoutControl(pool), ...partControls(pool)],
      target: {
        setValues({ [layoutPath]: layout, ...values }, isSettled) {
          if (layout !== undefined) {
            const { width, parity } = layouts[Number(layout)]!;
            void pool.chooseLayout(width, parity);
            fields.querySelector("select")?.focus();
            return;
          }
          const parts = Object.fromEntries(Object.entries(values).map(([path, value]) => [path, Number(value)]));
          if (isSettled) void pool.choose(parts);
          else void pool.preview(parts);
        },
      },
    });
    fields.replaceChildren(made.element);
    const priced = defaults.parts.filter((part) => part.is_priced);
    prices.replaceChildren(
      currencyField(currency, (chosen) => {
        currency = currencyOf(chosen);
        pool.step();
        draw();
        money.redraw();
      }),
      ...priced.map((part) => priceField(part, pool.priceOf(part), (price) => void pool.setPrice(part.name, price))),
    );
  }

  root.append(
    html(
      "section",
      { class: "stage-section designer", "aria-label": "The pool" },
      html(
        "div",
        { class: "parts" },
        fields,
        message.element,
        html("div", { class: "actions" }, again, reset, keep),
        html(
          "details",
          { class: "table" },
          html("summary", {}, "Prices"),
          html(
            "p",
            {},
            "Example prices, not list prices, in any currency. Enter your own; they are stored only in this page's address.",
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
        experiments((numbers) => void pool.compare(numbers)),
      ),
    ),
    money.element,
    explanation(),
    onward(),
  );
  drawFields();
  money.offer(defaults.tests);
  draw();
  performance.mark("first-chart");
  await pool.begin();
}
