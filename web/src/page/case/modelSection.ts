/** The model: what is in it, what is left out, and what identifies a run. */
import type { Result } from "../../engine/api.ts";
import type { CaseDocument } from "../../engine/types.ts";
import { formatNumber, groupThousands } from "../../base/format.ts";
import { html } from "../../base/elements.ts";

export interface ModelSection {
  readonly element: HTMLElement;
  show(result: Result): void;
  setVersion(version: string): void;
}

export function modelSection(doc: CaseDocument, onSeed: (seed: number) => void): ModelSection {
  const list = (items: readonly string[]) => html("ul", {}, ...items.map((item) => html("li", {}, item)));
  const seed = html("input", { type: "number", id: "seed", min: 0, max: Number.MAX_SAFE_INTEGER, step: 1, value: 1 });
  const another = html("button", { type: "button", class: "quiet" }, "Another seed");
  const fingerprint = html("code", { id: "fingerprint" }, "–");
  const version = html("span", {}, "–");
  const events = html("span", {}, "–");
  seed.addEventListener("change", () => {
    if (seed.validity.valid && Number.isSafeInteger(seed.valueAsNumber)) onSeed(seed.valueAsNumber);
    else seed.reportValidity();
  });
  another.addEventListener("click", () => {
    seed.valueAsNumber += 1;
    onSeed(seed.valueAsNumber);
  });
  const element = html(
    "section",
    { class: "model", "aria-labelledby": "model-title" },
    html("h2", { id: "model-title" }, "The model"),
    html(
      "div",
      { class: "three" },
      html("div", {}, html("h3", {}, "Modelled"), list(doc.model.in)),
      html("div", {}, html("h3", {}, "Not modelled"), list(doc.model.out)),
      html("div", {}, html("h3", {}, "Sources of its numbers"), list(doc.model.parameters)),
    ),
    html(
      "dl",
      { class: "identity" },
      html("div", {}, html("dt", {}, html("label", { for: "seed" }, "Seed")), html("dd", {}, seed, " ", another)),
      html("div", {}, html("dt", {}, "Fingerprint"), html("dd", {}, fingerprint)),
      html("div", {}, html("dt", {}, "Run"), html("dd", {}, events)),
      html("div", {}, html("dt", {}, "Engine"), html("dd", {}, version)),
    ),
    html(
      "p",
      { class: "quiet" },
      "The fingerprint is a hash of every completed operation. The same case, values and seed have the same fingerprint in a browser, in Python and natively.",
    ),
  );
  return {
    element,
    show({ summary }) {
      seed.valueAsNumber = summary.seed;
      fingerprint.textContent = summary.fingerprint;
      events.textContent = `${groupThousands(summary.events)} events, ${formatNumber(summary.simulated_ns / 1e9)} s simulated`;
    },
    setVersion(words) {
      version.textContent = words;
    },
  };
}
