/** The debrief of a shift: the points, the commands that were used, and the one command that shows the cause. */
import { html } from "../../base/elements.ts";
import type { Ended } from "./protocol.ts";

/** Returns the commands of a shift in the order of their first use, each with its count. */
export function countedCommands(looked: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const command of looked) counts.set(command, (counts.get(command) ?? 0) + 1);
  return Array.from(counts, ([command, count]) => (count === 1 ? command : `${command} (${count} times)`));
}

export const causeWords = {
  right: "You named the cause",
  wrong: "The cause you named was wrong",
  none: "You named no cause",
} as const;

export const fixWords = {
  holds: "the system has recovered, also under similar loads",
  fails: "your change does not fix the system",
  none: "you changed nothing",
} as const;

/** Returns the result of the shift as one sentence. */
export function verdict({ right, named, holds, set }: Pick<Ended, "right" | "named" | "holds" | "set">): string {
  const cause = right ? "right" : named.length > 0 ? "wrong" : "none";
  const isChanged = Object.keys(set).length > 0;
  const fix = holds ? "holds" : isChanged ? "fails" : "none";
  return `${causeWords[cause]}, and ${fixWords[fix]}.`;
}

/** Builds the debrief. `link` makes a link to the incident if the host has a page for it. */
export function debrief(ended: Ended, link: (id: string, title: string) => Node): HTMLElement {
  const { score, most, looked, look: command, tells, telling, remedy } = ended;
  const commands = countedCommands(looked);
  const rows = [
    ["the cause", score.cause, most.cause],
    ["a change that fixes it", score.fix, most.fix],
    ["time, commands and restarts", score.time, most.time],
  ] as const;
  const settings = Object.entries(remedy).map(([path, value]) => `set ${path} ${String(value)}`);
  return html(
    "section",
    { class: "shift-debrief", "aria-labelledby": "debrief-title" },
    html("h2", { id: "debrief-title", tabindex: -1 }, `The shift ends: ${score.total} of ${most.total} points`),
    html("p", { class: "sentence" }, verdict(ended)),
    html(
      "ul",
      { class: "shift-points" },
      ...rows.map(([words, points, most]) => html("li", {}, html("b", {}, `${points} of ${most}`), ` ${words}`)),
    ),
    ...(ended.hidden ? [html("p", {}, ended.debrief)] : told()),
  );

  function told(): HTMLElement[] {
    return [
      html("p", {}, html("b", {}, "Cause: "), ended.cause ?? ""),
      ended.level === undefined
        ? html("p", {}, "Incident: ", ended.case === null ? ended.title : link(ended.case, ended.title))
        : html("p", {}, `System: ${ended.title}`),
      beside(),
      ...expected(),
      ...excluded(),
    ];
  }

  function expected(): HTMLElement[] {
    const thoughts = ended.thoughts ?? [];
    if (thoughts.length === 0) return [];
    const isRight = (cause: string) => (ended.cause ?? "").includes(cause);
    return [
      html("h3", {}, "What you expected"),
      html(
        "ol",
        {},
        ...thoughts.map(({ looks, cause }) =>
          html(
            "li",
            {},
            `Before command ${looks + 1}: ${cause} `,
            html("b", {}, isRight(cause) ? "Right." : "Not it."),
          ),
        ),
      ),
    ];
  }

  function excluded(): HTMLElement[] {
    if (ended.excluded === undefined) return [];
    return [
      html("h3", {}, "What excluded the other causes"),
      html(
        "ul",
        { class: "shift-excluded" },
        ...ended.excluded.map(({ cause, why, mark }) =>
          html("li", {}, `${cause} `, html("span", { class: "quiet" }, `${why} (${mark})`)),
        ),
      ),
    ];
  }

  function beside(): HTMLElement {
    return html(
      "div",
      { class: "shift-beside" },
      html(
        "div",
        {},
        html("h3", {}, "Commands you used"),
        commands.length === 0
          ? html("p", {}, "None.")
          : html("ol", {}, ...commands.map((words) => html("li", {}, html("code", {}, words)))),
      ),
      html(
        "div",
        {},
        html("h3", {}, "The command that shows the cause"),
        html("p", {}, html("code", {}, command ?? ""), `: ${tells}`),
        ...(ended.also ?? []).map(({ command, tells }) => html("p", {}, html("code", {}, command), `: ${tells}`)),
        html("pre", { tabindex: 0, "aria-label": `Output of ${command ?? ""} on this system` }, telling.trimEnd()),
        settings.length === 0
          ? html("p", {}, "Fix: no setting fixes it. Leave them alone and report it.")
          : html("p", {}, "Fix: ", html("code", {}, settings.join("; "))),
      ),
    );
  }
}
