/**
 * The stage of a fleet: all nodes as a field, one outage after the other. Its nodes go dark, then the sets with all
 * nodes dark light up. Under the field are the losses of each outage, so that frequent small losses and rare large ones
 * look different.
 *
 * Outages take no time in the run; here each is shown for one second of real time.
 */
import type { Result } from "../engine/api.ts";
import { html, observeWidth, svg } from "../base/elements.ts";
import { fill, stroke } from "../base/colours.ts";
import { groupThousands } from "../base/format.ts";
import { keyEntry } from "../charts/legend.ts";
import { type Outage, outagesOf } from "../charts/rows/outages.ts";
import { isNarrow } from "./kit/layout.ts";
import { outage_ns as each_ns } from "./beats.ts";
import type { Stage, StageOptions } from "./stage.ts";
import { transport } from "./transport.ts";

/** Shares of its second after which all of an outage's nodes are dark, and its lost sets are shown. */
const [allDark, shown] = [0.35, 0.5];
/** A field is so many times as wide as it is high: on a wide screen, and on a narrow one. */
const shapes = { wide: 3.4, narrow: 2.4 } as const;
/** More nodes than this are not drawn each, unless they are dark. */
const mostDrawn = 20_000;
const tallyHeight = 16;

export function copysetStage({ onRest }: StageOptions): Stage {
  let result: Result | undefined;
  let outages: readonly Outage[] = [];
  let nodes = 0;
  let drawn = "";
  const field = html("div", { class: "figure" });
  const caption = html("p", { class: "moment", "aria-live": "off" });
  const key = html(
    "p",
    { class: "key" },
    keyEntry("a node that is down", "fixed"),
    keyEntry("a set with all nodes down: its data are lost", "broken"),
  );
  const note = html("p", { class: "quiet note" });
  const time = transport({
    speeds: [0.5, 1, 2, 5, 10],
    words: {
      speed: (value) =>
        value < 1 ? `an outage in ${1 / value} s` : value === 1 ? "an outage a second" : `${value} a second`,
      clock: (time_ns) => `outage ${groupThousands((outages[placeAt(time_ns)]?.number ?? 0) + 1)}`,
    },
    onMove: () => draw(),
    onRest: () => onRest?.(),
  });
  const { player } = time;
  const element = html("div", { class: "stage copysets" }, field, time.element);
  const foot = html("div", { class: "stage-foot" }, caption, key, note);

  function placeAt(time_ns: number): number {
    return Math.max(0, Math.min(outages.length - 1, Math.floor(time_ns / each_ns)));
  }

  function draw(): void {
    const { width } = room;
    if (result === undefined || width === 0) return;
    const place = placeAt(player.time_ns);
    const share = player.time_ns / each_ns - place;
    const outage = outages[place];
    const dark = outage?.dark.slice(0, Math.ceil(outage.dark.length * Math.min(1, share / allDark))) ?? [];
    const lost = share >= shown ? (outage?.lost ?? []) : [];
    // A frame in which nothing changes is not drawn.
    const next = [width, nodes, outage?.number, dark.length, lost.length, place].join();
    if (next !== drawn) field.replaceChildren(picture(width, place, dark, lost));
    drawn = next;
    caption.textContent = outage === undefined ? "No outage was recorded." : describe(outage, nodes);
    time.show(caption.textContent);
  }

  function picture(
    width: number,
    place: number,
    dark: readonly number[],
    lost: readonly (readonly number[])[],
  ): SVGSVGElement {
    const across = Math.max(1, Math.ceil(Math.sqrt(nodes * shapes[isNarrow(width) ? "narrow" : "wide"])));
    const cell = width / across;
    const tall = Math.ceil(nodes / across) * cell;
    const x = (node: number) => ((node % across) + 0.5) * cell;
    const y = (node: number) => (Math.floor(node / across) + 0.5) * cell;
    const radius = Math.max(1.6, cell * 0.42);
    const height = tall + tallyHeight + 12;
    const root = svg("svg", {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": outages[place] === undefined ? "No outage" : describe(outages[place], nodes),
    });
    if (nodes <= mostDrawn) {
      const half = Math.max(0.5, cell * 0.2);
      const dots = Array.from(
        { length: nodes },
        (_, node) => `M${(x(node) - half).toFixed(1)} ${y(node).toFixed(1)}h${(2 * half).toFixed(1)}`,
      );
      root.append(svg("path", { d: dots.join(""), class: "nodes", style: `stroke-width:${(2 * half).toFixed(1)}px` }));
    }
    for (const node of dark) root.append(svg("circle", { cx: x(node), cy: y(node), r: radius, fill: fill("fixed") }));
    for (const set of lost) {
      const corners = set.map((node) => `${x(node).toFixed(1)},${y(node).toFixed(1)}`).join(" ");
      root.append(svg("polygon", { points: corners, class: "lost-set", stroke: stroke("broken") }));
      for (const node of set) {
        root.append(svg("circle", { cx: x(node), cy: y(node), r: radius + 1.5, fill: fill("broken") }));
      }
    }
    root.append(tally(width, tall + 12, place));
    return root;
  }

  /** A box for each outage that was kept: empty, or as full as it lost sets. */
  function tally(width: number, top: number, place: number): SVGGElement {
    const most = Math.max(1, ...outages.map(({ lost }) => lost.length));
    const step = Math.min(18, width / Math.max(1, outages.length));
    const group = svg("g", { "aria-hidden": "true" });
    outages.forEach(({ lost }, nth) => {
      const left = nth * step;
      const isPast = nth < place || (nth === place && player.time_ns / each_ns - place >= shown);
      group.append(
        svg("rect", {
          x: left + 1,
          y: top,
          width: step - 2,
          height: tallyHeight,
          class: nth === place ? "box now" : "box",
        }),
      );
      if (!isPast || lost.length === 0) return;
      const high = Math.max(3, (tallyHeight * lost.length) / most);
      group.append(
        svg("rect", { x: left + 1, y: top + tallyHeight - high, width: step - 2, height: high, fill: fill("broken") }),
      );
    });
    return group;
  }

  const room = observeWidth(field, () => draw());

  return {
    element,
    foot,
    show(next) {
      const isFirst = result === undefined;
      const before_ns = player.kept_ns;
      result = next;
      outages = outagesOf(next);
      nodes = next.scenario.fleet?.nodes ?? 0;
      drawn = "";
      const inARow = outages.findIndex(({ number }, nth) => number !== nth);
      note.textContent =
        inARow < 0
          ? "The placement is the same for all outages; only the nodes that fail change."
          : `The first ${inARow} outages, then the next ${outages.length - inARow} that lost data. The placement is the same for all; only the nodes that fail change.`;
      const end = Math.max(1, outages.length) * each_ns;
      player.setStops(
        outages.map((_, nth) => nth * each_ns),
        end,
      );
      time.setEnd(end);
      if (isFirst) time.setSpeed(2);
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
      const until_ns = Math.min(8, outages.length) * each_ns - 1;
      player.playByItself(until_ns);
    },
    setFields() {
      // Nothing here can be dragged.
    },
    get request() {
      return 0;
    },
    get moment_ns() {
      return 0; // the clock here goes from outage to outage
    },
    dispose() {
      player.stop();
      room.close();
    },
  };
}

/** An outage in words. */
export function describe({ number, dark, lost }: Outage, nodes: number): string {
  const sets =
    lost.length === 0
      ? "No set of nodes is completely down."
      : `${lost.length} ${lost.length === 1 ? "set of nodes is" : "sets of nodes are"} completely down.`;
  return `Outage ${groupThousands(number + 1)}: ${dark.length} of ${groupThousands(nodes)} nodes are down. ${sets}`;
}
