/** The end of a night: points, and what was looked at beside what would have told it in one look. */
import { html } from "../../base/elements.ts";
import type { Ended } from "./protocol.ts";

/** The looks of a night in the order in which they were first taken, each with how often. */
export function looksOf(looked: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const look of looked) counts.set(look, (counts.get(look) ?? 0) + 1);
  return Array.from(counts, ([look, count]) => (count === 1 ? look : `${look} (${count} times)`));
}

/** What came of the shift, in a sentence. */
export function verdict({ right, named, holds, set }: Pick<Ended, "right" | "named" | "holds" | "set">): string {
  const cause = right
    ? "You named the cause"
    : named.length > 0
      ? "What you named was not the cause"
      : "You named no cause";
  const isChanged = Object.keys(set).length > 0;
  const fix = holds
    ? "the system has recovered, on other loads of its kind too"
    : isChanged
      ? "what you changed does not hold"
      : "nothing was changed";
  return `${cause}, and ${fix}.`;
}

/** `link` leads to the incident, where the host has a page for it. */
export function debrief(ended: Ended, link: (id: string, title: string) => Node): HTMLElement {
  const { score, most, looked, look, tells, telling, remedy } = ended;
  const looks = looksOf(looked);
  const rows = [
    ["the cause", score.cause, most.cause],
    ["a change that holds", score.fix, most.fix],
    ["time, looks and restarts", score.time, most.time],
  ] as const;
  const settings = Object.entries(remedy).map(([path, value]) => `set ${path} ${String(value)}`);
  return html(
    "section",
    { class: "night-debrief", "aria-labelledby": "debrief-title" },
    html("h2", { id: "debrief-title", tabindex: -1 }, `The shift ends: ${score.total} of ${most.total} points`),
    html("p", { class: "sentence" }, verdict(ended)),
    html(
      "ul",
      { class: "night-points" },
      ...rows.map(([words, points, most]) => html("li", {}, html("b", {}, `${points} of ${most}`), ` ${words}`)),
    ),
    html("p", {}, html("b", {}, "It was: "), ended.cause),
    html("p", {}, "The incident: ", ended.case === null ? ended.title : link(ended.case, ended.title)),
    html(
      "div",
      { class: "night-beside" },
      html(
        "div",
        {},
        html("h3", {}, "What you looked at"),
        looks.length === 0
          ? html("p", {}, "Nothing.")
          : html("ol", {}, ...looks.map((words) => html("li", {}, html("code", {}, words)))),
      ),
      html(
        "div",
        {},
        html("h3", {}, "What would have told it in one look"),
        html("p", {}, html("code", {}, look), `: ${tells}`),
        html("pre", { tabindex: 0, "aria-label": `What ${look} prints of this system` }, telling.trimEnd()),
        html("p", {}, "What mends it: ", html("code", {}, settings.join("; "))),
      ),
    ),
  );
}
