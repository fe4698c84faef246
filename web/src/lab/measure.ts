/** A measure of a case file, taken by running what it names. */
import type { CaseDocument, Measure, RunRequest, Summary, Term } from "../engine/types.ts";

/** The terms of a measure: one, two or four. */
export function termsOf(measure: Measure): readonly Term[] {
  if ("ratio" in measure) return measure.ratio;
  if ("ratios" in measure) return measure.ratios.flat();
  if ("difference" in measure) return measure.difference;
  return [measure];
}

/** The first variant of the measure that is not the one shown from the start: seeing it gives the answer away. */
export function revealingVariant(document: Pick<CaseDocument, "ask" | "default_variant">): string | undefined {
  return termsOf(document.ask.measure)
    .map((term) => term.variant)
    .find((variant) => variant !== undefined && variant !== document.default_variant);
}

/** Runs what the measure names, one run after the other. */
export async function take(
  run: (request: RunRequest) => Promise<Summary>,
  id: string,
  measure: Measure,
): Promise<number> {
  const values = [];
  for (const { metric, variant, set = {} } of termsOf(measure)) {
    const { metrics } = await run({ case: id, variant, set: { ...set, "record.log": false } });
    values.push(metrics[metric] ?? Number.NaN);
  }
  const [first = Number.NaN, second = Number.NaN, third = Number.NaN, fourth = Number.NaN] = values;
  if ("ratio" in measure) return first / second;
  if ("ratios" in measure) return first / second / (third / fourth);
  if ("difference" in measure) return first - second;
  return first;
}
