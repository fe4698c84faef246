/** The choice of a run: the first few side by side, those of the question among them, and a list of all others. */
import { html } from "../base/elements.ts";
import { segmented, type SegmentedOptions } from "../base/segmented.ts";

const mostBeside = 4;

export interface RunChoiceOptions extends Omit<SegmentedOptions, "legend"> {
  /** Values that are never in the list. */
  readonly first: readonly string[];
}

export function runChoice(options: RunChoiceOptions): { readonly element: HTMLElement; select(value: string): void } {
  const { choices, first, value, onChange } = options;
  const isFew = choices.length <= mostBeside + 1;
  const filled = choices.map((choice) => choice.value).filter((name) => !first.includes(name));
  const beside = new Set(isFew ? choices.map((choice) => choice.value) : [...first, ...filled].slice(0, mostBeside));
  const buttons = segmented({
    ...options,
    legend: "Run",
    choices: choices.filter((choice) => beside.has(choice.value)),
  });
  if (isFew) return buttons;
  const others = choices.filter((choice) => !beside.has(choice.value));
  const more = html(
    "select",
    { class: "more-runs", "aria-label": "More runs" },
    html("option", { value: "" }, `${others.length} more runs`),
    ...others.map((choice) => html("option", { value: choice.value }, choice.title)),
  );
  const show = (name: string) => {
    const isListed = others.some((choice) => choice.value === name);
    more.value = isListed ? name : "";
    more.classList.toggle("chosen", isListed);
    if (isListed) buttons.element.querySelectorAll("input").forEach((input) => (input.checked = false));
    else buttons.select(name);
  };
  more.addEventListener("change", () => {
    if (more.value === "") return;
    onChange(more.value);
  });
  show(value);
  return { element: html("div", { class: "run-choice" }, buttons.element, more), select: show };
}
