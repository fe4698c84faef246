/**
 * The question of a case, asked once: a guess before the variant that answers it is shown. The given memory stores the
 * guess, or that the question was skipped.
 */
import { formatNumber, trimZeros } from "../base/format.ts";
import type { CaseDocument, Changes } from "../engine/types.ts";
import shared from "../../../engine/python/seeklab/question.json" with { type: "json" };
import { revealingVariants, termsOf } from "./measure.ts";

/** The factor within which a guess counts as right, and the words in which it is compared with the answer. */
export const { near, words } = shared;

/** Where an answer is kept. */
export interface Memory {
  read(): string | null;
  write(answer: string): void;
}

/** Not answered, skipped, or a number. */
export type Answer =
  { readonly kind: "open" } | { readonly kind: "skipped" } | { readonly kind: "guess"; readonly guess: number };

export interface Prediction {
  readonly answer: Answer;
  /** Whether it is neither answered nor skipped. */
  readonly isOpen: boolean;
  /** The variant that gives the answer away; none when no variant but the first does. */
  readonly revealing: string | undefined;
  /** Whether a metric or a view is covered: the question is open, and it would answer it. */
  readonly isCovered: (name: string) => boolean;
  /**
   * The metrics that are covered in a run with these changes: none in the one that the page opens on, if the question is about
   * another run alone.
   */
  coveredIn(run: { readonly variant: string; readonly set: Changes }): (metric: string) => boolean;
  /** Whether the question must still be answered before this variant. */
  isOpenFor(variant: string): boolean;
  commit(guess: number): void;
  skip(): void;
}

export function predictionOf(document: Pick<CaseDocument, "ask" | "default_variant">, memory: Memory): Prediction {
  let answer = readAnswer(memory.read());
  const variants = revealingVariants(document);
  const covers = new Set(document.ask.covers);
  const [term, ...others] = termsOf(document.ask.measure);
  const isAboutOpening = others.length > 0 || (term?.variant ?? document.default_variant) === document.default_variant;
  const close = (given: Answer, guess: number | null) => {
    answer = given;
    memory.write(JSON.stringify({ guess }));
  };
  return {
    get answer() {
      return answer;
    },
    get isOpen() {
      return answer.kind === "open";
    },
    revealing: variants[0],
    isCovered: (name) => answer.kind === "open" && covers.has(name),
    coveredIn: ({ variant, set }) =>
      variant === document.default_variant && Object.keys(set).length === 0 && !isAboutOpening
        ? () => false
        : (name) => answer.kind === "open" && covers.has(name),
    isOpenFor: (variant) => answer.kind === "open" && variants.includes(variant),
    commit: (guess) => close({ kind: "guess", guess }, guess),
    skip: () => close({ kind: "skipped" }, null),
  };
}

/** Read the stored answer; an unreadable one counts as none. */
function readAnswer(text: string | null): Answer {
  if (text === null) return { kind: "open" };
  try {
    const { guess } = JSON.parse(text) as { guess?: unknown };
    if (guess === null) return { kind: "skipped" };
    return typeof guess === "number" ? { kind: "guess", guess } : { kind: "open" };
  } catch {
    return { kind: "open" };
  }
}

/** Whether a guess counts as right. */
export function isNear(guess: number, answer: number): boolean {
  return factorBetween(guess, answer) <= near;
}

/** How far a guess is off, in words; empty if no factor says it. */
export function distance(guess: number, answer: number): string {
  const factor = factorBetween(guess, answer);
  if (factor === Infinity) return "";
  const text = trimZeros(formatNumber(factor));
  return text === "1" ? words.exactly : words.off.replace("{factor}", text);
}

/** How many times one number is larger than the other. */
function factorBetween(guess: number, answer: number): number {
  if (guess === answer) return 1;
  return guess <= 0 || answer <= 0 ? Infinity : Math.max(guess / answer, answer / guess);
}
