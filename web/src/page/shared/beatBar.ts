/** The explanation under the picture, step by step: a step plays its part of the run, holds, and says one sentence. */
import type { Result } from "../../engine/api.ts";
import { html } from "../../base/elements.ts";
import { type Beat, type Span, spanOf } from "../../stage/beats.ts";

export interface BeatBar {
  readonly element: HTMLElement;
  /** The run that is explained; steps that it has no moment for are left out. */
  show(result: Result): void;
  /** Plays the first step; false if there is none. */
  begin(): boolean;
}

const withoutMoments = "This run has none of the moments that the steps explain.";

export function beatBar(beats: readonly Beat[], play: (span: Span) => void): BeatBar {
  const dots = html("div", { class: "beat-dots" });
  const words = html("p", { "aria-live": "polite" });
  const next = html("button", { type: "button" }, "Explain");
  const element = html("div", { class: "beats", role: "group", "aria-label": "Explanation" }, dots, words, next);
  let spans: readonly { readonly say: string; readonly span: Span }[] = [];
  let at = 0;
  let isShown = false;

  function draw(): void {
    // A run without these moments keeps the bar, so that the controls stay where they are.
    next.disabled = spans.length === 0;
    dots.replaceChildren(
      ...spans.map(({ say }, nth) => {
        const dot = html("button", { type: "button", "aria-label": `Step ${nth + 1} of ${spans.length}`, title: say });
        if (nth === at) dot.setAttribute("aria-current", "step");
        dot.addEventListener("click", () => go(nth));
        return dot;
      }),
    );
    words.textContent = spans[at]?.say ?? (isShown ? withoutMoments : (beats[0]?.say ?? ""));
    next.textContent = at + 1 < spans.length ? "Go on" : "Once more";
  }

  function go(nth: number): void {
    at = nth;
    draw();
    play(spans[nth]!.span);
  }

  next.addEventListener("click", () => go((at + 1) % spans.length));
  element.hidden = beats.length === 0;
  draw();
  return {
    element,
    show(result) {
      spans = beats.flatMap((beat) => {
        const span = spanOf(result, beat);
        return span === undefined ? [] : [{ say: beat.say, span }];
      });
      at = Math.min(at, Math.max(0, spans.length - 1));
      isShown = true;
      draw();
    },
    begin() {
      if (spans.length === 0) return false;
      go(0);
      return true;
    },
  };
}

/** The steps of the explanation, which the page's file holds. */
export function beatsOfPage(): readonly Beat[] {
  const text = document.querySelector("#beats")?.textContent;
  return text == null ? [] : (JSON.parse(text) as readonly Beat[]);
}
