/** The sentence of a case, with the numbers of a run. */
import { html } from "../base/elements.ts";
import { formatMetric } from "../base/format.ts";

const coveredWords = "hidden until you predict";

/** A sentence with its numbers set apart; those that would answer an open question are covered. */
export function sentenceNodes(
  template: string,
  metrics: Readonly<Record<string, number>>,
  isCovered: (metric: string) => boolean = () => false,
): (Node | string)[] {
  return template.split(/(\{[^{}]+\})/).map((piece) => {
    if (!piece.startsWith("{")) return piece;
    const name = piece.slice(1, -1).trim();
    if (isCovered(name)) {
      const words = html("span", { class: "unseen" }, `(${coveredWords})`);
      return html("b", { class: "covered", title: `This number is ${coveredWords}.` }, "?", words);
    }
    const value = metrics[name];
    const exact = value === undefined ? {} : { title: String(value) };
    return html("b", exact, formatMetric(name, value));
  });
}

/** The metrics that a case's sentence names. */
export function sentenceMetrics(sentence: string): string[] {
  return [...new Set(Array.from(sentence.matchAll(/\{([^{}]+)\}/g), ([, name]) => name!.trim()))];
}
