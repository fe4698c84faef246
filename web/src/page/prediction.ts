/**
 * The prediction: one question before a variant is shown for the first time, then the distance. A question about the variant
 * on the stage is answered beside it. It can be skipped, is asked once, and is remembered on this device.
 */
import type { Ask } from "../engine/api.ts";
import { formatExact, formatNumber, formatValue } from "../base/format.ts";
import { html } from "../base/elements.ts";
import { inline } from "./markdown.ts";
import { recall, remember } from "./remember.ts";

export interface PredictionOptions {
  readonly id: string;
  readonly ask: Ask;
  /** The variant that gives the answer away, and how to show it; none when no other variant does. */
  readonly revealing?: { readonly variant: string; readonly title: string; readonly show: () => void } | undefined;
  /** The simulated answer, asked for only when the reader has answered. */
  readonly answer: () => Promise<number>;
}

export interface Prediction {
  readonly element: HTMLElement;
  /** Whether the question still stands before this variant. */
  isOpenFor(variant: string): boolean;
  /** Brings the question to the reader, who has just asked to see the variant. */
  insist(): void;
}

interface Memory {
  readonly guess: number | null;
}

/** Under which name the answer to a case's question is remembered. */
export function predictionKey(id: string): string {
  return `prediction.${id}`;
}

export function prediction(options: PredictionOptions): Prediction {
  const { ask } = options;
  const key = predictionKey(options.id);
  const element = html("section", { class: "prediction", "aria-labelledby": "prediction-title" });
  let isOpen = true;
  const slider = guessSlider(ask);
  const form = html("form");
  const { revealing } = options;
  const commit = html(
    "button",
    { type: "submit" },
    revealing === undefined ? "Commit" : `Commit and show “${revealing.title}”`,
  );
  const skip = html("button", { type: "button", class: "quiet" }, "Skip");
  const title = html("h2", { id: "prediction-title" }, "Your prediction");
  const live = html("p", { class: "reveal", "aria-live": "polite" });

  const memory = readMemory(recall(key));
  if (memory === undefined) {
    form.append(
      html("p", { class: "question" }, ...inline(ask.question)),
      slider.element,
      html("div", { class: "actions" }, commit, skip),
    );
    element.append(title, form, live);
  } else {
    isOpen = false;
    if (memory.guess === null) element.hidden = true;
    else {
      element.append(title, live);
      void reveal(memory.guess);
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    close({ guess: slider.value() });
    void reveal(slider.value());
    revealing?.show();
  });
  skip.addEventListener("click", () => {
    close({ guess: null });
    element.hidden = true;
    revealing?.show();
  });

  function close(given: Memory): void {
    isOpen = false;
    remember(key, JSON.stringify(given));
    form.remove();
  }

  async function reveal(guess: number): Promise<void> {
    const answer = await options.answer();
    live.replaceChildren(
      "You said ",
      html("b", {}, formatExact(guess, ask.unit)),
      ". Simulated: ",
      html("b", {}, formatValue(answer, ask.unit)),
      `. ${distance(guess, answer)} `,
      ...inline(ask.reveal.replace("{answer}", formatNumber(answer))),
    );
  }

  return {
    element,
    isOpenFor: (variant) => isOpen && variant === revealing?.variant,
    insist() {
      element.classList.add("insisting");
      element.scrollIntoView({ block: "nearest" });
      slider.focus();
    },
  };
}

/** How far a guess is from the answer, in words. */
export function distance(guess: number, answer: number): string {
  if (guess <= 0 || answer <= 0) return "";
  const ratio = guess / answer;
  if (ratio > 0.83 && ratio < 1.2) return "Close.";
  const times = ratio < 1 ? 1 / ratio : ratio;
  return `${times < 10 ? times.toFixed(1) : Math.round(times)} times too ${ratio < 1 ? "low" : "high"}.`;
}

function guessSlider(ask: Ask) {
  const isLog = ask.scale === "log";
  const input = html("input", { type: "range", id: "guess", min: 0, max: 100, step: 1, "aria-label": "Your guess" });
  const output = html("output", { for: "guess" });
  const value = () => {
    const share = input.valueAsNumber / 100;
    const exact = isLog ? ask.min * (ask.max / ask.min) ** share : ask.min + (ask.max - ask.min) * share;
    return Number(exact.toPrecision(2));
  };
  const show = () => {
    output.textContent = formatExact(value(), ask.unit);
    input.setAttribute("aria-valuetext", output.textContent);
  };
  // Off the ends and off the middle: the starting point should not be an answer.
  input.value = "15";
  input.addEventListener("input", show);
  show();
  return { element: html("div", { class: "guess" }, input, output), value, focus: () => input.focus() };
}

function readMemory(text: string | null): Memory | undefined {
  try {
    return text === null ? undefined : (JSON.parse(text) as Memory);
  } catch {
    return undefined;
  }
}
