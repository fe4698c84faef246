/**
 * The frame in which everything happens: the choice of a run, its result, the picture, its clock and the controls. The site's build
 * draws the same frame for the page's first picture.
 */
import { html } from "../../base/elements.ts";
import type { Finished } from "../../lab/runController.ts";
import type { Workbench } from "../../lab/workbench.ts";

export interface RunFrameParts {
  /** Behind the choice of a run. */
  readonly beside: readonly HTMLElement[];
  readonly summary: HTMLElement;
  /** Between the picture and the controls. */
  readonly beats: HTMLElement;
  /** Behind the controls. */
  readonly reset: HTMLElement;
  /** Below everything. */
  readonly after: readonly HTMLElement[];
}

export function runFrame<Run extends Finished>(
  bench: Pick<Workbench<Run>, "variants" | "sentence" | "stage" | "controls">,
  { beside, summary, beats, reset, after }: RunFrameParts,
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
  stage.keepBelow(html("div", {}, beats, row));
  return html(
    "div",
    { class: "run-frame" },
    html("div", { class: "stage-head" }, bench.variants, ...beside),
    bench.sentence,
    stage.element,
    summary,
    ...after,
  );
}
