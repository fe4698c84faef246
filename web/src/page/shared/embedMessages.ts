/**
 * What a page that shows an incident in a frame (`?embed=1`) and the frame say to each other by `postMessage`.
 *
 * To the frame, `{ seeklab: 1, ... }` with
 * - `kind: "set"`: any of `variant` (a name), `set` (fields of the scenario, by path, with their values) and `seed`. What is left out
 *   stays. The frame runs it.
 * - `kind: "run"`: plays the stage from its beginning.
 *
 * From the frame, `{ seeklab: 1, ... }` with
 * - `kind: "ready"`: `case`, `variants` (their names) and `controls` (paths of the fields that it offers).
 * - `kind: "result"`, after each run: `case`, `variant`, `set`, `seed`, `fingerprint` and `metrics`, numbers by name.
 * - `kind: "size"`: `height` in pixels that the frame needs at the width that it has.
 * - `kind: "refused"`: `message`, a sentence. What was shown stays.
 *
 * Only the page around the frame is heard. Nothing of what it sends is opened, loaded or built into the page.
 */
import type { Changes } from "../../engine/types.ts";
import { wrongChanges } from "./runLink.ts";

export const protocol = 1;

export type ToFrame =
  | {
      readonly kind: "set";
      readonly variant?: string | undefined;
      readonly set?: Changes | undefined;
      readonly seed?: number | undefined;
    }
  | { readonly kind: "run" };

/** A message that can be done, or a sentence that says why it cannot. */
export function readMessage(data: unknown, variants: readonly string[]): ToFrame | string {
  if (!isRecord(data)) return "A message is an object { seeklab: 1, kind, ... }.";
  if (data.seeklab !== protocol) return "A message must name its protocol: seeklab: 1.";
  if (data.kind === "run") return { kind: "run" };
  if (data.kind !== "set") return 'A message has a kind: "set" or "run".';
  const { variant, set, seed } = data;
  if (variant !== undefined && (typeof variant !== "string" || !variants.includes(variant))) {
    return `variant must be one of ${variants.join(", ")}.`;
  }
  if (seed !== undefined && (typeof seed !== "number" || !Number.isSafeInteger(seed) || seed < 0)) {
    return "seed must be a whole number from 0 to 2^53 - 1.";
  }
  if (set !== undefined) {
    if (!isRecord(set)) return "set must map paths of fields to values.";
    const wrong = wrongChanges(set);
    if (wrong !== undefined) return `${wrong}.`;
  }
  return { kind: "set", variant, set: set as Changes | undefined, seed };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
