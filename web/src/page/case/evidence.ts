/**
 * Evidence: what an engineer would have looked at. Every tab prints or draws the same run, and says what it hides. A tab is
 * drawn when it is shown and near the window, and again when the run changes.
 */
import type { EngineClient } from "../../engine/client.ts";
import type { CaseDocument, TextRequest } from "../../engine/types.ts";
import { hasWrites } from "../../charts/rows/writePath.ts";
import type { Chart, Shown } from "../../charts/chart.ts";
import { loadCharts } from "../../charts/loadCharts.ts";
import { isPlotLoaded, loadPlot } from "../../charts/plot.ts";
import { keepsLog } from "../../charts/withoutLog.ts";
import { operationLog } from "../../charts/operationLog.ts";
import { html, observeWidth } from "../../base/elements.ts";
import { whenSeen, whenSeenOrLate } from "../shared/pageSetup.ts";
import { save } from "../shared/download.ts";
import { savePng, saveSvg, tableCsv } from "./drawing.ts";
import { tabs, type Tab } from "./tabs.ts";

export interface EvidenceOptions {
  readonly engine: EngineClient;
  readonly document: CaseDocument;
  /** Whether a view would answer the open question. */
  readonly isCovered: (name: string) => boolean;
  readonly current: string;
  readonly onTab: (name: string) => void;
}

export interface Evidence {
  readonly element: HTMLElement;
  show(shown: Shown): void;
}

interface View extends Tab {
  /** What this instrument hides. */
  readonly hides: Chart["hides"];
  readonly draw: (shown: Shown, width: number) => Node | Promise<Node>;
  readonly table?: (shown: Shown) => HTMLTableElement;
  /** Whether it follows the request on the stage. */
  readonly followsRequest?: boolean;
}

type Catalogue = Awaited<ReturnType<typeof loadCharts>>;

/** The section without tabs at first: their charts are fetched once there is a run and the section is near the window. */
export function evidence(options: EvidenceOptions): Evidence {
  const element = html(
    "section",
    { class: "evidence", "aria-labelledby": "evidence-title" },
    html("h2", { id: "evidence-title" }, "Evidence"),
  );
  let last: Shown | undefined;
  let instruments: Pick<Evidence, "show"> | undefined;
  const fill = (catalogue: Catalogue) => {
    instruments = instrumentsIn(element, options, catalogue);
    instruments.show(last!);
  };
  return {
    element,
    show(shown) {
      const isFirst = last === undefined;
      last = shown;
      instruments?.show(shown);
      // Below a stage that has its height: before, all of the page is near the window.
      if (isFirst)
        whenSeenOrLate(
          element,
          () => void loadCharts().then(fill, (error: unknown) => element.append(notDrawn(error))),
        );
    },
  };
}

function instrumentsIn(element: HTMLElement, options: EvidenceOptions, catalogue: Catalogue): Pick<Evidence, "show"> {
  const { engine, document: doc } = options;
  const views = viewsOf(engine, doc, catalogue);
  const hides = html("p", { class: "hides" });
  const figure = html("div", { class: "figure" });
  const details = html("details", { class: "table" }, html("summary", {}, "Table"));
  const widget = tabs("Evidence", views, options.current, (name) => {
    options.onTab(name);
    draw();
  });
  const drawn = () => figure.querySelector<SVGSVGElement>("svg");
  const told = html("span", { role: "status" });
  const button = (words: string, onSave: (name: string) => void | Promise<void>) => {
    const made = html("button", { type: "button", class: "quiet" }, words);
    made.addEventListener("click", () => {
      told.textContent = "";
      Promise.resolve(`${doc.id}-${figure.dataset.view}`)
        .then(onSave)
        .catch((error: unknown) => (told.textContent = error instanceof Error ? error.message : String(error)));
    });
    return made;
  };
  // Hidden until something is drawn.
  const saves = html(
    "div",
    { class: "saves", role: "group", "aria-label": "Save this view", hidden: "" },
    button("SVG", (name) => saveSvg(name, drawn()!)),
    button("PNG", (name) => savePng(name, drawn()!)),
    button("CSV", (name) => {
      const view = views.find((each) => each.name === figure.dataset.view);
      if (view?.table !== undefined && shown !== undefined) {
        save(`${name}.csv`, tableCsv(view.table(shown)), "text/csv");
      }
    }),
    told,
  );
  widget.panel.append(figure, saves, hides, details);
  element.append(widget.element);
  let shown: Shown | undefined;
  let drawing = 0;
  let isSeen = false;

  function draw(): void {
    if (shown === undefined || !isSeen) return;
    if (!isPlotLoaded()) {
      void loadPlot().then(draw, (error: unknown) => place(notDrawn(error)));
      return;
    }
    const view = views.find(({ name }) => name === widget.current)!;
    const { width } = room;
    if (width === 0) return;
    const ticket = ++drawing;
    hides.textContent = typeof view.hides === "string" ? view.hides : view.hides(doc.focus);
    details.hidden = view.table === undefined;
    if (options.isCovered(view.name)) {
      details.hidden = true;
      place(html("p", { class: "empty" }, "Hidden until you predict: this view contains the answer."));
      return;
    }
    if (details.open) fillTable(view);
    const drawn = view.draw(shown, width);
    if (drawn instanceof Promise) {
      void drawn.catch(notDrawn).then((node) => {
        if (ticket === drawing) place(node);
      });
    } else place(drawn);
  }

  function place(node: Node): void {
    figure.replaceChildren(node);
    figure.dataset.view = widget.current;
    told.textContent = "";
    const [svgs, pngs, csvs] = saves.querySelectorAll("button");
    svgs!.hidden = pngs!.hidden = drawn() === null;
    csvs!.hidden = details.hidden;
    saves.hidden = svgs!.hidden && csvs!.hidden;
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
  const room = observeWidth(figure, () => draw());
  addEventListener("beforeprint", () => {
    isSeen = true;
    draw();
  });

  return {
    show(next) {
      // Below a stage that has its height: before, all of the page is near the window.
      if (shown === undefined) {
        whenSeen(element, () => {
          isSeen = true;
          draw();
        });
      }
      const isUncovered = figure.querySelector(".empty") !== null;
      const isSameRun =
        !isUncovered && shown?.result === next.result && shown.reference?.result === next.reference?.result;
      shown = next;
      const view = views.find(({ name }) => name === widget.current)!;
      if (!isSameRun || view.followsRequest === true) draw();
    },
  };
}

type PrintingTool = Extract<TextRequest["tool"], "quantize" | "sync" | "bonnie" | "oplog" | "iostat" | "fio">;

/** Outputs of observation tools, in the order in which they are offered. */
const tools: readonly {
  readonly name: PrintingTool;
  readonly title: string;
  readonly hides: string;
  readonly label: string;
  readonly request?: (job: string) => TextRequest;
}[] = [
  {
    name: "quantize",
    title: "DTrace",
    hides:
      "Device latencies by powers of two, as quantize prints them. Hides when a request ran, and its exact latency within a bucket.",
    label: "quantize output",
  },
  {
    name: "sync",
    title: "Syncs",
    hides: "Write time of each transaction group. Hides its size, and which writers waited.",
    label: "lines of the sync script",
  },
  {
    name: "bonnie",
    title: "Bonnie++",
    hides: "Rate and CPU share of each test. Hides how the rest of the time was spent.",
    label: "Bonnie++ report",
  },
  {
    name: "oplog",
    title: "Operation log",
    hides: "Every operation with its offset. Hides trends: all lines look alike.",
    label: "Operation log",
    request: (job) => ({ tool: "oplog", job, limit: 60 }),
  },
  {
    name: "iostat",
    title: "iostat",
    hides:
      "Devices, averaged over the run. Hides when they were busy, the request that they served, and everything served from memory.",
    label: "iostat output",
  },
  {
    name: "fio",
    title: "fio report",
    hides: "Percentiles of each job. Hides order and offset.",
    label: "fio output",
  },
];

function viewsOf(engine: EngineClient, doc: CaseDocument, { charts, isOffered }: Catalogue): readonly View[] {
  const { job } = doc.focus;
  const printed = tools.map(({ name, title, hides, label, request }): View => ({
    ...{ name, title, hides },
    draw: async () => operationLog(await engine.text(request?.(job) ?? { tool: name }), { label }),
  }));
  const isPrinted: Readonly<Record<PrintingTool, boolean>> = {
    quantize: doc.scenario.zfs !== undefined && usesDevices(doc),
    sync: doc.views.includes("sync") || (doc.scenario.zfs !== undefined && hasWrites(doc.scenario)),
    bonnie: doc.views.includes("bonnie"),
    oplog: doc.views.includes("oplog") || keepsLog(doc.scenario),
    iostat: doc.views.includes("iostat") || usesDevices(doc),
    fio: true,
  };
  const views: readonly string[] = doc.views;
  const offered: View[] = [
    ...charts.filter((chart) => isOffered(chart, doc)),
    ...printed.filter(({ name }) => isPrinted[name as PrintingTool]),
  ];
  // The case's own order first, then the rest.
  const rank = (view: View) => {
    const at = views.indexOf(view.name);
    return at < 0 ? views.length : at;
  };
  return offered.toSorted((a, b) => rank(a) - rank(b));
}

/** Whether a run of the case uses its devices: neither a fleet nor servers that are waited for has any work for them. */
export function usesDevices({ scenario }: Pick<CaseDocument, "scenario">): boolean {
  return scenario.fleet == null && scenario.fanout == null;
}

/** Return the message for a picture that could not be drawn. */
function notDrawn(error: unknown): HTMLElement {
  return html("p", { class: "empty" }, error instanceof Error ? error.message : String(error));
}
