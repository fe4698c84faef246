/** The sentence of a case, with the numbers of a run. */
import { html } from "../base/elements.ts";
import { formatMetric, withoutCovered } from "../base/format.ts";

/** Placeholder for a sentence whose numbers are all hidden until the question is answered. */
export const untold = "Predict first: the numbers of this run answer the question.";

/** A sentence with its numbers set apart, without the clauses that would answer an open question or that the run has no numbers for. */
export function sentenceNodes(
  template: string,
  metrics: Readonly<Record<string, number>>,
  isCovered: (metric: string) => boolean = () => false,
): (Node | string)[] {
  // A run without reads has nothing to say of them.
  const told = withoutCovered(template, (metric) => isCovered(metric) || !(metric in metrics));
  if (told === "") return [untold];
  return told.split(/(\{[^{}]+\})/).map((piece) => {
    if (!piece.startsWith("{")) return piece;
    const name = piece.slice(1, -1).trim();
    const value = metrics[name];
    const exact = value === undefined ? {} : { title: String(value) };
    return html("b", exact, formatMetric(name, value));
  });
}

/** The metrics that a case's sentence names. */
export function sentenceMetrics(sentence: string): string[] {
  return [...new Set(Array.from(sentence.matchAll(/\{([^{}]+)\}/g), ([, name]) => name!.trim()))];
}
