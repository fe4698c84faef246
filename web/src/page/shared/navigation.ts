/**
 * From a link to a case's page.
 *
 * Whoever makes a link chooses the name in it, so the name is data: it is compared with the names of our own cases, and only
 * a name on that list becomes part of an address. `//host/`, `https:` and `javascript:` are names like any other that is unknown.
 */
import type { Incident } from "./incidents.ts";
import type { MessageBox } from "./messages.ts";

export type CaseAddress =
  { readonly kind: "page"; readonly href: string } | { readonly kind: "unknown"; readonly message: string };

const longestName = 60;

/** The page of the case that a link names, or a sentence that says why there is none. */
export function addressOfCase(name: string, cases: readonly Pick<Incident, "id">[], hash: string): CaseAddress {
  const known = cases.find(({ id }) => id === name);
  if (known !== undefined) return { kind: "page", href: `${known.id}.html${hash}` };
  const words = name.length > longestName ? `${name.slice(0, longestName)}…` : name;
  return {
    kind: "unknown",
    message: `The link names the case “${words}”, which this site does not have, so nothing was opened.`,
  };
}

/**
 * Opens the case that a link names, or says that there is none. A page that has shown nothing yet is replaced: going back
 * would otherwise lead to it and on again.
 */
export async function openCase(
  name: string,
  {
    cases,
    message,
    replaces,
  }: {
    readonly cases: Promise<readonly Pick<Incident, "id">[]>;
    readonly message: MessageBox;
    readonly replaces: boolean;
  },
): Promise<boolean> {
  const found = addressOfCase(name, await cases, location.hash);
  if (found.kind === "unknown") message.say(found.message);
  else if (replaces) location.replace(found.href);
  else location.assign(found.href);
  return found.kind === "page";
}
