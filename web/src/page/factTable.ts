/**
 * Documented against simulated: one row for each fact of a case, the misses as plain as the hits. A fact that is still being
 * checked shows as such; a note says why a fact is known to miss.
 */
import type { Fact, FactCheck, FactEntry } from "../engine/types.ts";
import { formatExact, formatNumber, formatValue } from "../base/format.ts";
import { html } from "../base/elements.ts";

/** A fact of the case file, and what checking it gave, once it has. */
export interface FactRow {
  readonly entry: Pick<FactEntry, "id" | "title" | "kind">;
  readonly fact?: Fact | undefined;
  readonly problem?: string | undefined;
}

export interface FactsOptions {
  readonly source: string;
}

export function facts(rows: readonly FactRow[], options: FactsOptions): HTMLTableElement {
  const table = html(
    "table",
    { class: "facts" },
    html("caption", {}, `What ${options.source} documents, and what this engine gives.`),
  );
  const titles = ["", "fact", "documented", "simulated", "deviation", "tolerance", "kind"];
  const head = html("tr");
  for (const title of titles) {
    head.append(html("th", { scope: "col" }, title === "" ? html("span", { class: "unseen" }, "holds") : title));
  }
  table.append(html("thead", {}, head));
  for (const { entry, fact, problem } of rows) {
    const body = html("tbody", { "data-fact": entry.id });
    body.append(
      fact === undefined
        ? html(
            "tr",
            {},
            verdict(problem === undefined ? "pending" : "error"),
            html("th", { scope: "row" }, html("span", { class: "code" }, entry.id), " ", entry.title),
            html("td", { colspan: 4, class: "quiet" }, problem ?? "not checked yet"),
            html("td", {}, entry.kind),
          )
        : row(fact, fact.id, fact.title, fact.kind),
    );
    for (const check of fact?.checks ?? []) body.append(row(check, "", check.title, ""));
    for (const words of [fact?.misses_because, fact?.note]) {
      if (words == null || words === "") continue;
      body.append(html("tr", { class: "note" }, html("td"), html("td", { colspan: 6 }, words)));
    }
    table.append(body);
  }
  return table;
}

function row(check: FactCheck, id: string, title: string, kind: string): HTMLTableRowElement {
  const name = html("th", { scope: "row" }, title);
  if (id !== "") name.prepend(html("span", { class: "code" }, id), " ");
  return html(
    "tr",
    id === "" ? { class: "check" } : {},
    verdict(check.ok ? "holds" : "misses"),
    name,
    cell("documented", documented(check)),
    cell("simulated", simulated(check)),
    cell("deviation", deviation(check)),
    html("td", { "data-title": "tolerance" }, check.tolerance),
    html("td", { "data-title": "kind" }, kind),
  );
}

function cell(title: string, words: string): HTMLTableCellElement {
  return html("td", { class: "number", "data-title": title }, words);
}

function verdict(state: "holds" | "misses" | "pending" | "error"): HTMLTableCellElement {
  const marks = { holds: "✓", misses: "✕", pending: "·", error: "!" };
  const words = { holds: "holds", misses: "misses", pending: "not checked yet", error: "could not be checked" };
  return html(
    "td",
    { class: `verdict ${state}` },
    html("span", { "aria-hidden": "true" }, marks[state]),
    html("span", { class: "unseen" }, words[state]),
  );
}

function documented(check: FactCheck): string {
  if (typeof check.documented === "number") return formatExact(check.documented, check.unit);
  const [low, high] = check.documented;
  return `${low} to ${formatExact(high, check.unit)}`;
}

function simulated({ simulated: value, unit }: FactCheck): string {
  return unit === "B" ? formatExact(value, unit) : formatValue(value, unit);
}

/** Distance from the documented value or range, in per cent of it. */
export function deviation(check: Pick<FactCheck, "documented" | "simulated" | "tolerance">): string {
  const { simulated, tolerance } = check;
  const [low, high] = typeof check.documented === "number" ? [check.documented, check.documented] : check.documented;
  if (tolerance === "at most" && simulated <= high) return "below";
  if (tolerance === "at least" && simulated >= low) return "above";
  if (simulated >= low && simulated <= high) return low === high ? "none" : "within";
  const nearest = simulated < low ? low : high;
  if (nearest === 0) return formatNumber(simulated);
  const percent = (100 * (simulated - nearest)) / Math.abs(nearest);
  return `${percent > 0 ? "+" : "−"}${formatNumber(Math.abs(percent))}\u00a0%`;
}
