/**
 * Terms that explain themselves, where a page uses them for the first time in a text: on hover, on focus and on a tap.
 *
 * The one source is the course's glossary, a list of `- **Term, another name.** What it means.` A name with "of" after its comma,
 * as in "Window, of a monitor", is one of several meanings of the word before it.
 */
import text from "../../../../docs/instructor/glossary.md?raw";
import { html } from "../../base/elements.ts";
import { inline } from "../shared/markdown.ts";

export interface Term {
  /** As it is matched, in small letters. */
  readonly name: string;
  /** Each meaning, with what it is of where there are several. */
  readonly meanings: readonly string[];
}

export function readGlossary(source: string): readonly Term[] {
  const found = new Map<string, string[]>();
  for (const [, names, meaning] of source.matchAll(/^- \*\*(.+?)\.\*\* (.+)$/gm)) {
    const [first, ...others] = names!.split(", ");
    const of = others.find((other) => other.startsWith("of "));
    const words = of === undefined ? meaning! : `${of.charAt(0).toUpperCase()}${of.slice(1)}: ${meaning!}`;
    for (const name of of === undefined ? [first!, ...others] : [first!]) {
      const key = name.toLowerCase();
      found.set(key, [...(found.get(key) ?? []), words]);
    }
  }
  // "See busy." is what is said of busy.
  const meant = (meaning: string) => found.get(/^See (.+)\.$/.exec(meaning)?.[1] ?? "") ?? [meaning];
  return [...found].map(([name, meanings]) => ({ name, meanings: meanings.flatMap(meant) }));
}

export const glossary = readGlossary(text);

let nextId = 1;

/** Makes the first use of each term in these elements one that explains itself. Code, links and headings stay as they are. */
export function explainTerms(elements: Iterable<Element>, terms: readonly Term[] = glossary): void {
  const byName = new Map(terms.map((term) => [term.name, term]));
  // The longest first: "transaction group" is not "group".
  const names = [...byName.keys()]
    .sort((a, b) => b.length - a.length)
    .map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(`(?<![\\w-])(${names.join("|")})(s?)(?![\\w-])`, "gi");
  const seen = new Set<string>();
  for (const element of elements) {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const nodes: Text[] = [];
    while (walker.nextNode()) nodes.push(walker.currentNode as Text);
    for (const node of nodes) {
      if (node.parentElement?.closest("code, a, button, h2, h3, .gloss") != null) continue;
      const pieces: (Node | string)[] = [];
      let from = 0;
      for (const match of node.data.matchAll(pattern)) {
        const name = match[1]!.toLowerCase();
        if (seen.has(name)) continue;
        seen.add(name);
        pieces.push(node.data.slice(from, match.index), explained(match[0], byName.get(name)!));
        from = match.index + match[0].length;
      }
      if (pieces.length > 0) node.replaceWith(...pieces, node.data.slice(from));
    }
  }
}

function explained(words: string, { meanings }: Term): HTMLElement {
  const id = `term-${nextId++}`;
  const button = html("button", { type: "button", class: "term", "aria-describedby": id }, words);
  const tip = html("span", { class: "tip", role: "tooltip", id, hidden: "" });
  meanings.forEach((meaning, nth) => tip.append(...(nth === 0 ? [] : [html("br")]), ...inline(meaning)));
  const element = html("span", { class: "gloss" }, button, tip);
  const show = () => {
    tip.hidden = false;
    // Beside the word, and never beyond the page.
    tip.style.left = "0";
    const { left, right } = tip.getBoundingClientRect();
    const room = document.documentElement.clientWidth - 8;
    tip.style.left = `${Math.max(8 - left, Math.min(0, room - right))}px`;
  };
  const hide = () => (tip.hidden = true);
  element.addEventListener("pointerenter", ({ pointerType }) => {
    if (pointerType === "mouse") show();
  });
  element.addEventListener("pointerleave", () => {
    if (document.activeElement !== button) hide();
  });
  button.addEventListener("focus", show);
  button.addEventListener("blur", hide);
  // A tap does not focus a button in every browser.
  button.addEventListener("click", () => {
    button.focus();
    show();
  });
  element.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") hide();
  });
  return element;
}
