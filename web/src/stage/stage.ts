/**
 * The stage: the view that shows a mechanism best, with the time scrubber under it. Used by the page and by the notebook's
 * widget. It owns its moment in time; what to run is its owner's business.
 */
import type { Alignment, CaseDocument, Changes, Control, Result } from "../engine/api.ts";
import { alignmentStage } from "./alignmentStage.ts";
import { chartsOf, clusterView, stripView } from "../charts/catalogue.ts";
import { clusterStage } from "./clusterStage.ts";
import { latencyOverview } from "../charts/latencyOverview.ts";
import { formatBytes, formatNumber } from "../base/format.ts";
import { describe, prefetchStrip, readAt, rowsFor, type StripHandle } from "../charts/prefetchStrip.ts";
import { readsOf } from "../charts/rows/reads.ts";
import { monitorStage } from "./monitorStage.ts";
import { html } from "../base/elements.ts";
import { timelineStage } from "./timelineStage.ts";
import { transport } from "./transport.ts";

/** The end of a prefetch that can be dragged: a field of the scenario, in bytes. */
export interface ChunkField {
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly onInput: (bytes: number) => void;
  readonly onChange: (bytes: number) => void;
}

export const chunkPath = "volume.prefetch.chunk";

/** The end of a prefetch as a field that can be dragged, when the case has that control. */
export function chunkField(
  controls: readonly Control[],
  onInput: (bytes: number) => void,
  onChange: (bytes: number) => void = onInput,
): ChunkField | undefined {
  const control = controls.find(({ path }) => path === chunkPath);
  if (control === undefined) return undefined;
  return { min: control.min ?? 4096, max: control.max ?? 2 ** 28, step: control.step ?? 4096, onInput, onChange };
}

/** Fields of the scenario that a view changes by direct manipulation. */
export interface Fields {
  /** Whether the case offers the field. */
  has(path: string): boolean;
  /** The largest value that the case offers. */
  most(path: string): number | undefined;
  onInput(values: Changes): void;
  onChange(values: Changes): void;
}

export function fieldsOf(
  controls: readonly Control[],
  onInput: (values: Changes) => void,
  onChange: (values: Changes) => void,
): Fields {
  const find = (path: string) => controls.find((control) => control.path === path);
  return {
    has: (path) => find(path) !== undefined,
    most: (path) => find(path)?.max ?? undefined,
    onInput,
    onChange,
  };
}

/** A field that is set by dragging what it stands for. */
export interface DraggedField {
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly onInput: (value: number) => void;
  readonly onChange: (value: number) => void;
}

export const targetPath = "cluster.moves[0].to";

/** The node that a machine moves to as a field that can be dragged, when the case has that control. */
export function targetField(
  controls: readonly Control[],
  onInput: (node: number) => void,
  onChange: (node: number) => void = onInput,
): DraggedField | undefined {
  const control = controls.find(({ path }) => path === targetPath);
  if (control === undefined || typeof control.value !== "number") return undefined;
  return { value: control.value, min: control.min ?? 0, max: control.max ?? 255, onInput, onChange };
}

export interface StageOptions {
  readonly job: string;
  readonly chunk?: ChunkField | undefined;
  /** Called when the moment shown rests at another request. */
  readonly onRequest?: (index: number) => void;
  /** Asks the engine about a partition's start that a reader types in. */
  readonly onStart?: (start: string) => Promise<Alignment>;
}

export interface Stage {
  readonly element: HTMLElement;
  /** Shows a run; the cursor stays at the same request. `latency_max_ns` fixes the time axis. */
  show(result: Result, latency_max_ns: number): void;
  /** Plays the first page of reads by itself. */
  autoplay(): void;
  goTo(index: number): void;
  setChunk(field: ChunkField | undefined): void;
  /** Lets the view change fields of the scenario, where it can. */
  setFields?(fields: Fields): void;
  /** Lets a machine be dragged to the node it moves to. */
  setTarget?(field: DraggedField | undefined): void;
  readonly request: number;
  readonly moment_ns: number;
  /** Stops listening and moving. */
  dispose(): void;
}

const speeds = [0.02, 0.1, 0.5, 1, 5];
const overviewHeight = 34;
// Nothing moves by itself for longer.
const autoplayMs = 5000;
// Half of a range input's thumb: its travel is that much shorter on both sides.
const thumbRadius = 8;

/** The stage of a case: the strip, or the chart that the case names. */
export function stageOf(doc: Pick<CaseDocument, "focus" | "view">, options: Omit<StageOptions, "job"> = {}): Stage {
  if (doc.view === stripView) return stage({ ...options, job: doc.focus.job });
  if (doc.view === clusterView) {
    const { onRequest: onMoment } = options;
    return clusterStage({ job: doc.focus.job, ...(onMoment === undefined ? {} : { onRequest: () => onMoment(0) }) });
  }
  const charts = chartsOf(doc);
  const chart = charts.find(({ name }) => name === doc.view) ?? charts.find(({ name }) => name === "histogram")!;
  if (chart.name === "monitor") return monitorStage(chart);
  if (chart.name === "alignment") return alignmentStage(chart, options.onStart);
  const { onRequest } = options;
  return timelineStage({ chart, ...(onRequest === undefined ? {} : { onRequest: () => onRequest(0) }) });
}

export function stage(options: StageOptions): Stage {
  let result: Result | undefined;
  let latencyMax = 1;
  let width = 0;
  let lastRequest = -1;
  let chunk = options.chunk;
  let frozenAhead: number | undefined;
  let handle: StripHandle | undefined;

  const frame = html("div", { class: "strip-frame" });
  const grip = html("div", { class: "grip", role: "slider", tabindex: 0, "aria-label": "Prefetch chunk", hidden: "" });
  frame.append(grip);
  const caption = html("p", { class: "moment" });
  const overview = html("div", { class: "overview-frame" });
  const time = transport({ speeds, above: overview, onMove: () => draw(), onRest: () => rest() });
  const { player } = time;
  const element = html("div", { class: "stage" }, frame, time.element, caption);

  function reads() {
    return result === undefined ? [] : readsOf(result, options.job);
  }

  function draw(): void {
    if (result === undefined || width === 0) return;
    const now = player.time_ns;
    const strip = prefetchStrip(result, {
      job: options.job,
      time_ns: now,
      width,
      latency_max_ns: latencyMax,
      ...(frozenAhead === undefined ? {} : { ahead_bytes: frozenAhead }),
    });
    const old = frame.querySelector("svg");
    if (old === null) frame.prepend(strip.element);
    else old.replaceWith(strip.element);
    handle = strip.handle;
    placeGrip();

    const list = reads();
    const index = readAt(list, now);
    time.show(`read ${index + 1} of ${list.length}, ${(now / 1e9).toFixed(3)} seconds`);
    caption.textContent = describe(list, index, now, readsOf(result, options.job, "write"));
    if (!player.isPlaying && index !== lastRequest) rest();
  }

  // The rest of the page follows when the moment rests, not on every frame.
  function rest(): void {
    lastRequest = readAt(reads(), player.time_ns);
    options.onRequest?.(lastRequest);
  }

  function drawOverview(): void {
    if (result === undefined || width === 0) return;
    overview.replaceChildren(
      latencyOverview(result, {
        job: options.job,
        width: Math.max(40, overview.clientWidth || width - 2 * thumbRadius),
        height: overviewHeight,
        latency_max_ns: latencyMax,
      }),
    );
  }

  function placeGrip(): void {
    grip.hidden = handle === undefined || chunk === undefined;
    if (handle === undefined || chunk === undefined) return;
    grip.style.transform = `translate(${handle.x}px, ${handle.y}px)`;
    grip.style.height = `${handle.height}px`;
    grip.setAttribute("aria-valuemin", String(chunk.min));
    grip.setAttribute("aria-valuemax", String(chunk.max));
    grip.setAttribute("aria-valuenow", String(handle.bytes));
    grip.setAttribute("aria-valuetext", formatBytes(handle.bytes));
  }

  function chunkAt(bytes: number): number {
    const { min, max, step } = chunk!;
    return Math.max(min, Math.min(max, Math.round(bytes / step) * step));
  }

  grip.addEventListener("pointerdown", (event) => {
    if (handle === undefined || chunk === undefined || result === undefined) return;
    event.preventDefault();
    grip.setPointerCapture(event.pointerId);
    grip.classList.add("used");
    grip.focus();
    player.pause();
    // The scale must not change under the pointer.
    const { start_x, pixels_per_byte } = handle;
    frozenAhead = prefetchStrip(result, {
      job: options.job,
      time_ns: player.time_ns,
      width,
      latency_max_ns: latencyMax,
    }).ahead_bytes;
    const left = frame.getBoundingClientRect().left;
    let last = handle.bytes;
    const move = (moved: PointerEvent) => {
      const bytes = chunkAt((moved.clientX - left - start_x) / pixels_per_byte);
      if (bytes === last) return;
      last = bytes;
      chunk?.onInput(bytes);
    };
    const up = () => {
      grip.removeEventListener("pointermove", move);
      frozenAhead = undefined;
      chunk?.onChange(last);
      draw();
    };
    grip.addEventListener("pointermove", move);
    grip.addEventListener("lostpointercapture", up, { once: true });
  });
  grip.addEventListener("keydown", (event) => {
    if (handle === undefined || chunk === undefined) return;
    const steps: Record<string, number> = {
      ArrowRight: 1,
      ArrowUp: 1,
      ArrowLeft: -1,
      ArrowDown: -1,
      PageUp: 4,
      PageDown: -4,
    };
    const by = steps[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const bytes = chunkAt(handle.bytes + by * chunk.step);
    chunk.onInput(bytes);
    chunk.onChange(bytes);
  });

  const observer = new ResizeObserver(([entry]) => {
    const next = Math.floor(entry!.contentRect.width);
    if (next === width) return;
    width = next;
    drawOverview();
    draw();
  });
  observer.observe(frame);

  return {
    element,
    show(next, latency_max_ns) {
      // A reader who changes something does not want to wait for the end of the opening.
      const isCut = player.isAutoplaying && result !== undefined && result !== next;
      result = next;
      latencyMax = latency_max_ns;
      const list = reads();
      const last = list.at(-1);
      const end = last === undefined ? 0 : last.submit_ns + last.latency_ns;
      player.setStops(
        list.map((read) => read.submit_ns),
        end,
      );
      time.setEnd(end);
      if (width === 0) width = Math.floor(frame.clientWidth);
      if (isCut) {
        player.pause();
        player.moveTo(player.endOf(rowsFor(width) - 1));
      }
      drawOverview();
      draw();
    },
    autoplay() {
      player.play(autoplayMs, player.endOf(rowsFor(width) - 1));
    },
    goTo(index) {
      player.moveTo(player.endOf(index));
    },
    setChunk(field) {
      chunk = field;
      placeGrip();
    },
    get request() {
      return readAt(reads(), player.time_ns);
    },
    get moment_ns() {
      return player.time_ns;
    },
    dispose() {
      player.pause();
      observer.disconnect();
    },
  };
}

/** The end of a time axis that holds several runs: the slowest request, rounded up to a number that reads well. */
export function latencyAxisEnd(job: string, results: readonly Result[], op: "read" | "write" = "read"): number {
  const slowest = results
    .flatMap((result) => readsOf(result, job, op))
    .reduce((most, request) => Math.max(most, request.latency_ns), 1e3);
  const ms = slowest / 1e6;
  const power = 10 ** Math.floor(Math.log10(ms));
  const steps = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];
  return (steps.find((step) => step * power >= ms) ?? 10) * power * 1e6;
}

/** A sentence with its numbers set apart. */
export function sentenceNodes(template: string, metrics: Readonly<Record<string, number>>): (Node | string)[] {
  return template.split(/(\{[^}]+\})/).map((piece) => {
    if (!piece.startsWith("{")) return piece;
    const value = metrics[piece.slice(1, -1).trim()];
    const exact = value === undefined ? {} : { title: String(value) };
    return html("b", exact, value === undefined ? "–" : formatNumber(value));
  });
}
