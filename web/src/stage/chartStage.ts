/**
 * The stage of a case whose view is a chart. Over time, a cursor moves through the picture and the moment is told in words;
 * a chart without time stands by itself.
 */
import type { Result } from "../engine/api.ts";
import { html, observeWidth } from "../base/elements.ts";
import type { Chart, Shown } from "../charts/chart.ts";
import { isPlotLoaded, loadPlot, timeMargins } from "../charts/plot.ts";
import { clientsEndOf, endOf, groupsOf } from "../charts/rows/writePath.ts";
import type { Stage, StageOptions } from "./stage.ts";
import { transport } from "./transport.ts";

const speeds = [0.1, 0.5, 1, 2, 5, 10, 20, 50];
/** Space above and below the marks of a drawing, in pixels, for the axes and their labels. */
const axes = { top: 22, bottom: 38 } as const;
const fewestStops = 4;
const evenStops = 20;

export function chartStage(chart: Chart, { focus, onRest }: StageOptions): Stage {
  const isTimed = chart.moment !== undefined;
  let result: Result | undefined;
  const loading = loadPlot();
  const place = html("div", { class: "figure" });
  const cursor = html("div", { class: "cursor", hidden: "" });
  const frame = html("div", { class: "timeline-frame" }, place, cursor);
  const caption = html("p", { class: "moment" });
  const told = html("p", { class: "told quiet" });
  const details = html("details", { class: "table" }, html("summary", {}, "Table"));
  const time = transport({ speeds, onMove: () => move(), onRest: () => onRest?.() });
  const { player } = time;
  const element = html("div", { class: "stage timeline" }, frame);
  if (isTimed) element.append(time.element);
  const foot = html("div", { class: "stage-foot" }, ...(isTimed ? [caption] : []), told, details);

  function draw(): void {
    if (result === undefined || room.width === 0) return;
    if (!isPlotLoaded()) {
      void loading.then(draw);
      return;
    }
    place.replaceChildren(chart.draw(shown(), room.width));
    told.textContent = chart.describe?.(result, focus) ?? "";
    // The cursor is a line through the drawing, not through the words above and below it.
    const drawings = [...place.querySelectorAll<SVGSVGElement>("svg")].filter(({ clientHeight }) => clientHeight > 40);
    if (drawings.length > 0) {
      const { top } = frame.getBoundingClientRect();
      const boxes = drawings.map((drawing) => drawing.getBoundingClientRect());
      const from = Math.min(...boxes.map((box) => box.top)) - top + axes.top;
      const to = Math.max(...boxes.map((box) => box.bottom)) - top - axes.bottom;
      Object.assign(cursor.style, { top: `${from}px`, bottom: "auto", height: `${Math.max(0, to - from)}px` });
    }
    if (details.open) fillTable();
    move();
  }

  function shown(): Shown {
    return { result: result!, focus, request: 0 };
  }

  function lengthOf(run: Result): number {
    return chart.end_s?.(run) ?? endOf(run);
  }

  function move(): void {
    if (result === undefined || chart.moment === undefined) return;
    const seconds = player.time_ns / 1e9;
    const { marginLeft, marginRight } = timeMargins;
    const x = marginLeft + (seconds / Math.max(1e-9, lengthOf(result))) * (room.width - marginLeft - marginRight);
    cursor.hidden = false;
    cursor.style.transform = `translateX(${x.toFixed(1)}px)`;
    caption.textContent = chart.moment(result, seconds);
    time.show(`${seconds.toFixed(2)} seconds. ${caption.textContent}`);
  }

  function fillTable(): void {
    if (result === undefined) return;
    details.querySelector(".scroll")?.remove();
    details.append(
      html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table" }, chart.table(shown())),
    );
  }
  details.addEventListener("toggle", () => {
    if (details.open) fillTable();
  });

  const room = observeWidth(frame, () => draw());

  return {
    element,
    foot,
    show(next) {
      const isFirst = result === undefined;
      const isCut = player.isAutoplaying && !isFirst && result !== next;
      const before_ns = player.kept_ns;
      result = next;
      const end = lengthOf(next);
      player.setStops(stopsOf(next), end * 1e9);
      player.setEvents(busyOf(next));
      time.setEnd(end * 1e9);
      if (isFirst) time.setSpeedFor(end * 1e9);
      // A reader who changes something does not want to wait for the end of the opening.
      if (isCut) player.pause();
      // The same moment of both runs is what can be compared.
      if (isCut) player.moveTo(lastOf(next));
      else if (!isFirst) player.stayAt(before_ns);
      draw();
    },
    playSpan(from_ns, to_ns, _, at_ns) {
      player.playSpan(from_ns, to_ns, at_ns);
    },
    replay() {
      if (isTimed) player.replay();
    },
    autoplay() {
      if (!isTimed || result === undefined) return;
      player.playByItself(lastOf(result));
    },
    // Nothing on a chart can be dragged.
    setFields: () => undefined,
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

/** The last moment at which clients wrote, ns. */
function lastOf(result: Result): number {
  return clientsEndOf(result) * 1e9 * (1 - 1e-6);
}

/** The intervals in which requests ended or data were written: between them nothing happens. */
function busyOf(result: Result): readonly number[] {
  const { columns } = result;
  const times = Array.from(columns["series.time_ns"] ?? []);
  const work = ["series.reads", "series.writes", "zfs.written_bytes"].flatMap((name) => columns[name] ?? []);
  const step_ns = times.length > 1 ? times[1]! - times[0]! : 0;
  const busy = times.filter((_, row) => work.some((values) => (values[row] ?? 0) > 0));
  return [...new Set(busy.flatMap((time_ns) => [time_ns, time_ns + step_ns]))].toSorted((a, b) => a - b);
}

/** Return the targets of a step: the starts of syncs, or even steps if there are few. */
function stopsOf(result: Result): readonly number[] {
  const syncs = groupsOf(result).flatMap(({ sync_started_s }) =>
    sync_started_s === undefined ? [] : [sync_started_s * 1e9],
  );
  if (syncs.length >= fewestStops) return [0, ...syncs.filter((nanos) => nanos > 0)];
  const end = endOf(result) * 1e9;
  return Array.from({ length: evenStops }, (_, nth) => (nth * end) / evenStops);
}
