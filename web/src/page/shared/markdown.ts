/**
 * The little Markdown that case files use: paragraphs, lists, emphasis, code. The text comes from our own files, but it is
 * built as nodes all the same, never as HTML.
 */
import { html } from "../../base/elements.ts";

export function markdown(text: string): HTMLElement[] {
  return text
    .trim()
    .split(/\n\s*\n/)
    .map((block) => {
      const lines = block.split("\n").map((line) => line.trim());
      const isList = lines[0]?.startsWith("- ") === true;
      if (!isList) return html("p", {}, ...inline(lines.join(" ")));
      const items = lines
        .join("\n")
        .split(/(?:^|\n)- /)
        .filter((item) => item !== "");
      return html("ul", {}, ...items.map((item) => html("li", {}, ...inline(item.replaceAll("\n", " ")))));
    });
}

export function inline(text: string): (Node | string)[] {
  return text
    .split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*]+\*)/)
    .filter((piece) => piece !== "")
    .map((piece) => {
      if (piece.startsWith("`")) return html("code", {}, piece.slice(1, -1));
      if (piece.startsWith("**")) return html("strong", {}, piece.slice(2, -2));
      if (piece.startsWith("*") && piece.endsWith("*") && piece.length > 2) return html("em", {}, piece.slice(1, -1));
      return piece;
    });
}
