/**
 * Sweep a control: the numbers of the case's sentence against the whole range of one control, computed on threads of their
 * own while the page stays as it is. The other controls, the variant and the seed are those of the stage.
 */
import { Cancelled } from "../../engine/api.ts";
import type { CaseDocument, Control, Summary } from "../../engine/types.ts";
import { prepareSweep, sweep } from "../../engine/sweep.ts";
import { html, observeWidth } from "../../base/elements.ts";
import { formatSetting, formatValue } from "../../base/format.ts";
import { loadPlot } from "../../charts/plot.ts";
import { resultTable } from "../../charts/resultTable.ts";
import { metricWords, sweepChart } from "../../charts/sweepChart.ts";
import type { Finished, RunController } from "../../lab/runController.ts";
import { sentenceMetrics } from "../../lab/sentence.ts";
import { isLogarithmic, isSweepable, valuesOf } from "../../lab/sweepValues.ts";
import { fitOf, type CurveSketch, curveSketch, type SketchedPoint } from "./curveSketch.ts";

export interface SweepPanel {
  readonly element: HTMLElement;
  /** The controls as they stand; those with a range can be swept. */
  offer(controls: readonly Control[]): void;
}

const widest = 420;
const narrowest = 260;

/** A sweep that took at most so long follows the other controls from then on. */
const liveMs = 600;

interface Swept {
  readonly control: Control;
  readonly values: readonly number[];
  readonly summaries: (Summary | undefined)[];
  /** The curve that the reader predicted. */
  readonly expected: Expected | undefined;
}

interface Expected {
  readonly metric: string;
  readonly curve: readonly SketchedPoint[];
}

export function sweepPanel(
  doc: Pick<CaseDocument, "sentence">,
  controller: Pick<RunController<Finished>, "run" | "sweep">,
): SweepPanel {
  const metrics = sentenceMetrics(doc.sentence);
  const choice = html("select", { id: "sweep-control" });
  const start = html("button", { type: "button", class: "start-sweep" }, "Sweep this control");
  const expect = html("button", { type: "button", class: "quiet" }, "Predict the curve first");
  const drawing = html("div", { class: "sketch-place" });
  const bar = html("progress", { max: 1, value: 0, "aria-label": "Progress of the sweep" });
  const cancel = html("button", { type: "button", class: "quiet" }, "Cancel");
  const running = html("div", { class: "progress", hidden: "" }, bar, cancel);
  const status = html("p", { class: "quiet sweep-status", "aria-live": "polite" });
  const charts = html("div", { class: "sweep-charts" });
  const table = html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Runs of the sweep" });
  const details = html("details", { hidden: "" }, html("summary", {}, "The runs as a table"), table);
  const element = html(
    "section",
    { class: "sweep", "aria-labelledby": "sweep-title" },
    html("h2", { id: "sweep-title" }, "The whole range"),
    html(
      "div",
      { class: "sweep-head" },
      html("label", { for: "sweep-control" }, "Control"),
      choice,
      start,
      expect,
      running,
    ),
    drawing,
    status,
    charts,
    details,
  );
  let offered: readonly Control[] = [];
  let stop: AbortController | undefined;
  /** Whether the last sweep was fast enough to be repeated when another control changes. */
  let isLive = false;
  /** Whether a control has changed since the sweep that goes on began. */
  let isOutdated = false;
  let shown: Swept | undefined;
  let drawn: { readonly metric: string; readonly sketch: CurveSketch } | undefined;

  choice.addEventListener("change", () => {
    isLive = false;
    forget();
  });
  // The threads start while the reader is on the way to the button.
  for (const event of ["pointerenter", "focusin"]) element.addEventListener(event, prepareSweep, { once: true });
  expect.addEventListener("click", () => {
    const control = chosen();
    const { metrics: now = {}, units = {} } = controller.run?.summary ?? {};
    const metric = metrics.find((name) => (now[name] ?? 0) > 0);
    if (control === undefined || metric === undefined) {
      status.textContent = "No metric of the stage can be plotted against this control.";
      return;
    }
    const unit = units[metric] ?? "";
    const pad = curveSketch({
      width: Math.min(widest, room.width),
      control: control.title,
      controlUnit: control.unit,
      isLog: isLogarithmic(control),
      values: valuesOf(control),
      metric: metricWords(metric, unit),
      metricUnit: unit,
      present: now[metric]!,
    });
    drawn = { metric, sketch: pad };
    drawing.replaceChildren(pad.element);
    expect.hidden = true;
  });
  cancel.addEventListener("click", () => stop?.abort());
  start.addEventListener("click", () => void run());
  const room = observeWidth(charts, () => draw());

  function chosen(): Control | undefined {
    return offered.find(({ path }) => path === choice.value);
  }

  /** Discard the drawn curve: it was for one control. */
  function forget(): void {
    drawn = undefined;
    drawing.replaceChildren();
    expect.hidden = false;
  }

  async function run(): Promise<void> {
    const control = chosen();
    if (control === undefined || stop !== undefined) return;
    const { values, requests } = controller.sweep(control);
    const expected = drawn === undefined ? undefined : { metric: drawn.metric, curve: drawn.sketch.curve() };
    const swept: Swept = { control, values, summaries: values.map(() => undefined), expected };
    forget();
    const begun_ms = performance.now();
    const isRepeated = isLive;
    stop = new AbortController();
    shown = swept;
    start.disabled = true;
    running.hidden = isRepeated;
    bar.value = 0;
    if (!isRepeated) status.textContent = `Running ${values.length} values of ${control.title}.`;
    try {
      await loadPlot();
      await sweep(requests, {
        signal: stop.signal,
        onRun: (index, summary, done) => {
          swept.summaries[index] = summary;
          bar.value = done / values.length;
          drawSoon();
        },
      });
      isLive = performance.now() - begun_ms <= liveMs;
      status.textContent = `${values.length} runs: ${control.title} from ${formatSetting(values[0]!, control.unit)} to ${formatSetting(values.at(-1)!, control.unit)}. The ring is the value on the stage.${fit(swept)}`;
    } catch (error) {
      if (!isOutdated) status.textContent = unfinished(swept, error);
    } finally {
      stop = undefined;
      start.disabled = false;
      running.hidden = true;
      draw();
      if (isOutdated) {
        isOutdated = false;
        void run();
      }
    }
  }

  function unfinished({ values, summaries }: Swept, error: unknown): string {
    const done = summaries.filter((summary) => summary !== undefined).length;
    const why = error instanceof Cancelled ? "Cancelled" : error instanceof Error ? error.message : String(error);
    return `${why}${why.endsWith(".") ? "" : ":"} ${done} of ${values.length} runs are shown.`;
  }

  /** Sweep again: something else than the swept control has changed. */
  function follow(): void {
    if (stop === undefined) void run();
    else {
      isOutdated = true;
      stop.abort();
    }
  }

  function fit({ control, values, summaries, expected }: Swept): string {
    if (expected === undefined) return "";
    const simulated = values.map((value, nth) => ({
      value,
      metric: summaries[nth]?.metrics[expected.metric] ?? Number.NaN,
    }));
    return ` ${fitOf(expected.curve, simulated, control.unit)}`;
  }

  // Runs may end many times in one frame.
  let isDrawing = false;
  function drawSoon(): void {
    if (isDrawing) return;
    isDrawing = true;
    requestAnimationFrame(() => {
      isDrawing = false;
      draw();
    });
  }

  function draw(): void {
    const { width } = room;
    if (shown === undefined || width === 0) return;
    const { control, values, summaries, expected } = shown;
    const rows = values.flatMap((value, nth) => (summaries[nth] === undefined ? [] : [{ value, run: summaries[nth] }]));
    details.hidden = rows.length === 0;
    if (rows.length === 0) {
      charts.replaceChildren();
      return;
    }
    const { units } = rows[0]!.run;
    const columns = Math.max(1, Math.min(metrics.length, Math.floor(width / narrowest)));
    const each = Math.min(widest, Math.floor((width - 24 * (columns - 1)) / columns));
    charts.replaceChildren(
      ...metrics.map((metric) =>
        sweepChart(
          rows.map(({ value, run }) => ({ value, metric: run.metrics[metric] ?? Number.NaN })),
          {
            width: each,
            control: control.title,
            controlUnit: control.unit,
            isLog: isLogarithmic(control),
            domain: [values[0]!, values.at(-1)!],
            metric,
            metricUnit: units[metric] ?? "",
            now: typeof control.value === "number" ? control.value : undefined,
            expected: expected?.metric === metric ? expected.curve : undefined,
          },
        ),
      ),
    );
    table.replaceChildren(
      resultTable({
        caption: `Runs by ${control.title}`,
        columns: [
          { title: control.title, value: ({ value }: (typeof rows)[number]) => formatSetting(value, control.unit) },
          ...metrics.map((metric) => ({
            title: metricWords(metric, units[metric] ?? ""),
            value: ({ run }: (typeof rows)[number]) => formatValue(run.metrics[metric] ?? Number.NaN, units[metric]),
          })),
        ],
        rows,
      }),
    );
  }

  return {
    element,
    offer(controls) {
      const before = choice.value;
      const others = (list: readonly Control[]) =>
        JSON.stringify(list.filter(({ path }) => path !== before).map(({ path, value }) => [path, value]));
      const isChanged = others(offered) !== others(controls.filter(isSweepable));
      offered = controls.filter(isSweepable);
      choice.replaceChildren(...offered.map(({ path, title }) => html("option", { value: path }, title)));
      if (offered.some(({ path }) => path === before)) choice.value = before;
      else forget();
      element.hidden = offered.length === 0;
      if (isLive && isChanged && drawn === undefined) follow();
    },
  };
}
