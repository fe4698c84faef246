/** The message for a run that was too long to keep every operation. */
import { column, type Result } from "../engine/api.ts";
import type { CaseDocument } from "../engine/types.ts";
import { html } from "../base/elements.ts";

/** Whether the runs of a scenario keep their operations. */
export function keepsLog(scenario: CaseDocument["scenario"]): boolean {
  return scenario.record?.log !== false;
}

export function hasOperations(result: Result): boolean {
  return column(result, "ops.id").length > 0;
}

/** A sentence in place of a chart; `so` says what follows from the missing log. */
export function withoutLog(so: string): HTMLElement {
  return html("p", { class: "empty" }, `This run is too long to keep every operation, so ${so}.`);
}
