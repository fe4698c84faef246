/**
 * The notebook's widget: the page's stage and controls around one run.
 *
 * While a slider moves, the run is simulated again here, whether or not the kernel is busy. When it is let go, the kernel
 * learns the values and the summary. What the kernel sets is shown here in turn. Nothing is computed twice: a value that
 * comes back as it was sent changes nothing.
 */
import type { AnyModel, RenderProps } from "@anywidget/types";
import { EngineError, sentence, type CaseDocument, type Changes, type Result, type Value } from "../engine/api.ts";
import { Latest } from "../engine/latest.ts";
import { chartsOf, hasOperations } from "../charts/catalogue.ts";
import { colourSheet, patterns } from "../base/colours.ts";
import { controls, type Controls } from "../lab/controls.ts";
import { lifetimes } from "../charts/lifetimes.ts";
import { operationLog } from "../charts/operationLog.ts";
import { segmented } from "../lab/segmented.ts";
import {
  chunkField,
  chunkPath,
  fieldsOf,
  latencyAxisEnd,
  sentenceNodes,
  stageOf,
  targetField,
  targetPath,
} from "../stage/stage.ts";
import { html } from "../base/elements.ts";
import { ask, run, type FinishedRun } from "./host.ts";
import baseSheet from "../style/shared.css?inline";
import widgetSheet from "../style/widget.css?inline";

interface Traits {
  case_id: string;
  variant: string;
  set: Changes;
  seed: number;
  view: string;
  controls: string[];
  result: object;
}

interface Wanted {
  readonly variant: string;
  readonly set: Changes;
  readonly seed: number;
}

function render({ model, el }: RenderProps<Traits>): () => void {
  const root = html("div", { class: "seeklab seeklab-widget" });
  root.append(html("style", {}, colourSheet(), baseSheet, widgetSheet), patterns());
  el.append(root);
  const stopTheme = followTheme(root);
  const message = html("p", { class: "message", role: "alert" });
  root.append(message);
  const ended = new AbortController();
  let stop: (() => void) | undefined;

  ask("case", { id: model.get("case_id") })
    .then((doc) => {
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
  const { job, op } = doc.focus;
  const charts = chartsOf(doc);
  let wanted = read();
  let shown: FinishedRun | undefined;
  let reference: Result | undefined;
  let isSettled = true;
  let isGone = false;
  let fields: Controls | undefined;

  const scene =
    model.get("view") === doc.view || model.get("view") === ""
      ? stageOf(doc, { onStart: (start) => ask("alignment", { start }) })
      : undefined;
  const chart = html("div", { class: "figure" });
  const told = html("p", { class: "sentence", "aria-live": "polite" });
  const controlsPlace = html("div");
  const choice = segmented({
    legend: "Variant",
    name: `variant-${Math.random().toString(36).slice(2)}`,
    value: wanted.variant,
    choices: doc.variants.map(({ name, title, summary }) => ({ value: name, title, help: summary })),
    onChange: (variant) => {
      wanted = { ...wanted, variant };
      request(true);
      void buildControls();
    },
  });
  root.append(choice.element, told, scene?.element ?? chart, controlsPlace);

  const latest = new Latest<Wanted, FinishedRun>({
    run: (next, signal) => run({ case: doc.id, ...next }, signal),
    onResult: (finished) => {
      // The cell may have been removed while it ran.
      if (isGone) {
        finished.free();
        return;
      }
      message.textContent = "";
      draw(finished);
      if (isSettled && !latest.hasNext) tell(finished.result);
    },
    onError: (error) => (message.textContent = words(error)),
  });

  function read(): Wanted {
    return { variant: model.get("variant") || doc.default_variant, set: model.get("set"), seed: model.get("seed") };
  }

  function request(settled: boolean): void {
    isSettled = settled;
    latest.request(wanted);
  }

  // The kernel learns values and result in one message.
  function tell(result: Result): void {
    model.set("variant", wanted.variant);
    model.set("set", wanted.set);
    model.set("seed", wanted.seed);
    model.set("result", result.summary);
    model.save_changes();
  }

  function draw(finished: FinishedRun): void {
    const isFirst = shown === undefined;
    shown?.free();
    shown = finished;
    const { result } = finished;
    reference ??= result;
    told.replaceChildren(...sentenceNodes(doc.sentence, result.summary.metrics));
    if (scene !== undefined) {
      scene.show(result, latencyAxisEnd(job, [reference, result]));
      if (isFirst) scene.autoplay();
    } else drawChart();
  }

  function drawChart(): void {
    const width = Math.floor(chart.clientWidth);
    if (shown === undefined || width === 0) return;
    chart.replaceChildren(chartOf(model.get("view"), shown, width));
  }

  function chartOf(view: string, finished: FinishedRun, width: number): Element {
    if (view === "oplog") {
      return operationLog(finished.print({ tool: "oplog", job, limit: 60 }), { label: "Operation log" });
    }
    const chart = charts.find(({ name }) => name === view) ?? charts.find(({ name }) => name === "lifetimes")!;
    // A notebook has no request on a stage to be around: the slowest are what is looked for.
    if (chart.name === "lifetimes" && hasOperations(finished.result)) {
      return lifetimes(finished.result, { job, op, width, pick: "slowest" });
    }
    return chart.draw({ result: finished.result, reference: undefined, request: 0 }, width);
  }
  const observer = new ResizeObserver(() => drawChart());
  observer.observe(chart);

  function setField(path: string, value: Value, settled: boolean): void {
    wanted = { ...wanted, set: { ...wanted.set, [path]: value } };
    request(settled);
  }

  async function buildControls(): Promise<void> {
    const all = await ask("control", { case: doc.id, variant: wanted.variant, set: wanted.set });
    const paths = model.get("controls");
    const list = paths.length === 0 ? all : all.filter(({ path }) => paths.includes(path));
    fields = controls({
      controls: list,
      onInput: (path, value) => setField(path, value, false),
      onChange: (path, value) => setField(path, value, true),
    });
    controlsPlace.replaceChildren(fields.element);
    scene?.setChunk(
      chunkField(
        list,
        (bytes) => setChunk(bytes, false),
        (bytes) => setChunk(bytes, true),
      ),
    );
    const apply = (settled: boolean) => (values: Changes) => {
      for (const [path, value] of Object.entries(values)) {
        fields?.set(path, value);
        setField(path, value, settled);
      }
    };
    scene?.setFields?.(fieldsOf(list, apply(false), apply(true)));
    scene?.setTarget?.(
      targetField(
        list,
        (node) => fields?.set(targetPath, node),
        (node) => setField(targetPath, node, true),
      ),
    );
  }

  function setChunk(bytes: number, settled: boolean): void {
    fields?.set(chunkPath, bytes);
    setField(chunkPath, bytes, settled);
  }

  function fromKernel(): void {
    const next = read();
    if (JSON.stringify(next) === JSON.stringify(wanted)) return;
    wanted = next;
    choice.select(wanted.variant);
    request(true);
    void rebuild();
  }
  const rebuild = () => buildControls().catch((error: unknown) => (message.textContent = words(error)));
  for (const trait of ["variant", "set", "seed"] as const) model.on(`change:${trait}`, fromKernel);

  request(true);
  void rebuild();
  return () => {
    for (const trait of ["variant", "set", "seed"] as const) model.off(`change:${trait}`, fromKernel);
    isGone = true;
    latest.cancel();
    observer.disconnect();
    scene?.dispose();
    shown?.free();
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
