/** The result of `seeklab diagnose`, as sections of a page: what was found where, causes, readings, and the next look. */
import { html } from "../../base/elements.ts";
import { keepUnits } from "../../base/format.ts";
import type { Changes } from "../../engine/types.ts";
import { save } from "../shared/download.ts";
import { defaultState, encodeRunLink } from "../shared/runLink.ts";

export interface Incident {
  readonly id: string;
  readonly code: string;
  readonly title: string;
}

export interface Cause {
  readonly cause: string;
  readonly sentence: string;
  readonly incidents: readonly Incident[];
  readonly confidence: "shown" | "likely" | "possible";
  readonly supported_by: readonly string[];
  readonly against: readonly string[];
  readonly undecided_without: readonly string[];
  /** The first incident with the report's numbers, if a reading has them. */
  readonly replay: Replay | null;
}

export interface Replay {
  readonly incident: string;
  readonly variant: string;
  readonly set: Changes;
  readonly assumed: string;
}

/** Something about a text as a whole: lines that were left out, or why a file has no text. */
export interface Note {
  readonly source: string;
  readonly note: string;
}

export interface Reading {
  readonly id: string;
  readonly subject: string;
  readonly sentence: string;
  readonly sum: string;
}

export interface Block {
  readonly tool: string;
  readonly source: string;
  readonly lines: readonly [number, number];
  readonly used: boolean;
  readonly note: string;
}

export interface Look {
  readonly command: string;
  readonly if: readonly { readonly outcome: string; readonly then: string }[];
}

export interface Diagnosis {
  readonly blocks: readonly Block[];
  readonly skipped: readonly { readonly source: string; readonly lines: readonly [number, number] }[];
  readonly notes: readonly Note[];
  readonly readings: readonly Reading[];
  readonly causes: readonly Cause[];
  readonly next: readonly Look[];
  readonly not_recorded: readonly string[];
}

const mostAtOnce = 8;

/** The kind of a file in which no reader recognises a line. */
export const noKnownTool = "no output of a known tool";

/** By file, the tools whose output it contains. */
export function kinds({ blocks, skipped }: Diagnosis): ReadonlyMap<string, string> {
  const found = new Map<string, string[]>(skipped.map(({ source }) => [source, []]));
  for (const { source, tool } of blocks) found.set(source, [...new Set([...(found.get(source) ?? []), tool])]);
  return new Map(
    [...found].map(([source, tools]) => [source, tools.length === 0 ? noKnownTool : `contains ${tools.join(", ")}`]),
  );
}

/** `redact` returns the texts without names of hosts and users, addresses, serial numbers and paths. */
export function diagnosisView(found: Diagnosis, redact?: () => Promise<string>): HTMLElement {
  const keep = html("button", { type: "button" }, "Save the diagnosis (JSON)");
  keep.addEventListener("click", () =>
    save("diagnosis.json", `${JSON.stringify(found, null, 2)}\n`, "application/json"),
  );
  return html(
    "div",
    { class: "diagnosis" },
    section(
      "found",
      "Found in the text",
      ...folded([
        ...found.notes.map(({ source, note }) => html("li", {}, `${source}: ${note}`)),
        ...found.blocks.map(block),
      ]),
    ),
    causes(found),
    section(
      "readings",
      "Readings",
      ...folded(
        found.readings.map(({ sentence, sum }) => item(sentence, sum)),
        "These columns do not explain a complaint.",
      ),
    ),
    section("next", "Next look", ...found.next.map(look)),
    ...(found.not_recorded.length === 0
      ? []
      : [html("p", { class: "quiet" }, `Not recorded: ${found.not_recorded.join("; ")}.`)]),
    html("div", { class: "actions" }, keep, ...(redact === undefined ? [] : [redaction(redact)])),
  );
}

function redaction(redact: () => Promise<string>): HTMLElement {
  const button = html("button", { type: "button" }, "Save without names");
  button.title = "The texts without names of hosts and users, addresses, serial numbers and paths";
  button.addEventListener("click", () => {
    button.disabled = true;
    void redact()
      .then((text) => save("report.txt", text, "text/plain"))
      .catch((error: unknown) => (button.textContent = error instanceof Error ? error.message : String(error)))
      .finally(() => (button.disabled = false));
  });
  return button;
}

function section(id: string, title: string, ...content: HTMLElement[]): HTMLElement {
  return html("section", { "aria-labelledby": `${id}-title` }, html("h2", { id: `${id}-title` }, title), ...content);
}

function item(sentence: string, sum: string): HTMLElement {
  return html(
    "li",
    {},
    keepUnits(sentence),
    ...(sum === "" ? [] : [" ", html("small", { class: "sum" }, keepUnits(sum))]),
  );
}

/** All items, the later ones folded away when there are many. */
function folded(items: readonly HTMLElement[], none = "Nothing."): HTMLElement[] {
  if (items.length === 0) return [html("p", { class: "prose" }, none)];
  const rest = items.slice(mostAtOnce);
  return [
    html("ul", {}, ...items.slice(0, mostAtOnce)),
    ...(rest.length === 0
      ? []
      : [html("details", { class: "table" }, html("summary", {}, `${rest.length} more`), html("ul", {}, ...rest))]),
  ];
}

function causes({ causes: found, readings }: Diagnosis): HTMLElement {
  const bySentence = new Map(readings.map((reading) => [reading.id, reading]));
  const named = (ids: readonly string[]) => ids.map((id) => bySentence.get(id)?.sentence ?? id).join(" ");
  if (found.length === 0)
    return section("fits", "Causes", html("p", { class: "prose" }, "This text does not show a cause."));
  return section(
    "fits",
    "Causes",
    html(
      "p",
      { class: "prose quiet" },
      "Shown: the report says it, or leaves no other explanation. Likely: the numbers fit this cause and few others. Possible: nothing excludes it.",
    ),
    html(
      "ol",
      { class: "fits" },
      ...found.map(
        ({ sentence, confidence, incidents, supported_by: by, against, undecided_without: without, replay }) =>
          html(
            "li",
            {},
            html("p", { class: "fit-name" }, html("b", {}, sentence), html("span", { class: "fit-share" }, confidence)),
            html("p", { class: "quiet" }, `Supported by: ${keepUnits(named(by))}`),
            ...(against.length === 0 ? [] : [html("p", { class: "quiet" }, `Against: ${keepUnits(named(against))}`)]),
            ...(without.length === 0 ? [] : [html("p", { class: "quiet" }, `Would decide: ${without.join("; ")}.`)]),
            ...(incidents.length === 0 ? [] : [html("p", {}, "As in ", ...links(incidents))]),
            ...(replay === null ? [] : [open(replay)]),
          ),
      ),
    ),
  );
}

function open({ incident, variant, set, assumed }: Replay): HTMLElement {
  const href = `${incident}.html${encodeRunLink({ ...defaultState, variant, set })}`;
  return html(
    "p",
    {},
    html("a", { href }, "Open this incident with your numbers"),
    assumed === "" ? "" : ` (${assumed})`,
  );
}

function links(incidents: readonly Incident[]): (HTMLElement | string)[] {
  return incidents.flatMap(({ id, code, title }, at) => [
    ...(at === 0 ? [] : [", "]),
    html("a", { href: `${id}.html` }, `${code} · ${title}`),
  ]);
}

function look({ command, if: outcomes }: Look): HTMLElement {
  return html(
    "div",
    { class: "look" },
    html("pre", {}, html("code", {}, command)),
    html("ul", {}, ...outcomes.map(({ outcome, then }) => html("li", {}, `${outcome}: ${then}`))),
  );
}

function block({ tool, source, lines: [first, last], used, note }: Block): HTMLElement {
  const where = `${source} lines ${first}–${last}: ${tool}${used ? "" : ", not used"}`;
  return html("li", {}, note === "" ? where : `${where} (${note})`);
}
