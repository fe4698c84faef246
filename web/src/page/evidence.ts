/**
 * Evidence: what an engineer would have looked at. Every tab prints or draws the same run, and says what it hides. A tab is
 * drawn when it is shown, and again when the run changes.
 */
import type { EngineClient } from "../engine/client.ts";
import type { CaseDocument, Result, TextRequest } from "../engine/api.ts";
import { formatBytes, formatNanos, formatNumber } from "../views/format.ts";
import { cellsOf, heatmap } from "../views/heatmap.ts";
import { binsOf, histogram } from "../views/histogram.ts";
import { lifetimes, pickRequests } from "../views/lifetimes.ts";
import { operationLog } from "../views/operationLog.ts";
import { missedFrom, type Read } from "../views/reads.ts";
import { resultTable } from "../views/resultTable.ts";
import { html } from "../views/svg.ts";
import { phases } from "../views/colours.ts";
import { tabs, type Tab } from "./tabs.ts";

export interface EvidenceOptions {
  readonly engine: EngineClient;
  readonly document: CaseDocument;
  readonly current: string;
  readonly onTab: (name: string) => void;
}

export interface Shown {
  readonly result: Result;
  readonly reference: { readonly result: Result; readonly label: string } | undefined;
  /** The request on the stage. */
  readonly request: number;
}

export interface Evidence {
  readonly element: HTMLElement;
  show(shown: Shown): void;
}

interface View extends Tab {
  /** What this instrument does not show. */
  readonly hides: string;
  readonly draw: (shown: Shown, width: number) => Node | Promise<Node>;
  readonly table?: (shown: Shown) => HTMLTableElement;
  /** Whether it follows the request on the stage. */
  readonly followsRequest?: boolean;
}

export function evidence(options: EvidenceOptions): Evidence {
  const { engine, document: doc } = options;
  const views = viewsOf(engine, doc);
  const hides = html("p", { class: "hides" });
  const figure = html("div", { class: "figure" });
  const details = html("details", { class: "table" }, html("summary", {}, "Table"));
  const widget = tabs("Evidence", views, options.current, (name) => {
    options.onTab(name);
    draw();
  });
  widget.panel.append(figure, hides, details);
  const element = html(
    "section",
    { class: "evidence", "aria-labelledby": "evidence-title" },
    html("h2", { id: "evidence-title" }, "Evidence"),
    widget.element,
  );
  let shown: Shown | undefined;
  let drawing = 0;

  function draw(): void {
    if (shown === undefined) return;
    const view = views.find(({ name }) => name === widget.current)!;
    const width = Math.floor(figure.clientWidth);
    if (width === 0) return;
    const ticket = ++drawing;
    hides.textContent = view.hides;
    details.hidden = view.table === undefined;
    if (details.open) fillTable(view);
    const drawn = view.draw(shown, width);
    if (drawn instanceof Promise) {
      void drawn
        .catch((error: unknown) =>
          html("p", { class: "empty" }, error instanceof Error ? error.message : String(error)),
        )
        .then((node) => {
          if (ticket === drawing) place(node);
        });
    } else place(drawn);
  }

  function place(node: Node): void {
    figure.replaceChildren(node);
    figure.dataset.view = widget.current;
  }

  function fillTable(view: View): void {
    details.querySelector("table")?.parentElement?.remove();
    if (view.table === undefined || shown === undefined) return;
    details.append(
      html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table" }, view.table(shown)),
    );
  }
  details.addEventListener("toggle", () => {
    if (details.open) fillTable(views.find(({ name }) => name === widget.current)!);
  });
  let width = 0;
  new ResizeObserver(([entry]) => {
    const next = Math.floor(entry!.contentRect.width);
    if (next !== width) {
      width = next;
      draw();
    }
  }).observe(figure);

  return {
    element,
    show(next) {
      const isSameRun = shown?.result === next.result && shown.reference?.result === next.reference?.result;
      shown = next;
      const view = views.find(({ name }) => name === widget.current)!;
      if (!isSameRun || view.followsRequest === true) draw();
    },
  };
}

function viewsOf(engine: EngineClient, doc: CaseDocument): readonly View[] {
  const { job, op } = doc.focus;
  const printed = (request: TextRequest, label: string) => async () =>
    operationLog(await engine.text(request), { label });
  const all: View[] = [
    {
      name: "lifetimes",
      title: "Lifetimes",
      hides: `Each ${op} of ${job} by phase. Hides when each phase came: the bars are stacked in a fixed order.`,
      followsRequest: true,
      draw: (shown, width) => lifetimes(shown.result, { job, op, width, around: shown.request }),
      table: (shown) => requestTable(pickRequests(shown.result, { job, op, width: 0, around: shown.request }), op),
    },
    {
      name: "histogram",
      title: "Histogram",
      hides: "First what a monitor counts, then where the time goes. Both hide when it happened.",
      draw: (shown, width) => histogram(shown.result, { job, op, width, reference: shown.reference }),
      table: (shown) =>
        resultTable({
          caption: `Latency of ${op}s of ${job}, by bin`,
          rows: binsOf(shown.result, job, op),
          columns: [
            { title: "from", value: (bin) => formatNanos(bin.lower_ns) },
            { title: "to", value: (bin) => formatNanos(bin.upper_ns) },
            { title: "count", value: (bin) => bin.count },
            { title: "share of count, %", value: (bin) => formatNumber(bin.count_percent) },
            { title: "share of time, %", value: (bin) => formatNumber(bin.time_percent) },
          ],
        }),
    },
    {
      name: "heatmap",
      title: "Heat map",
      hides: `All reads of all jobs. Hides which job a cell belongs to: the ${op}s of ${job} are a thin band among the others.`,
      draw: (shown, width) => heatmap(shown.result, { op, width }),
      table: (shown) =>
        resultTable({
          caption: "Requests by time and latency",
          rows: cellsOf(shown.result, { op, width: 0 }, 24),
          columns: [
            { title: "from, s", value: (cell) => formatNumber(cell.from_s) },
            { title: "to, s", value: (cell) => formatNumber(cell.to_s) },
            { title: "latency from", value: (cell) => formatNanos(cell.lower_ns) },
            { title: "latency to", value: (cell) => formatNanos(cell.upper_ns) },
            { title: "count", value: (cell) => cell.count },
          ],
        }),
    },
    {
      name: "oplog",
      title: "Operation log",
      hides: "Every operation with its offset. Hides the whole: one line looks like the next.",
      draw: printed({ tool: "oplog", job, limit: 60 }, "Operation log"),
    },
    {
      name: "iostat",
      title: "iostat",
      hides:
        "Devices, averaged over the run. Hides when they were busy, which request a device was busy for, and everything served from memory.",
      draw: printed({ tool: "iostat" }, "iostat output"),
    },
    {
      name: "fio",
      title: "fio report",
      hides: "Percentiles of each job. Hides order and offset.",
      draw: printed({ tool: "fio" }, "fio output"),
    },
  ];
  // The case's own order first, then the rest.
  const rank = (view: View) => {
    const at = doc.views.indexOf(view.name);
    return at < 0 ? doc.views.length : at;
  };
  return all.toSorted((a, b) => rank(a) - rank(b));
}

function requestTable(requests: readonly { index: number; read: Read }[], op: string): HTMLTableElement {
  return resultTable({
    caption: `${op}s around the one on the stage`,
    rows: requests,
    columns: [
      { title: op, value: ({ index }) => index + 1 },
      { title: "at", value: ({ read }) => formatBytes(read.from) },
      { title: "size", value: ({ read }) => formatBytes(read.bytes) },
      { title: "from memory", value: ({ read }) => formatBytes(read.cached_bytes) },
      {
        title: "missing",
        value: ({ read }) =>
          read.missed_bytes === 0 ? "none" : `${formatBytes(read.missed_bytes)} from ${missedFrom(read)}`,
      },
      { title: "latency", value: ({ read }) => formatNanos(read.latency_ns) },
      {
        title: "phases",
        value: ({ read }) =>
          phases
            .map((phase, at) => ({ phase, nanos: read.phase_ns[at]! }))
            .filter(({ nanos }) => nanos > 0)
            .map(({ phase, nanos }) => `${phase.label} ${formatNanos(nanos)}`)
            .join(", "),
      },
    ],
  });
}
