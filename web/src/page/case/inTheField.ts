/** Evidence from the field: what tools showed in reports that turned out to be this incident. The command line has the same. */
import field from "../../../../engine/python/seeklab/field.json";
import { html } from "../../base/elements.ts";
import { keepUnits } from "../../base/format.ts";
import { resultTable } from "../../charts/resultTable.ts";

export interface FieldEvidence {
  readonly tool: string;
  readonly numbers: string;
  readonly says: string;
  /** The address of a public report. */
  readonly url?: string;
}

const byCase: Readonly<Record<string, readonly FieldEvidence[]>> = field;

/** Returns the section, or nothing for an incident without such evidence. */
export function inTheField(id: string, all = byCase): HTMLElement | undefined {
  const rows = all[id];
  if (rows === undefined) return undefined;
  const table = resultTable<FieldEvidence>({
    caption: "Numbers of each report, and what they say",
    rows,
    columns: [
      { title: "tool", value: ({ tool }) => tool },
      { title: "numbers", value: ({ numbers }) => keepUnits(numbers.replace(/(?<=\d) us\b/g, " µs")) },
      { title: "they say", value: ({ says }) => keepUnits(says) },
      { title: "report", value: () => "" },
    ],
  });
  for (const [index, { url }] of rows.entries())
    if (url !== undefined)
      table.tBodies[0]?.rows[index]?.cells[3]?.append(html("a", { href: url }, new URL(url).hostname));
  return html(
    "section",
    { class: "in-the-field", "aria-labelledby": "field-title" },
    html("h2", { id: "field-title" }, "In the field"),
    html(
      "p",
      { class: "prose" },
      "Reports whose cause turned out to be this incident, or one much like it, had these numbers.",
    ),
    html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Evidence from the field" }, table),
  );
}
