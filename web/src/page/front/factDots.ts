/** All documented numbers as dots, by incident: those that the simulator reproduces, those that it misses, and findings. */
import { html, svg } from "../../base/elements.ts";
import type { CaseDocument } from "../../engine/types.ts";

type Verdict = "holds" | "misses" | "contradicts";

const words: Readonly<Record<Verdict, string>> = {
  holds: "reproduced",
  misses: "missed, with the reason",
  contradicts: "the source contradicts itself",
};
const step = 14;
const between = 8;
const perRow = 60;

type Entry = CaseDocument["facts"][number];

/** A fact with a reason must miss, and no other does; the project's tests hold all of them to it. */
export function verdictOf({ kind, misses_because }: Pick<Entry, "kind" | "misses_because">): Verdict {
  if (kind === "discrepancy") return "contradicts";
  return misses_because == null ? "holds" : "misses";
}

export function factDots(cases: readonly Pick<CaseDocument, "id" | "code" | "title" | "facts">[]): HTMLElement {
  const all = cases.flatMap(({ facts }) => facts.map(verdictOf));
  const count = (verdict: Verdict) => all.filter((each) => each === verdict).length;
  const rows: SVGElement[] = [];
  let [x, y] = [0, 0];
  for (const { id, code, title, facts } of cases) {
    // An incident stays in one row.
    if (x > 0 && x + facts.length * step > perRow * step) [x, y] = [0, y + 20];
    const dots = facts.map((fact, nth) => dot(verdictOf(fact), x + nth * step + step / 2, y + step / 2));
    rows.push(svg("a", { href: `${id}.html` }, svg("title", {}, `${code} ${title}`), ...dots));
    x += facts.length * step + between;
  }
  const [width, height] = [perRow * step + between, y + step];
  const told = `${count("holds")} of ${all.length} documented numbers are reproduced, ${count("misses")} are missed, each with a reason, and in ${count("contradicts")} the source contradicts itself.`;
  const key = (verdict: Verdict) =>
    html(
      "span",
      {},
      svg("svg", { width: step, height: step, "aria-hidden": "true" }, dot(verdict, step / 2, step / 2)),
      ` ${words[verdict]}`,
    );
  return html(
    "figure",
    { class: "fact-dots" },
    html("p", {}, told, " Each was measured by someone else, and is computed on its incident's page."),
    svg(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Documented numbers by incident" },
      ...rows,
    ),
    html("figcaption", { class: "key" }, key("holds"), key("misses"), key("contradicts")),
  );
}

function dot(verdict: Verdict, x: number, y: number): SVGElement {
  if (verdict === "contradicts") return svg("path", { d: `M${x - 4} ${y - 4}l8 8m0-8l-8 8`, class: "dot contradicts" });
  return svg("circle", { cx: x, cy: y, r: 4, class: `dot ${verdict}` });
}
