/** Navigation around a case's page: the previous and next incidents, and those of its family. It needs no script. */
import type { CaseDocument } from "../src/engine/types.ts";
import { escapeHtml } from "./escape.ts";

type Named = Pick<CaseDocument, "id" | "code" | "title" | "symptom" | "family">;

/** A line above the page: the one before, the one after, and a way to the family. */
export function around(cases: readonly Named[], id: string): string {
  const at = cases.findIndex((entry) => entry.id === id);
  const link = (entry: Named | undefined, rel: string, words: string) =>
    entry === undefined
      ? ""
      : `<a rel="${rel}" href="./${entry.id}.html"><span class="way">${words}</span> ${escapeHtml(entry.code)}<span class="title"> · ${escapeHtml(entry.title)}</span></a>`;
  const { family } = cases[at]!;
  return [
    `<nav class="around" aria-label="Incidents">`,
    link(cases[at - 1], "prev", "Previous:"),
    link(cases[at + 1], "next", "Next:"),
    `<a href="#this-family">${escapeHtml(family)}</a>`,
    `</nav>`,
  ].join("");
}

/** The cases of the family, at the end of the page. */
export function familyList(cases: readonly Named[], id: string): string {
  const { family } = cases.find((entry) => entry.id === id)!;
  const items = cases
    .filter((entry) => entry.family === family)
    .map((entry) => {
      const title = escapeHtml(`${entry.code} · ${entry.title}`);
      const named =
        entry.id === id ? `<b aria-current="page">${title}</b>` : `<a href="./${entry.id}.html">${title}</a>`;
      return `<li>${named} <span class="quiet">${escapeHtml(entry.symptom)}</span></li>`;
    });
  return [
    `<nav class="family-list" id="this-family" aria-labelledby="this-family-title">`,
    `<h2 id="this-family-title">This family: ${escapeHtml(family)}</h2>`,
    `<ul>${items.join("")}</ul>`,
    `<p><a href="./#incidents">All ${cases.length} incidents</a></p>`,
    `</nav>`,
  ].join("\n      ");
}
