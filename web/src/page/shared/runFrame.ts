/**
 * The frame in which everything happens: the number, the picture, its clock and the knob, with the explanation beside it. The site's
 * build draws the same frame for the page's first picture.
 */
import { html } from "../../base/elements.ts";
import type { Finished } from "../../lab/runController.ts";
import type { Workbench } from "../../lab/workbench.ts";

export interface RunFrameParts {
  /** The choice of a run and what is beside it; nothing where the reader has the knob alone. */
  readonly choice: readonly HTMLElement[];
  readonly dial: HTMLElement;
  readonly rail: HTMLElement;
  readonly summary: HTMLElement;
  /** Behind the controls. */
  readonly reset: HTMLElement;
  /** Below everything. */
  readonly after: readonly HTMLElement[];
}

export function runFrame<Run extends Finished>(
  bench: Pick<Workbench<Run>, "sentence" | "stage" | "controls">,
  { choice, dial, rail, summary, reset, after }: RunFrameParts,
): HTMLElement {
  const more = html(
    "button",
    { type: "button", class: "quiet more-controls", "aria-expanded": "false" },
    "More settings",
  );
  const row = html("div", { class: "controls-row" }, bench.controls, more, reset);
  more.addEventListener("click", () => {
    const isOpen = row.classList.toggle("open");
    more.setAttribute("aria-expanded", String(isOpen));
    more.textContent = isOpen ? "Fewer settings" : "More settings";
  });
  const stage = bench.stage!;
  return html(
    "div",
    { class: "run-frame" },
    ...(choice.length === 0 ? [] : [html("div", { class: "stage-head" }, ...choice)]),
    html("div", { class: "frame" }, dial, stage.element),
    rail,
    html("div", { class: "frame-foot" }, bench.sentence, summary, stage.foot, ...after),
    row,
  );
}
