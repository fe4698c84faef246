/**
 * The stage of a cluster: its map at a moment, with the clock under it. The machine is a handle: drag it, or press the
 * arrow keys, to choose the node that it moves to.
 */
import type { Result } from "../engine/api.ts";
import type { Control } from "../engine/types.ts";
import { html, observeWidth } from "../base/elements.ts";
import { clusterMap, type ClusterMap } from "../charts/clusterMap.ts";
import { describeCluster, eventTimes, intervalOf } from "../charts/rows/clusterTables.ts";
import { onDrag, sayRange } from "./drag.ts";
import type { Fields, Stage, StageOptions } from "./stage.ts";
import { transport } from "./transport.ts";

const targetPath = "cluster.moves[0].to";
const speeds = [0.05, 0.1, 0.25, 0.5, 1, 2, 5];

/** The node that a machine moves to, when the case lets the reader choose it. */
interface Target {
  readonly node: number;
  readonly range: readonly [number, number];
}

export function clusterStage({ focus: { job }, onRest }: StageOptions): Stage {
  let result: Result | undefined;
  let fields: Fields | undefined;
  let target: Target | undefined;
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
    `Drag ${job} to another node, or focus it and press the arrow keys, to choose where it moves.`,
  );
  const time = transport({ speeds, onMove: () => draw(), onRest: () => onRest?.() });
  const { player } = time;
  const element = html("div", { class: "stage cluster" }, frame, time.element);
  const foot = html("div", { class: "stage-foot" }, caption, hint);

  function draw(): void {
    if (result === undefined || room.width === 0) return;
    map = clusterMap(result, { job, width: room.width, time_s: player.time_ns / 1e9 });
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
    const { node: to, range } = target;
    sayRange(pill, to, range, `node ${to}; at this moment on node ${map.moment.home}`);
  }

  function send(node: number): void {
    if (target === undefined) return;
    const [first, last] = target.range;
    const to = Math.max(first, Math.min(last, node));
    if (to === target.node) return;
    target = { ...target, node: to };
    fields?.onChange({ [targetPath]: to });
  }

  onDrag(pill, {
    begin() {
      if (map === undefined || target === undefined) return undefined;
      player.pause();
      const left = frame.getBoundingClientRect().left;
      const drawn = map;
      return {
        move(x) {
          dragged = nearestNode(drawn, x - left);
          placePill();
        },
        end() {
          const to = dragged;
          dragged = undefined;
          if (to !== undefined) send(to);
          placePill();
        },
      };
    },
    step(steps) {
      if (target !== undefined) send(target.node + steps);
    },
  });

  const room = observeWidth(frame, () => draw());

  return {
    element,
    foot,
    show(next) {
      const isFirst = result === undefined;
      const before_ns = player.kept_ns;
      result = next;
      const [end, step] = [next.summary.simulated_ns / 1e9, intervalOf(next)];
      const evenly = Array.from({ length: Math.min(500, Math.ceil(end / step)) }, (_, nth) => nth * step);
      const stops = [...new Set([...evenly, ...eventTimes(next).filter((at) => at < end)])].toSorted((a, b) => a - b);
      player.setStops(
        stops.map((at) => at * 1e9),
        end * 1e9,
      );
      time.setEnd(end * 1e9);
      if (isFirst) time.setSpeedFor(end * 1e9);
      else player.stayAt(before_ns);
      draw();
    },
    playSpan(from_ns, to_ns, _, at_ns) {
      player.playSpan(from_ns, to_ns, at_ns);
    },
    replay() {
      player.replay();
    },
    autoplay() {
      if (result === undefined) return;
      // Before the last interval is over, which may be cut short.
      const until_ns = Math.max(0, result.summary.simulated_ns - intervalOf(result) * 1.5e9);
      player.playByItself(until_ns);
    },
    setFields(next) {
      fields = next;
      target = targetOf(next.control(targetPath));
      placePill();
    },
    get request() {
      return 0;
    },
    get moment_ns() {
      return player.time_ns;
    },
    dispose() {
      player.stop();
      room.close();
    },
  };
}

function targetOf(control: Control | undefined): Target | undefined {
  if (typeof control?.value !== "number") return undefined;
  return { node: control.value, range: [control.min ?? 0, control.max ?? 255] };
}

function nearestNode(map: ClusterMap, at: number): number {
  const away = (node: number) => Math.abs(map.x(node) - at);
  return Array.from({ length: map.nodes }, (_, node) => node).reduce(
    (best, node) => (away(node) < away(best) ? node : best),
    0,
  );
}
