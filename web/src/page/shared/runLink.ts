/**
 * A whole run in the address: `#v1=` and base64url of the JSON below. A link says what to run, not what came out; the engine
 * gives the same result again. When the shape changes, the version goes up and the old decoder stays.
 */
import type { Changes } from "../../engine/types.ts";

export interface PageState {
  readonly case?: string | undefined;
  readonly variant?: string | undefined;
  readonly set: Changes;
  readonly seed: number;
  /** Open parts of the page and typed text; nothing that changes the result of a case. */
  readonly ui: Readonly<Record<string, string>>;
}

export type Decoded =
  | { readonly kind: "none" }
  | { readonly kind: "state"; readonly state: PageState }
  | { readonly kind: "problem"; readonly message: string };

const version = 1;
const mostFields = 50;
const mostValues = 1000;
const longestText = 300;
const mostDepth = 4;
export const defaultState: PageState = { set: {}, seed: 1, ui: {} };

export function encodeRunLink(state: PageState): string {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return `#v${version}=${base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** Reads an address. `isAnchor` tells whether a name is a place on the page, which is not a state. */
export function decodeRunLink(
  hash: string,
  isAnchor: (name: string) => boolean = (name) => document.getElementById(name) !== null,
): Decoded {
  const match = /^#v(\d+)=(.*)$/s.exec(hash);
  if (match === null) {
    return hash.length <= 1 || isAnchor(hash.slice(1)) ? { kind: "none" } : damaged("it does not start with #v1=");
  }
  const found = Number(match[1]);
  if (found > version) {
    return {
      kind: "problem",
      message:
        `The link was made by a newer version of this page: it is version ${found}, and this page reads versions up to ` +
        `${version}. Reload the page to get the newest version; until then it shows the case with its defaults.`,
    };
  }
  if (found < 1) return damaged(`there is no version ${found}`);
  try {
    const base64 = match[2]!.replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const state = readState(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
    return typeof state === "string" ? damaged(state) : { kind: "state", state };
  } catch {
    return damaged("what follows #v1= is not base64url of JSON; part of the link may be missing");
  }
}

/** The beginning of the message about a damaged link. */
export const invalidLink = "The part of the link after # is invalid";

function damaged(why: string): Decoded {
  return {
    kind: "problem",
    message: `${invalidLink}: ${why}. The page is unchanged; ask for the link again.`,
  };
}

function readState(value: unknown): PageState | string {
  if (!isRecord(value)) return "it is not an object";
  const { case: id, variant, set = {}, seed = 1, ui = {} } = value;
  if (id !== undefined && typeof id !== "string") return "case is not a name";
  if (variant !== undefined && typeof variant !== "string") return "variant is not a name";
  if (typeof seed !== "number" || !Number.isSafeInteger(seed) || seed < 0) {
    return "seed is not a whole number from 0 to 2^53 - 1";
  }
  if (!isRecord(set)) return "set does not map paths to values";
  const wrong = wrongChanges(set);
  if (wrong !== undefined) return wrong;
  if (
    !isRecord(ui) ||
    Object.keys(ui).length > mostFields ||
    !Object.values(ui).every((entry) => typeof entry === "string")
  )
    return "ui is invalid";
  return { case: id, variant, set: set as Changes, seed, ui: ui as Record<string, string> };
}

/** Return the problem of changes from a link or message: too many, too deep, too long. */
export function wrongChanges(set: Record<string, unknown>): string | undefined {
  const entries = Object.entries(set);
  if (entries.length > mostFields) return `set has ${entries.length} fields; at most ${mostFields} are allowed`;
  let values = 0;
  for (const [path, value] of entries) {
    values += path.length > longestText ? Infinity : valuesIn(value, mostDepth);
    if (values > mostValues) {
      const limits = `${mostValues} values, ${mostDepth} levels, texts of ${longestText} characters`;
      return `the value of ${path.slice(0, 60)} is not a number, text, list or object of them, or too large (${limits})`;
    }
  }
  return undefined;
}

/** Return the number of values in a value, including itself; Infinity if one is too deep, too long or of another kind. */
function valuesIn(value: unknown, depth: number): number {
  if (value === null || typeof value === "boolean" || typeof value === "number") return 1;
  if (typeof value === "string") return value.length <= longestText ? 1 : Infinity;
  if (depth === 0 || typeof value !== "object") return Infinity;
  let count = 1;
  for (const inner of Object.values(value)) {
    count += valuesIn(inner, depth - 1);
    if (count > mostValues) return Infinity;
  }
  return count;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
