/** The engine's warnings about a scenario that is valid but rarely intended: one sentence each, under the controls. */
import type { Summary } from "../../engine/types.ts";
import { html } from "../../base/elements.ts";

export interface Warnings {
  readonly element: HTMLElement;
  show(summary: Summary): void;
}

export function warnings(): Warnings {
  const element = html("div", { class: "warnings", role: "status" });
  let shown = "";
  return {
    element,
    show({ warnings: found }) {
      // Written only when it changes: a screen reader reads out what is written.
      const text = found.map(({ path, message }) => `${path}: ${message}`).join("\n");
      if (text === shown) return;
      shown = text;
      element.replaceChildren(
        ...found.map(({ path, message }) => html("p", { class: "warning" }, html("code", {}, path), `: ${message}.`)),
      );
    },
  };
}
