/** The reader's predictions so far, and their errors. They are stored on this device only. */
import { isNear } from "../../lab/prediction.ts";
import { recall, remember } from "./storage.ts";

export type Progress = "open" | "skipped" | "predicted" | "solved";

/** Remembers the simulated answer beside the guess. */
export function storeAnswer(id: string, answer: number): void {
  remember(`answer.${id}`, JSON.stringify(answer));
}

export function progressOf(id: string, read: (key: string) => string | null = recall): Progress {
  const guess = numberOf(read(`prediction.${id}`), "guess");
  if (guess === undefined) return "open";
  if (guess === null) return "skipped";
  const answer = numberOf(read(`answer.${id}`));
  return typeof answer === "number" && isNear(guess, answer) ? "solved" : "predicted";
}

/** A number that was remembered, by itself or in a field; what cannot be read was not. */
function numberOf(text: string | null, field?: string): number | null | undefined {
  if (text === null) return undefined;
  try {
    const value = JSON.parse(text) as unknown;
    const found = field === undefined ? value : (value as Record<string, unknown> | null)?.[field];
    return found === null || typeof found === "number" ? found : undefined;
  } catch {
    return undefined;
  }
}
