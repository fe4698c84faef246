/**
 * Error messages, as sentences in one place on the page. A message stays until the next success or until the reader
 * closes it.
 */
import { Cancelled, EngineError, sentence } from "../../engine/api.ts";
import { html } from "../../base/elements.ts";

export interface MessageBox {
  readonly element: HTMLElement;
  say(...sentences: string[]): void;
  fail(error: unknown): void;
  clear(): void;
}

export function messageBox(): MessageBox {
  const element = html("div", { class: "notice", role: "alert", hidden: "" });
  const close = html("button", { type: "button", class: "quiet" }, "Close");
  const say = (...sentences: string[]) => {
    element.replaceChildren(html("div", {}, ...sentences.map((line) => html("p", {}, line))), close);
    element.hidden = false;
  };
  const clear = () => {
    element.hidden = true;
    element.replaceChildren();
  };
  close.addEventListener("click", clear);
  return {
    element,
    say,
    clear,
    fail(error) {
      if (error instanceof Cancelled) say("Run cancelled. Showing the last finished run.");
      else if (error instanceof EngineError) say(...error.problems.map(sentence));
      else say(error instanceof Error ? error.message : String(error));
    },
  };
}
