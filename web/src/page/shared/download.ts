/** Files made from a run, on the reader's own machine. */
import { column, type Result } from "../../engine/api.ts";

/** The operation log as CSV, one row for each operation, columns as the engine names them. */
export function operationsCsv(result: Result): string {
  const names = Object.keys(result.columns).filter((name) => name.startsWith("ops."));
  const columns = names.map((name) => column(result, name));
  const jobs = result.summary.jobs;
  const lines = [names.map((name) => name.slice(4)).join(",")];
  const rows = columns[0]?.length ?? 0;
  for (let row = 0; row < rows; row++) {
    lines.push(
      columns
        .map((values, at) => {
          const value = values[row]!;
          if (names[at] === "ops.job") return quoted(jobs[value] ?? String(value));
          if (names[at] === "ops.op") return value === 0 ? "read" : "write";
          return String(value);
        })
        .join(","),
    );
  }
  return lines.join("\n") + "\n";
}

function quoted(words: string): string {
  return /[",\n]/.test(words) ? `"${words.replaceAll('"', '""')}"` : words;
}

/** Hands a text, a picture or bytes to the browser as a file to save. */
export function save(name: string, content: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The download has its own reference by then.
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
