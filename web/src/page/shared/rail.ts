/**
 * The explanation beside the picture, step by step: a step plays its part of the run, holds, and says one sentence. Behind the steps
 * are the reader's own: the guess, the comparison, the knob.
 */
import type { Result } from "../../engine/api.ts";
import { html } from "../../base/elements.ts";
import { type Beat, type Explanation, type Span, spanOf } from "../../stage/beats.ts";

export interface RailOptions {
  readonly steps: readonly Beat[];
  /** Plays the part of the run that a step is about, from a moment in it on when that is given. */
  readonly play: (span: Span, step: Beat, at_ns?: number) => void;
  /** What the reader does after the steps, one entry each. */
  readonly after?: readonly HTMLElement[];
}

export interface Rail {
  readonly element: HTMLElement;
  /** The run that is explained; steps that it has no moment for cannot be chosen. */
  show(result: Result): void;
  /** Plays the first step, from the moment on to which a clip has played it; false if the run has none. */
  begin(at_ns?: number): boolean;
}

export function rail({ steps, play, after = [] }: RailOptions): Rail {
  const count = html("p", { class: "rail-count", "aria-live": "polite" });
  const next = html("button", { type: "button", class: "next-step" }, "Go on");
  const buttons = steps.map(({ say }) => html("button", { type: "button" }, say));
  const list = html("ol", { class: "steps" }, ...buttons.map((button) => html("li", {}, button)));
  const head = html("div", { class: "rail-head" }, count, next);
  const explained = html("div", { class: "explained" }, head, list);
  const element = html(
    "div",
    { class: "rail", role: "group", "aria-label": "Explanation" },
    ...(steps.length === 0 ? [] : [explained]),
    ...after.map((own) => html("div", { class: "rail-own" }, own)),
  );
  let spans: readonly (Span | undefined)[] = [];
  let at = 0;

  /** The nearest step from one on, forwards or backwards, that the run has a moment for; -1 if there is none. */
  function nearest(from: number, by: number): number {
    for (let nth = from; nth >= 0 && nth < steps.length; nth += by) if (spans[nth] !== undefined) return nth;
    return -1;
  }

  function draw(): void {
    buttons.forEach((button, nth) => {
      button.disabled = spans.length > 0 && spans[nth] === undefined;
      if (nth === at) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
      button.tabIndex = nth === at ? 0 : -1;
    });
    const isFound = spans.some((span) => span !== undefined);
    count.textContent =
      isFound || spans.length === 0 ? `Step ${at + 1} of ${steps.length}` : "This run has none of these moments.";
    next.disabled = !isFound;
    next.textContent = nearest(at + 1, 1) >= 0 ? "Go on" : "Once more";
  }

  function go(nth: number, at_ns?: number): void {
    const span = spans[nth];
    if (span === undefined) return;
    at = nth;
    draw();
    play(span, steps[nth]!, at_ns);
  }

  buttons.forEach((button, nth) => button.addEventListener("click", () => go(nth)));
  list.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    const to = by === undefined ? -1 : nearest(at + by, by);
    if (to < 0) return;
    event.preventDefault();
    go(to);
    buttons[to]!.focus();
  });
  next.addEventListener("click", () => {
    const onwards = nearest(at + 1, 1);
    go(onwards >= 0 ? onwards : nearest(0, 1));
    // On a phone the next step may be behind the knob at the bottom edge.
    buttons[at]!.scrollIntoView({ block: "nearest" });
  });
  draw();
  return {
    element,
    show(result) {
      spans = steps.map((step) => spanOf(result, step));
      if (spans[at] === undefined) at = Math.max(0, nearest(0, 1));
      draw();
    },
    begin(at_ns) {
      const first = nearest(0, 1);
      go(first, at_ns);
      return first >= 0;
    },
  };
}

/** The explanation that the page's file holds. */
export function explanationOfPage(): Explanation {
  const text = document.querySelector("#beats")?.textContent;
  return text == null ? { steps: [] } : (JSON.parse(text) as Explanation);
}
