/**
 * A glance at a pasted report before Python is ready: which tools it is from, and the busiest device of `iostat -x`. The diagnosis
 * reads the same text again, with all its tools.
 */
const tools: readonly (readonly [name: string, firstWords: RegExp])[] = [
  ["iostat -x", /^Device:? .*(?:%util|await)/],
  ["zpool iostat", /^pool +alloc +free +read +write/],
  ["zpool status", /^scan: |^errors: /],
  ["fio", /^fio-\d|: \(groupid=\d+, jobs=\d+\)/],
  ["vmstat", /^r +b +swpd +free/],
  ["dmesg", /^\[ *\d+\.\d{6}\] /],
  ["df", /^Filesystem +\S*[Bb]lock/],
  ["smartctl", /^=== START OF (?:INFORMATION|READ SMART DATA) SECTION/],
];
/** So many lines are looked at, and so much of each. */
const [mostLines, mostWidth] = [20_000, 400];

/** Return what can be said of a text at once, in sentences; none where no tool is recognised. */
export function glanceAt(text: string): readonly string[] {
  const lines = text.split("\n", mostLines).map((line) => line.slice(0, mostWidth).trim());
  const found = tools.filter(([, pattern]) => lines.some((line) => pattern.test(line))).map(([name]) => name);
  if (found.length === 0) return [];
  const busiest = busiestOf(lines);
  return [
    `This looks like ${found.join(" and ")}.`,
    ...(busiest === undefined
      ? []
      : [`Busiest device: ${busiest.device}, in use ${busiest.util}% of the time${busiest.await_ms}.`]),
  ];
}

/** The row of `iostat -x` with the largest %util. */
function busiestOf(lines: readonly string[]): { device: string; util: number; await_ms: string } | undefined {
  let columns: string[] = [];
  let best: { device: string; util: number; await_ms: string } | undefined;
  for (const line of lines) {
    const cells = line.split(/\s+/);
    if (/^Device:?$/.test(cells[0] ?? "")) columns = cells;
    const at = columns.indexOf("%util");
    if (at < 0 || cells.length !== columns.length || cells === columns) continue;
    const util = Number(cells[at]!.replace(",", "."));
    if (!(util > (best?.util ?? 0))) continue;
    const waits = columns.flatMap((name, nth) =>
      /^[rw]_await$/.test(name) ? [`${name} ${cells[nth]!} ms`] : name === "await" ? [`await ${cells[nth]!} ms`] : [],
    );
    best = { device: cells[0]!, util, await_ms: waits.length === 0 ? "" : `, ${waits.join(", ")}` };
  }
  return best;
}
