/** The result of `seeklab diagnose`, as sections of a page. */
import { html } from "../../base/elements.ts";
import { keepUnits } from "../../base/format.ts";
import { save } from "../shared/download.ts";

export interface Fit {
  readonly incident: string;
  readonly code: string;
  readonly title: string;
  readonly symptom: string;
  readonly mechanism: string;
  readonly percent: number;
  readonly alike: readonly string[];
  readonly unlike: readonly string[];
}

export interface Diagnosis {
  readonly says: readonly string[];
  readonly none_of_these: boolean;
  readonly why: string;
  readonly ranked: readonly Fit[];
  readonly next: readonly string[];
  /** Each file with what it was taken for, as “name: kind”. */
  readonly sources: readonly string[];
}

const mostAtOnce = 8;

/** By file, what it was taken for. */
export function kinds({ sources }: Diagnosis): ReadonlyMap<string, string> {
  return new Map(
    sources.map((source) => {
      const at = source.lastIndexOf(": ");
      return [source.slice(0, at), `taken as ${source.slice(at + 2)}`];
    }),
  );
}

export function diagnosisView(found: Diagnosis): HTMLElement {
  const keep = html("button", { type: "button" }, "Save the diagnosis (JSON)");
  keep.addEventListener("click", () =>
    save("diagnosis.json", `${JSON.stringify(found, null, 2)}\n`, "application/json"),
  );
  return html(
    "div",
    { class: "diagnosis" },
    html(
      "section",
      { "aria-labelledby": "says-title" },
      html("h2", { id: "says-title" }, "Observations in the numbers"),
      ...sentences(found.says.length > 0 ? found.says : ["Nothing stands out."]),
    ),
    fits(found),
    ...(found.next.length === 0
      ? []
      : [
          html(
            "section",
            { "aria-labelledby": "next-title" },
            html("h2", { id: "next-title" }, "Next measurements"),
            html("ul", {}, ...found.next.map((line) => html("li", {}, ...withLinks(line, found.ranked)))),
          ),
        ]),
    html("div", { class: "actions" }, keep),
  );
}

/** All sentences, the later ones folded away when there are many. */
function sentences(says: readonly string[]): HTMLElement[] {
  const items = (lines: readonly string[]) => html("ul", {}, ...lines.map((line) => html("li", {}, keepUnits(line))));
  const rest = says.slice(mostAtOnce);
  if (rest.length === 0) return [items(says)];
  return [
    items(says.slice(0, mostAtOnce)),
    html("details", { class: "table" }, html("summary", {}, `${rest.length} more`), items(rest)),
  ];
}

function fits({ none_of_these: isNone, why, ranked }: Diagnosis): HTMLElement {
  const section = html("section", { "aria-labelledby": "fits-title" });
  if (isNone) {
    section.append(
      html("h2", { id: "fits-title" }, "No incident fits"),
      html("p", { class: "prose" }, `${why.charAt(0).toUpperCase()}${why.slice(1)}.`),
    );
    return section;
  }
  section.append(
    html("h2", { id: "fits-title" }, "Incidents that fit"),
    html(
      "p",
      { class: "prose quiet" },
      "Similarity of scale-free numbers, not a proof; 100% would be a run of the incident itself. Its page shows the mechanism, and the measurements that would confirm it.",
    ),
    html("ol", { class: "fits" }, ...ranked.map(fit)),
  );
  return section;
}

function fit({ incident, code, title, symptom, mechanism, percent, alike, unlike }: Fit): HTMLElement {
  const share = `${percent.toFixed(0)}%`;
  return html(
    "li",
    {},
    html("p", { class: "fit-name" }, html("b", {}, capital(mechanism)), html("span", { class: "fit-share" }, share)),
    html("meter", { min: 0, max: 100, value: percent.toFixed(0), "aria-label": `Likeness ${share}` }),
    html("p", {}, "As in ", html("a", { href: `${incident}.html` }, `${code} · ${title}`), `: ${keepUnits(symptom)}`),
    ...(alike.length > 0 ? [html("p", { class: "quiet" }, `Similar: ${alike.join("; ")}.`)] : []),
    ...(unlike.length > 0 ? [html("p", { class: "quiet" }, `Different: ${unlike.join("; ")}.`)] : []),
  );
}

/** A sentence in which incidents are named, with links to them. */
function withLinks(line: string, ranked: readonly Fit[]): (Node | string)[] {
  const byName = new Map(ranked.map((one) => [one.incident, one]));
  return capital(/[.!?]$/.test(line) ? line : `${line}.`)
    .split(/([\w-]+)/)
    .map((word) => {
      const named = byName.get(word);
      return named === undefined ? word : html("a", { href: `${named.incident}.html` }, `“${named.title}”`);
    });
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
