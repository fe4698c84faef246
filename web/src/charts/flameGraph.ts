/**
 * A flame graph: processor time by function, callers below what they call. Widths are times; the order from left to right is
 * that of the stacks, and says nothing about when.
 */
import { fill } from "../base/colours.ts";
import { html, svg } from "../base/elements.ts";
import { formatNanos, formatNumber } from "../base/format.ts";
import type { Result } from "../engine/api.ts";
import type { Chart } from "./chart.ts";
import { resultTable } from "./resultTable.ts";

export interface Frame {
  readonly name: string;
  /** Of the function and all that it calls. */
  ns: number;
  /** From the start of its caller. */
  readonly children: Frame[];
}

export interface FlameGraphOptions {
  readonly width: number;
}

const rowHeight = 22;
// Narrower frames are not drawn, and narrower names not written.
const narrowestFrame = 0.5;
const narrowestName = 34;
const characterWidth = 6.4;

/** The tree of folded stacks: lines of `caller;called 123`. */
export function framesOf(folded: string): Frame {
  const root: Frame = { name: "node", ns: 0, children: [] };
  for (const line of folded.split("\n")) {
    const at = line.lastIndexOf(" ");
    const ns = Number(line.slice(at + 1));
    if (at <= 0 || !Number.isFinite(ns)) continue;
    let frame = root;
    frame.ns += ns;
    for (const name of line.slice(0, at).split(";")) {
      let next = frame.children.find((child) => child.name === name);
      if (next === undefined) frame.children.push((next = { name, ns: 0, children: [] }));
      next.ns += ns;
      frame = next;
    }
  }
  return root;
}

/** The functions with the most time of their own, whichever server they ran on. */
export function functionsOf(root: Frame): readonly { readonly name: string; readonly ns: number }[] {
  const own = new Map<string, number>();
  const visit = (frame: Frame, path: readonly string[]): void => {
    const inside = frame.children.reduce((sum, child) => sum + child.ns, 0);
    // Disk and server come first; what follows are functions.
    const name = path.slice(2).join(" > ");
    if (name !== "" && frame.ns > inside) own.set(name, (own.get(name) ?? 0) + frame.ns - inside);
    for (const child of frame.children) visit(child, [...path, child.name]);
  };
  visit(root, []);
  return Array.from(own, ([name, ns]) => ({ name, ns })).toSorted((a, b) => b.ns - a.ns);
}

export function describeFlames(result: Result): string {
  const root = framesOf(result.folded ?? "");
  if (root.ns === 0) return "This run has no controllers, so no processor time is known.";
  const [first] = functionsOf(root);
  const most = first === undefined ? "" : ` Most of it in ${first.name}: ${share(first.ns, root.ns)}.`;
  return `${formatNanos(root.ns)} of processor time.${most}`;
}

export function share(ns: number, whole: number): string {
  return `${formatNumber(whole === 0 ? 0 : (100 * ns) / whole)}%`;
}

export function flameGraph(result: Result, options: FlameGraphOptions): Element {
  const { width } = options;
  const root = framesOf(result.folded ?? "");
  if (root.ns === 0) return html("p", { class: "empty" }, describeFlames(result));
  const rows = depthOf(root);
  const height = rows * rowHeight + 4;
  const picture = svg("svg", {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    class: "flame-graph",
    "aria-label": `Flame graph. ${describeFlames(result)}`,
  });
  const draw = (frame: Frame, x: number, depth: number, isDispatch: boolean): void => {
    const wide = (width * frame.ns) / root.ns;
    if (wide < narrowestFrame) return;
    const dispatch = isDispatch || frame.name === "dispatch";
    const y = height - (depth + 1) * rowHeight - 2;
    const box = svg(
      "rect",
      {
        x,
        y,
        width: Math.max(0.5, wide - 1),
        height: rowHeight - 1,
        fill: dispatch ? fill("dispatch") : depth === 0 ? fill("overhead") : "var(--processor)",
        "fill-opacity": dispatch || depth === 0 ? "1" : (0.55 - 0.08 * Math.min(5, depth)).toFixed(2),
      },
      svg("title", {}, `${frame.name}: ${formatNanos(frame.ns)}, ${share(frame.ns, root.ns)}`),
    );
    picture.append(box);
    if (wide >= narrowestName) {
      const most = Math.floor((wide - 8) / characterWidth);
      const name = frame.name.length <= most ? frame.name : `${frame.name.slice(0, Math.max(1, most - 1))}…`;
      picture.append(
        svg(
          "text",
          {
            x: x + 4,
            y: y + 15,
            "font-size": 12,
            fill: "var(--ink)",
            ...(dispatch ? { stroke: "var(--paper)", "stroke-width": 3, "paint-order": "stroke" } : {}),
          },
          name,
        ),
      );
    }
    let left = x;
    for (const child of frame.children) {
      draw(child, left, depth + 1, dispatch);
      left += (width * child.ns) / root.ns;
    }
  };
  draw(root, 0, 0, false);
  return picture;
}

function depthOf(frame: Frame): number {
  return 1 + Math.max(0, ...frame.children.map(depthOf));
}

export const flameGraphChart: Chart = {
  name: "flame-graph",
  title: "Flame graph",
  hides:
    "Where processor time went, over all jobs. Hides waiting: for a thread, a core, a lock, the network or a device.",
  suits: ({ controller, server }) => controller !== undefined || server !== undefined,
  draw: ({ result }, width) => flameGraph(result, { width }),
  describe: describeFlames,
  table: ({ result }) => functionTable(result),
};

function functionTable(result: Result): HTMLTableElement {
  const root = framesOf(result.folded ?? "");
  return resultTable({
    caption: "Processor time by function, all controllers together",
    rows: functionsOf(root),
    columns: [
      { title: "part", value: (row) => row.name.split(" > ")[0]! },
      { title: "function", value: (row) => row.name.split(" > ").slice(1).join(" > ") || "itself" },
      { title: "time", value: (row) => formatNanos(row.ns) },
      { title: "share", value: (row) => share(row.ns, root.ns) },
    ],
  });
}
