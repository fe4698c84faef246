/** A measure of a case file, taken by running what it names. */
import type { CaseDocument, Measure, RunRequest, Summary, Term } from "../engine/types.ts";

/** The terms of a measure: one, two or four. */
export function termsOf(measure: Measure): readonly Term[] {
  if ("ratio" in measure) return measure.ratio;
  if ("ratios" in measure) return measure.ratios.flat();
  if ("difference" in measure) return measure.difference;
  return [measure];
}

/** The same measure, whose terms all name their variant. */
export function withVariants(measure: Measure, variant: string): Measure {
  const named = (term: Term): Term => ({ ...term, variant: term.variant ?? variant });
  if ("ratio" in measure) return { ratio: [named(measure.ratio[0]), named(measure.ratio[1])] };
  if ("difference" in measure) return { difference: [named(measure.difference[0]), named(measure.difference[1])] };
  if ("ratios" in measure) {
    const [[a, b], [c, d]] = measure.ratios;
    return {
      ratios: [
        [named(a), named(b)],
        [named(c), named(d)],
      ],
    };
  }
  return named(measure);
}

/** The variants of the measure that are not the one shown from the start: seeing them gives the answer away. */
export function revealingVariants(document: Pick<CaseDocument, "ask" | "default_variant">): readonly string[] {
  const named = termsOf(document.ask.measure).flatMap(({ variant }) => (variant == null ? [] : [variant]));
  return [...new Set(named)].filter((variant) => variant !== document.default_variant);
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
