/**
 * The stage of a cluster: its map at a moment, the clock under it, and the machine itself as a handle that can be dragged, or
 * sent with the arrow keys, to the node it shall move to.
 */
import type { Result } from "../engine/api.ts";
import { clusterMap, type ClusterMap } from "../charts/clusterMap.ts";
import { describeCluster, eventTimes, intervalOf } from "../charts/rows/clusterTables.ts";
import type { DraggedField, Stage } from "./stage.ts";
import { html } from "../base/elements.ts";
import { transport } from "./transport.ts";

export interface ClusterStageOptions {
  readonly job: string;
  /** Called when the moment shown rests. */
  readonly onRequest?: () => void;
}

const speeds = [0.05, 0.1, 0.25, 0.5, 1, 2, 5];
// Nothing moves by itself for longer.
const autoplayMs = 5000;

export function clusterStage(options: ClusterStageOptions): Stage {
  const { job } = options;
  let result: Result | undefined;
  let width = 0;
  let target: DraggedField | undefined;
  let map: ClusterMap | undefined;
  let dragged: number | undefined;
  const place = html("div", { class: "figure" });
  const pill = html(
    "div",
    { class: "machine", role: "slider", tabindex: 0, "aria-label": `${job} moves to node` },
    job,
  );
  const frame = html("div", { class: "cluster-frame" }, place, pill);
  const caption = html("p", { class: "moment" });
  const hint = html(
    "p",
    { class: "quiet note" },
    `Drag ${job} to another node, or focus it and press the arrow keys: that is where it moves.`,
  );
  const time = transport({ speeds, onMove: () => draw(), onRest: () => options.onRequest?.() });
  const { player } = time;
  const element = html("div", { class: "stage cluster" }, frame, time.element, caption, hint);

  function draw(): void {
    if (result === undefined || width === 0) return;
    map = clusterMap(result, { job, width, time_s: player.time_ns / 1e9 });
    place.replaceChildren(map.element);
    caption.textContent = describeCluster(map.moment, job);
    time.show(`${(player.time_ns / 1e9).toFixed(2)} seconds. ${caption.textContent}`);
    placePill();
  }

  function placePill(): void {
    if (map === undefined) return;
    const node = dragged ?? map.moment.home;
    pill.style.left = `${map.x(node).toFixed(1)}px`;
    pill.classList.toggle("fixed", target === undefined);
    hint.hidden = target === undefined;
    if (target === undefined) return;
    pill.setAttribute("aria-valuemin", String(target.min));
    pill.setAttribute("aria-valuemax", String(target.max));
    pill.setAttribute("aria-valuenow", String(target.value));
    pill.setAttribute("aria-valuetext", `node ${target.value}; at this moment on node ${map.moment.home}`);
  }

  function send(node: number): void {
    if (target === undefined) return;
    const to = Math.max(target.min, Math.min(target.max, node));
    if (to === target.value) return;
    target = { ...target, value: to };
    target.onInput(to);
    target.onChange(to);
  }

  pill.addEventListener("pointerdown", (event) => {
    if (map === undefined || target === undefined) return;
    event.preventDefault();
    pill.setPointerCapture(event.pointerId);
    pill.focus();
    player.pause();
    const left = frame.getBoundingClientRect().left;
    const drawn = map;
    const nearest = (at: number) => {
      const away = (node: number) => Math.abs(drawn.x(node) - at);
      return Array.from({ length: drawn.nodes }, (_, node) => node).reduce(
        (best, node) => (away(node) < away(best) ? node : best),
        0,
      );
    };
    const move = (moved: PointerEvent) => {
      dragged = nearest(moved.clientX - left);
      placePill();
    };
    pill.addEventListener("pointermove", move);
    pill.addEventListener(
      "lostpointercapture",
      () => {
        pill.removeEventListener("pointermove", move);
        const to = dragged;
        dragged = undefined;
        if (to !== undefined) send(to);
        placePill();
      },
      { once: true },
    );
  });
  pill.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (by === undefined || target === undefined) return;
    event.preventDefault();
    send(target.value + by);
  });

  const observer = new ResizeObserver(([entry]) => {
    const next = Math.floor(entry!.contentRect.width);
    if (next === width) return;
    width = next;
    draw();
  });
  observer.observe(frame);

  return {
    element,
    show(next) {
      const isFirst = result === undefined;
      const before_ns = player.time_ns;
      result = next;
      const [end, step] = [next.summary.simulated_ns / 1e9, intervalOf(next)];
      const evenly = Array.from({ length: Math.min(500, Math.ceil(end / step)) }, (_, nth) => nth * step);
      const stops = [...new Set([...evenly, ...eventTimes(next).filter((at) => at < end)])].toSorted((a, b) => a - b);
      player.setStops(
        stops.map((at) => at * 1e9),
        end * 1e9,
      );
      time.setEnd(end * 1e9);
      if (isFirst) time.setSpeed(speeds.find((speed) => end / speed <= autoplayMs / 1000) ?? speeds.at(-1)!);
      else player.moveTo(before_ns);
      if (width === 0) width = Math.floor(frame.clientWidth);
      draw();
    },
    autoplay() {
      if (result === undefined) return;
      // Before the last interval is over, which may be cut short.
      const until_ns = Math.max(0, result.summary.simulated_ns - intervalOf(result) * 1.5e9);
      if (matchMedia("(prefers-reduced-motion: reduce)").matches) player.moveTo(until_ns);
      else player.play(autoplayMs, until_ns);
    },
    goTo(index) {
      player.moveTo(player.endOf(index));
    },
    setChunk: () => undefined,
    setTarget(field) {
      target = field;
      placePill();
    },
    get request() {
      return 0;
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
