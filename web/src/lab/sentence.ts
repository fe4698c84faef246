/** The sentence of a case, with the numbers of a run. */
import { html } from "../base/elements.ts";
import { formatNumber } from "../base/format.ts";

/** A sentence with its numbers set apart. */
export function sentenceNodes(template: string, metrics: Readonly<Record<string, number>>): (Node | string)[] {
  return template.split(/(\{[^}]+\})/).map((piece) => {
    if (!piece.startsWith("{")) return piece;
    const value = metrics[piece.slice(1, -1).trim()];
    const exact = value === undefined ? {} : { title: String(value) };
    return html("b", exact, value === undefined ? "–" : formatNumber(value));
  });
}

/** The metrics that a case's sentence names. */
export function sentenceMetrics(sentence: string): string[] {
  return [...new Set(Array.from(sentence.matchAll(/\{([^}]+)\}/g), ([, name]) => name!.trim()))];
}
