/**
 * The prediction on the page: one question before a variant is shown for the first time, then the distance. A question about
 * the variant on the stage is answered beside it.
 */
import type { Ask } from "../../engine/types.ts";
import { html } from "../../base/elements.ts";
import { formatExact, formatNumber, formatValue } from "../../base/format.ts";
import { distance, type Memory, type Prediction, words } from "../../lab/prediction.ts";
import { inline } from "./markdown.ts";
import { recall, remember } from "./storage.ts";

/** Where a sentence has the simulated answer. */
const placeholder = "{answer}";

export interface PredictionSectionOptions {
  readonly prediction: Prediction;
  readonly ask: Ask;
  /** Title of the variant that gives the answer away. */
  readonly revealingTitle?: string | undefined;
  /** The reader has committed or skipped. */
  readonly onAnswered: () => void;
  /** The simulated answer, asked for only once the reader has committed. */
  readonly measure: () => Promise<number>;
  /** The answer has been simulated. */
  readonly onMeasured?: (answer: number) => void;
}

export interface PredictionSection {
  readonly element: HTMLElement;
  /** Brings the question to the reader, who has just asked to see the variant. */
  insist(): void;
}

/** The answer to a case's question, kept on this device. */
export function predictionMemory(id: string): Memory {
  const key = `prediction.${id}`;
  return { read: () => recall(key), write: (answer) => remember(key, answer) };
}

export function predictionSection(options: PredictionSectionOptions): PredictionSection {
  const { ask, prediction, revealingTitle } = options;
  const element = html("section", { class: "prediction", "aria-labelledby": "prediction-title" });
  const slider = guessSlider(ask);
  const form = html("form");
  const commit = html("button", { type: "submit" }, "Check my guess");
  const skip = html("button", { type: "button", class: "quiet" }, "Skip");
  const title = html("h2", { id: "prediction-title" }, "Your prediction");
  const live = html("p", { class: "reveal", "aria-live": "polite", tabindex: -1 });

  switch (prediction.answer.kind) {
    case "open":
      form.append(
        html("p", { class: "question" }, ...inline(ask.question)),
        slider.element,
        html("div", { class: "actions" }, commit, skip),
      );
      element.append(title, form, live);
      break;
    case "guess":
      element.append(title, live);
      reveal(prediction.answer.guess);
      break;
    case "skipped":
      element.hidden = true;
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    prediction.commit(slider.value());
    form.remove();
    reveal(slider.value());
    // The answer comes here; without this, the keyboard would begin at the top of the page again.
    live.focus({ preventScroll: true });
    options.onAnswered();
  });
  skip.addEventListener("click", () => {
    prediction.skip();
    form.remove();
    element.hidden = true;
    options.onAnswered();
  });

  function reveal(guess: number): void {
    const named = revealingTitle === undefined ? "" : ` of “${revealingTitle}”`;
    live.replaceChildren(
      ...filled(`You said {given}. Simulating the run${named} …`, "{given}", formatExact(guess, ask.unit)),
    );
    options
      .measure()
      .then((answer) => {
        options.onMeasured?.(answer);
        live.replaceChildren(...comparison(ask, guess, answer));
        live.after(scaleOf(ask, { guess, answer }));
      })
      .catch((error: unknown) => {
        live.textContent = `The answer could not be simulated: ${error instanceof Error ? error.message : String(error)}`;
      });
  }

  return {
    element,
    insist() {
      element.classList.add("insisting");
      element.scrollIntoView({ block: "nearest" });
      slider.focus();
    },
  };
}

/** The question's scale with both marks on it; the sentence beside it says the same. */
function scaleOf(ask: Ask, { guess, answer }: { readonly guess: number; readonly answer: number }): HTMLElement {
  const mark = (name: string, value: number, words: string) => {
    const at = html("span", { class: `mark ${name}` }, html("span", { class: "mark-label" }, words));
    const share = shareOf(ask, value);
    at.style.insetInlineStart = `${share * 100}%`;
    at.classList.toggle("near-end", share > 0.8);
    return at;
  };
  return html(
    "div",
    { class: "guess-scale", "aria-hidden": "true" },
    html("span", { class: "scale-end" }, formatExact(ask.min, ask.unit)),
    html("div", { class: "scale-line" }, mark("yours", guess, "you"), mark("simulated", answer, "simulated")),
    html("span", { class: "scale-end" }, formatExact(ask.max, ask.unit)),
  );
}

/** Where a value lies on the question's scale, from 0 to 1; what lies beyond an end is shown at that end. */
function shareOf({ scale, min, max }: Ask, value: number): number {
  const share = scale === "log" ? Math.log(value / min) / Math.log(max / min) : (value - min) / (max - min);
  return Math.min(1, Math.max(0, share));
}

/** A guess beside the answer, in sentences. */
function comparison({ reveal, unit }: Ask, guess: number, answer: number): (Node | string)[] {
  const off = distance(guess, answer);
  const number = formatNumber(answer);
  const startsWithAnswer = reveal.startsWith(placeholder);
  const rest = startsWithAnswer ? reveal.slice(placeholder.length) : `. ${reveal.replace(placeholder, number)}`;
  return [
    ...filled(words.said, "{given}", formatExact(guess, unit)),
    off === "" ? ". " : `: ${off}. `,
    ...filled(words.gives, placeholder, startsWithAnswer ? number : formatValue(answer, unit)),
    ...inline(rest),
  ];
}

/** A text with a value in bold in place of its placeholder. */
function filled(text: string, place: string, value: string): (Node | string)[] {
  const [before = "", after = ""] = text.split(place);
  return [before, html("b", {}, value), after].filter((piece) => piece !== "");
}

/** Units of things that are counted. */
const counts: ReadonlySet<string> = new Set(["writes", "samples"]);

function guessSlider(ask: Ask) {
  const isLog = ask.scale === "log";
  const input = html("input", { type: "range", id: "guess", min: 0, max: 100, step: 1, "aria-label": "Your guess" });
  const output = html("output", { for: "guess" });
  const value = () => {
    const share = input.valueAsNumber / 100;
    const exact = isLog ? ask.min * (ask.max / ask.min) ** share : ask.min + (ask.max - ask.min) * share;
    const rounded = Number(exact.toPrecision(2));
    return counts.has(ask.unit) ? Math.round(rounded) : rounded;
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
