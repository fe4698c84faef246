/** “What if”: named experiments, one click each, with the surprise of each after it has been tried. */
import type { CaseDocument, WhatIf } from "../../engine/types.ts";
import { html } from "../../base/elements.ts";
import { inline } from "../shared/markdown.ts";
import type { RunState } from "../../lab/runController.ts";

export interface WhatIfs {
  readonly element: HTMLElement;
  /** Releases the button of an experiment that the state has left. */
  forget(state: RunState): void;
}

export function whatIfs(doc: CaseDocument, onTry: (whatIf: WhatIf, button: HTMLElement) => void): WhatIfs {
  const list = html("ul", { class: "what-ifs" });
  const element = html(
    "section",
    { "aria-labelledby": "what-if-title" },
    html("h2", { id: "what-if-title" }, "What if"),
    list,
  );
  element.hidden = doc.what_ifs.length === 0;
  const entries = doc.what_ifs.map((whatIf) => {
    const button = html("button", { type: "button", "aria-pressed": "false" }, whatIf.title);
    const surprise = html("p", { class: "surprise", "aria-live": "polite" });
    button.addEventListener("click", () => {
      onTry(whatIf, button);
      button.setAttribute("aria-pressed", "true");
      surprise.replaceChildren(...inline(whatIf.surprise));
    });
    list.append(html("li", {}, button, surprise));
    return { whatIf, button };
  });
  return {
    element,
    forget(state) {
      for (const { whatIf, button } of entries) {
        const isOn = state.variant === whatIf.variant && JSON.stringify(state.set) === JSON.stringify(whatIf.set);
        if (!isOn) button.setAttribute("aria-pressed", "false");
      }
    },
  };
}
