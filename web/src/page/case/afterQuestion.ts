/**
 * Sections that give away the answer to the open question. They are hidden until the reader has predicted or skipped.
 */
import { html } from "../../base/elements.ts";
import type { Prediction } from "../../lab/prediction.ts";

export interface AfterQuestion {
  readonly element: HTMLElement;
  /** The question has been answered. */
  open(): void;
}

export function afterQuestion(
  prediction: Pick<Prediction, "isOpen">,
  sections: readonly HTMLElement[],
  onPredict: () => void,
): AfterQuestion {
  const predict = html("button", { type: "button", class: "quiet" }, "To the question");
  predict.addEventListener("click", onPredict);
  const closed = html(
    "section",
    { class: "closed" },
    html("p", {}, "The explanation, the documented numbers and further experiments appear after your prediction."),
    html("div", { class: "actions" }, predict),
  );
  const element = html("div", { class: "after-question" });
  const open = () => element.replaceChildren(...sections);
  if (prediction.isOpen) element.append(closed);
  else open();
  return { element, open };
}
