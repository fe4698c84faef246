/**
 * Documented vs. simulated: one row for each fact of a case, the misses as plain as the hits, and apart from both the sources
 * that contradict themselves, with what holds instead. A fact that is still being checked shows as such; a note gives the reasons.
 */
import type { Fact, FactCheck, FactEntry, Verdict } from "../../engine/types.ts";
import { formatExact, formatNumber, formatValue } from "../../base/format.ts";
import { html } from "../../base/elements.ts";

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
    html("caption", {}, `Numbers from ${options.source}, and results of this engine.`),
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
            html("td", { colspan: 4, class: "quiet" }, problem ?? verdictWords.pending),
            html("td", {}, entry.kind),
          )
        : row(fact, states[fact.verdict], fact.title, fact.kind, fact.id),
    );
    const claimed = fact?.verdict === "source contradicts itself" ? "contradicts" : "misses";
    for (const check of fact?.checks ?? []) body.append(row(check, check.ok ? "holds" : claimed, check.title, ""));
    for (const check of fact?.instead ?? []) {
      body.append(row(check, check.ok ? "holds" : "misses", `instead: ${check.title}`, ""));
    }
    for (const note of [fact?.misses_because, fact?.note, fact === undefined ? "" : elsewhere(fact)]) {
      if (note == null || note === "") continue;
      body.append(html("tr", { class: "note" }, html("td"), html("td", { colspan: 6 }, note)));
    }
    table.append(body);
  }
  return table;
}

function row(check: FactCheck, state: State, title: string, kind: string, id = ""): HTMLTableRowElement {
  const name = html("th", { scope: "row" }, title);
  if (id !== "") name.prepend(html("span", { class: "code" }, id), " ");
  return html(
    "tr",
    id === "" ? { class: "check" } : {},
    verdict(state),
    name,
    cell("documented", documented(check)),
    cell("simulated", simulated(check)),
    cell("deviation", deviation(check)),
    html("td", { "data-title": "tolerance" }, check.tolerance),
    html("td", { "data-title": "kind" }, kind),
  );
}

/** Describe the results over several seeds and at other inputs. */
function elsewhere({ stored, unit }: Fact): string {
  if (stored === undefined) return "";
  const [low, high] = stored.range.map((value) => simulated({ simulated: value, unit }));
  const seeds = `Over ${stored.seeds} seeds: ${low === high ? low : `${low} to ${high}`}.`;
  if (stored.inputs === 0) return seeds;
  return `${seeds} At ${stored.inputs} other values of its inputs it ${stored.inputs_held ? "holds" : "does not hold at each"}.`;
}

function cell(title: string, words: string): HTMLTableCellElement {
  return html("td", { class: "number", "data-title": title }, words);
}

type State = keyof typeof marks;

const marks = { holds: "✓", misses: "✕", contradicts: "≠", pending: "·", error: "!" };
export const verdictWords = {
  holds: "holds",
  misses: "the model misses",
  contradicts: "the source contradicts itself",
  pending: "not checked yet",
  error: "could not be checked",
};
const states: Readonly<Record<Verdict, State>> = {
  holds: "holds",
  "model misses": "misses",
  "source contradicts itself": "contradicts",
};

function verdict(state: State): HTMLTableCellElement {
  return html(
    "td",
    { class: `verdict ${state}`, title: verdictWords[state] },
    html("span", { "aria-hidden": "true" }, marks[state]),
    html("span", { class: "unseen" }, verdictWords[state]),
  );
}

function documented(check: FactCheck): string {
  if (typeof check.documented === "number") return formatExact(check.documented, check.unit);
  const [low, high] = check.documented;
  return `${low} to ${formatExact(high, check.unit)}`;
}

function simulated({ simulated: value, unit }: Pick<FactCheck, "simulated" | "unit">): string {
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
  return `${percent > 0 ? "+" : "−"}${formatNumber(Math.abs(percent))}%`;
}

/** Describe how many facts hold, how many the model misses, and in how many the source contradicts itself. */
export function tally(rows: readonly FactRow[]): string {
  const count = (verdict: Verdict) => rows.filter(({ fact }) => fact?.verdict === verdict).length;
  const missed = count("model misses");
  const contradicted = count("source contradicts itself");
  return (
    `${count("holds")} of ${rows.length} facts hold` +
    (missed > 0 ? `, the model misses ${missed}` : "") +
    (contradicted > 0 ? `, the source contradicts itself in ${contradicted}` : "") +
    "."
  );
}
