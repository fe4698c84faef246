/**
 * The question of a case, asked once: a guess before the variant that answers it is shown. What was guessed, or that the
 * question was skipped, is remembered by whoever gives the memory.
 */
import type { CaseDocument } from "../engine/types.ts";
import { revealingVariant } from "./measure.ts";

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
  /** The variant that gives the answer away; none when no variant but the first does. */
  readonly revealing: string | undefined;
  /** Whether the question still stands before this variant. */
  isOpenFor(variant: string): boolean;
  commit(guess: number): void;
  skip(): void;
}

export function predictionOf(document: Pick<CaseDocument, "ask" | "default_variant">, memory: Memory): Prediction {
  let answer = readAnswer(memory.read());
  const revealing = revealingVariant(document);
  const close = (given: Answer, guess: number | null) => {
    answer = given;
    memory.write(JSON.stringify({ guess }));
  };
  return {
    get answer() {
      return answer;
    },
    revealing,
    isOpenFor: (variant) => answer.kind === "open" && variant === revealing,
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
