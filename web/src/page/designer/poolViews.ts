/** Views of a pool: functions from its state to elements and sentences. */
import { EngineError } from "../../engine/api.ts";
import type { DesignPart, PoolDesign, Problem } from "../../engine/types.ts";
import { html } from "../../base/elements.ts";
import { formatNumber } from "../../base/format.ts";
import { amount, currencies } from "./currency.ts";
import { ideas, type PoolIdea } from "./designerWords.ts";
import { pricePrefix, type Numbers, type PoolController } from "./poolController.ts";

/** Describe the cost and capacity of the pool, and the results of its tests. */
export function poolSentence({ design, tally }: PoolController, currency: string): (Node | string)[] {
  const verdict =
    tally === undefined
      ? ""
      : `${tally.busy} of ${tally.busy + tally.waiting} tests keep a part busy, ${tally.waiting} wait.`;
  return [
    html("strong", {}, amount(design.cost, currency)),
    ` for ${formatNumber(design.capacity_bytes / 1e12)} TB in ${design.layout}. ${verdict}`,
  ];
}

/** Describe the difference in cost and capacity from the kept pool. */
export function differenceFrom(kept: PoolDesign, design: PoolDesign, currency: string): string {
  const cost = design.cost - kept.cost;
  const room = (design.capacity_bytes - kept.capacity_bytes) / 1e12;
  const money =
    Math.round(cost) === 0 ? "as much" : `${amount(Math.abs(cost), currency)} ${cost > 0 ? "more" : "less"}`;
  const held =
    Math.abs(room) < 0.05 ? "the same room" : `${formatNumber(Math.abs(room))} TB ${room > 0 ? "more" : "less"}`;
  return `Kept: ${amount(kept.cost, currency)} for ${formatNumber(kept.capacity_bytes / 1e12)} TB in ${kept.layout}. This one costs ${money}, for ${held}.`;
}

/** The parts that cost something, the dearest first. */
export function costsOf({ parts }: PoolDesign, currency: string): string {
  const paid = parts.filter(({ cost }) => cost > 0).sort((a, b) => b.cost - a.cost);
  return paid.map(({ title, cost }) => `${title} ${amount(cost, currency)}`).join(" · ");
}

/** Return the problems of a choice, by the title of the part. Other errors stay unchanged. */
export function problemsOf(error: unknown, parts: readonly DesignPart[]): readonly string[] | undefined {
  return error instanceof EngineError ? error.problems.map((problem) => inWords(problem, parts)) : undefined;
}

export function inWords({ path, message }: Pick<Problem, "path" | "message">, parts: readonly DesignPart[]): string {
  const part = parts.find(({ name }) => path === name || path === pricePrefix + name);
  const words = part === undefined ? path : part.title + (path.startsWith(pricePrefix) ? ", price" : "");
  return `${words}: ${message}.`;
}

export function currencyField(currency: string, onChange: (currency: string) => void): HTMLElement {
  const select = html(
    "select",
    { id: "currency" },
    ...currencies.map((name) => html("option", { value: name }, name === "" ? "none" : name)),
  );
  select.value = currency;
  select.addEventListener("change", () => onChange(select.value));
  const head = html("div", { class: "control-head" }, html("label", { for: select.id }, "Currency"));
  return html("div", { class: "control" }, head, select);
}

export function priceField(
  { name, title, unit }: DesignPart,
  price: number,
  onChange: (price: number) => void,
): HTMLElement {
  const id = `price-${name}`;
  const input = html("input", { type: "number", id, min: 0, step: "any", value: price });
  input.addEventListener("change", () => {
    if (Number.isFinite(input.valueAsNumber)) onChange(input.valueAsNumber);
  });
  const words = unit === "" ? `${title}, each` : `${title}, each ${unit}`;
  return html(
    "div",
    { class: "control" },
    html("div", { class: "control-head" }, html("label", { for: id }, words)),
    input,
  );
}

export function experiments(onTry: (numbers: Numbers) => void): HTMLElement {
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
