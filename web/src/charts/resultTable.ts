/** A plain table behind each chart, for screen readers, for copying and for exact values. */
import { html } from "../base/elements.ts";

/** Maximum rows of a table over time; finer rows are merged. */
export const mostTimeRows = 60;

export interface TableColumn<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number;
}

export interface ResultTableOptions<Row> {
  readonly caption: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  /** More rows than this are cut, and the caption says so. */
  readonly limit?: number;
}

export function resultTable<Row>(options: ResultTableOptions<Row>): HTMLTableElement {
  const { columns, rows, limit = 500 } = options;
  const shown = rows.slice(0, limit);
  const caption =
    shown.length < rows.length ? `${options.caption}, the first ${limit} of ${rows.length}` : options.caption;
  const table = html("table", { class: "data" }, html("caption", {}, caption));
  const head = html("tr");
  for (const { title } of columns) head.append(html("th", { scope: "col" }, title));
  table.append(html("thead", {}, head));
  const body = html("tbody");
  for (const row of shown) {
    const tr = html("tr");
    for (const { value } of columns) {
      const cell = value(row);
      tr.append(html("td", typeof cell === "number" ? { class: "number" } : {}, String(cell)));
    }
    body.append(tr);
  }
  table.append(body);
  return table;
}
