/**
 * The notebook's widget: the page's stage and controls around one run.
 *
 * While a slider moves, the run is simulated again here, whether or not the kernel is busy. When it is let go, the kernel
 * learns the values and the summary. What the kernel sets is shown here in turn. Nothing is computed twice: a value that
 * comes back as it was sent changes nothing.
 */
import type { AnyModel, RenderProps } from "@anywidget/types";
import { EngineError, sentence } from "../engine/api.ts";
import type { CaseDocument, Changes } from "../engine/types.ts";
import { colourSheet, patterns } from "../base/colours.ts";
import { html, observeWidth } from "../base/elements.ts";
import { chartNamed } from "../charts/catalogue.ts";
import { lifetimes, lifetimesChart } from "../charts/lifetimes.ts";
import { loadPlot } from "../charts/plot.ts";
import { operationLog } from "../charts/operationLog.ts";
import { hasOperations } from "../charts/withoutLog.ts";
import type { RunState } from "../lab/runController.ts";
import { fetchFor, workbench } from "../lab/workbench.ts";
import { ask, run, type FinishedRun } from "./host.ts";
import { renderShift } from "./shift.ts";
import baseSheet from "../style/shared.css?inline";
import shiftSheet from "../style/shift.css?inline";
import widgetSheet from "../style/widget.css?inline";

interface Traits {
  /** Kind of the widget; none for a case's chart. */
  kind?: string;
  case_id: string;
  variant: string;
  set: Changes;
  seed: number;
  view: string;
  controls: string[];
  result: object;
}

function render({ model, el }: RenderProps<Traits>): () => void {
  const root = html("div", { class: "seeklab seeklab-widget" });
  root.append(html("style", {}, colourSheet(), baseSheet, shiftSheet, widgetSheet), patterns());
  el.append(root);
  const stopTheme = followTheme(root);
  const message = html("p", { class: "message", role: "alert" });
  root.append(message);
  if (model.get("kind") === "shift") {
    const close = renderShift(model, root, (error) => (message.textContent = words(error)));
    return () => {
      close();
      stopTheme();
    };
  }
  const ended = new AbortController();
  let stop: (() => void) | undefined;

  Promise.all([ask("case", { id: model.get("case_id") }), loadPlot()])
    .then(async ([doc]) => {
      await fetchFor(doc);
      if (!ended.signal.aborted) stop = show(model, root, message, doc);
    })
    .catch((error: unknown) => (message.textContent = words(error)));
  return () => {
    ended.abort();
    stop?.();
    stopTheme();
  };
}

function show(model: AnyModel<Traits>, root: HTMLElement, message: HTMLElement, doc: CaseDocument): () => void {
  const { focus } = doc;
  const fail = (error: unknown) => (message.textContent = words(error));
  const hasStage = model.get("view") === doc.view || model.get("view") === "";
  const shownPaths = model.get("controls");
  const figure = html("div", { class: "figure" });
  const bench = workbench<FinishedRun>({
    document: doc,
    ask,
    engine: { run },
    name: `variant-${Math.random().toString(36).slice(2)}`,
    hasStage,
    // The values belong to the notebook's cell, whichever variant is looked at.
    keepsValues: true,
    start: read(),
    shows: ({ path }) => shownPaths.length === 0 || shownPaths.includes(path),
    listeners: {
      onResult(finished, { isSettled, isOpening }) {
        if (!isOpening) message.textContent = "";
        drawChart();
        if (isSettled) tell(finished);
      },
      onState: () => undefined,
      onError: fail,
    },
  });
  const { controller } = bench;
  bench.sentence.setAttribute("aria-live", "polite");
  root.append(bench.variants, bench.sentence, bench.stage?.element ?? figure, bench.controls);
  if (bench.stage !== undefined) root.append(bench.stage.foot);

  function read(): RunState {
    return { variant: model.get("variant") || doc.default_variant, set: model.get("set"), seed: model.get("seed") };
  }

  // The kernel learns values and result in one message.
  function tell({ summary }: FinishedRun): void {
    const { variant, set, seed } = controller.state;
    model.set("variant", variant);
    model.set("set", set);
    model.set("seed", seed);
    model.set("result", summary);
    model.save_changes();
  }

  const room = observeWidth(figure, () => drawChart());
  function drawChart(): void {
    const finished = controller.run;
    if (hasStage || finished === undefined || room.width === 0) return;
    figure.replaceChildren(chartOf(model.get("view"), finished, room.width));
  }

  function chartOf(view: string, finished: FinishedRun, width: number): Element {
    if (view === "oplog") {
      return operationLog(finished.print({ tool: "oplog", job: focus.job, limit: 60 }), { label: "Operation log" });
    }
    const chart = chartNamed(view) ?? lifetimesChart;
    // A notebook has no request on a stage to be around: the slowest are what is looked for.
    if (chart === lifetimesChart && hasOperations(finished))
      return lifetimes(finished, { ...focus, width, pick: "slowest" });
    return chart.draw({ result: finished, focus, request: 0 }, width);
  }

  function fromKernel(): void {
    const next = read();
    if (JSON.stringify(next) !== JSON.stringify(controller.state)) controller.replace(next);
  }
  const traits = ["variant", "set", "seed"] as const;
  for (const trait of traits) model.on(`change:${trait}`, fromKernel);

  controller
    .begin()
    .then(() => bench.stage?.autoplay())
    .catch(fail);
  return () => {
    for (const trait of traits) model.off(`change:${trait}`, fromKernel);
    bench.close();
    room.close();
  };
}

/** JupyterLab says on its body whether its theme is light; elsewhere the system's preference holds. */
function followTheme(root: HTMLElement): () => void {
  const apply = () => {
    const isLight = document.body.dataset.jpThemeLight;
    if (isLight === undefined) delete root.dataset.theme;
    else root.dataset.theme = isLight === "true" ? "light" : "dark";
  };
  apply();
  const observer = new MutationObserver(apply);
  observer.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
  return () => observer.disconnect();
}

function words(error: unknown): string {
  if (error instanceof EngineError) return error.problems.map(sentence).join(" ");
  return error instanceof Error ? error.message : String(error);
}

export default { render };
