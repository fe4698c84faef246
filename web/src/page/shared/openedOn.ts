import type { CaseDocument } from "../../engine/types.ts";
import { withVariants } from "../../lab/measure.ts";

/** The case as the page opens it: on the failing run, with every variant of its question named. */
export function openedOn(document: CaseDocument): CaseDocument {
  const { ask, default_variant, opens = default_variant } = document;
  return { ...document, default_variant: opens, ask: { ...ask, measure: withVariants(ask.measure, default_variant) } };
}
