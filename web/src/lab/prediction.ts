/**
 * The question of a case, asked once: a guess before the variant that answers it is shown. What was guessed, or that the
 * question was skipped, is remembered by whoever gives the memory.
 */
import type { CaseDocument } from "../engine/types.ts";
import { revealingVariants } from "./measure.ts";

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
  /** Whether the question still stands before this variant. */
  isOpenFor(variant: string): boolean;
  commit(guess: number): void;
  skip(): void;
}

export function predictionOf(document: Pick<CaseDocument, "ask" | "default_variant">, memory: Memory): Prediction {
  let answer = readAnswer(memory.read());
  const variants = revealingVariants(document);
  const covers = new Set(document.ask.covers);
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
    isOpenFor: (variant) => answer.kind === "open" && variants.includes(variant),
    commit: (guess) => close({ kind: "guess", guess }, guess),
    skip: () => close({ kind: "skipped" }, null),
  };
}

/** What was remembered; a memory that cannot be read is none. */
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
