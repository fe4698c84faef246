/**
 * A scene as a stage: what the engine recorded, played by a clock, with a request that can be followed, and a second run beside
 * it on the same clock.
 *
 * Play moves simulated time at a fraction of real time; actors glide to where they belong. With reduced motion they step. A click
 * or a tap on an actor follows it; the buttons under the picture do the same by keyboard.
 */
import type { Result } from "../engine/api.ts";
import { journeysOf, type Journeys, markNames } from "../engine/journeys.ts";
import { html, observeWidth, svg } from "../base/elements.ts";
import { fill } from "../base/colours.ts";
import { counted, formatNanos } from "../base/format.ts";
import { keyEntry } from "../charts/legend.ts";
import { clientsEndOf } from "../charts/rows/writePath.ts";
import { painter } from "./painter.ts";
import type { Built, Scene } from "./scenes/scene.ts";
import { followWords, labelOf, meaningOf, nameOf, requestWords } from "./scenes/words.ts";
import { isNarrow } from "./kit/layout.ts";
import type { Box } from "./kit/picture.ts";
import type { Beside, Stage, StageOptions } from "./stage.ts";
import { transport } from "./transport.ts";

const speeds = [
  1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 200, 500, 1000, 3000, 10_000, 30_000, 100_000,
  300_000,
];
/** How near a click must be to an actor, in pixels. */
const reach = 16;
/** Actors go this share of the way to their place in a 60th of a second. */
const glide = 0.28;
/** While it plays, the words under the picture follow so often. */
const toldEveryMs = 250;
const wideEnoughForTwo = 760;
const gap = 20;
/** A picture on a narrow screen is at most so high, and drawn smaller for it, but not below this scale. */
const [mostNarrow_px, leastScale] = [308, 0.8] as const;

interface Panel {
  readonly element: HTMLElement;
  readonly title: HTMLElement;
  readonly frame: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  readonly words: HTMLElement;
  /** What a step looks at: the rest is dimmed. */
  readonly spot: HTMLElement;
  scale: number;
  result?: Result;
  journeys?: Journeys;
  built?: Built;
  followed: number;
  readonly actors: { row: number; x: number; y: number }[];
}

/** In place of the life of a request, when there is none to follow. */
export const noRequest = "No request of the workers starts here.";

export function sceneStage(scene: Scene, { focus, onRest }: StageOptions): Stage {
  const panels: [Panel, Panel] = [panelOf(scene), panelOf(scene)];
  const stageFrame = html("div", { class: "scenes" }, panels[1].element, panels[0].element);
  const key = html("p", { class: "key" });
  const note = html("p", { class: "quiet note" });
  const life = html("div", { class: "life" });
  const lifeWords = html("p", { class: "moment", "aria-live": "off" });
  const slowest = html("button", { type: "button", class: "quiet" }, "Follow the slowest");
  const earlier = html("button", { type: "button", class: "quiet" }, "Earlier request");
  const later = html("button", { type: "button", class: "quiet" }, "Later request");
  const follow = html(
    "div",
    { class: "follow", role: "group", "aria-label": "The followed request" },
    html("div", { class: "follow-buttons" }, slowest, earlier, later),
    lifeWords,
    life,
  );
  const details = html("details", { class: "table" }, html("summary", {}, "Table"));
  const time = transport({ speeds, onMove: () => draw(), onRest: () => rest() });
  const { player } = time;
  const moments = html("div", { class: "moments" }, panels[1].words, panels[0].words);
  const element = html("div", { class: "stage scene" }, stageFrame, time.element);
  const foot = html("div", { class: "stage-foot" }, key, moments, note, follow, details);
  element.dataset.scene = scene.name;
  const paint = painter(element);
  let beside: Beside | undefined;
  let spot: readonly string[] | undefined;
  /** Whether the reader has chosen the request that is followed. */
  let isChosen = false;
  let base_ns = 0;
  let last_ms = 0;
  let drawn_ns = -1;
  let told_ms = Number.NEGATIVE_INFINITY;

  function each(see: (panel: Panel) => void): void {
    for (const panel of panels) if (panel.built !== undefined) see(panel);
  }

  function rebuild(): void {
    const { width } = room;
    const own = panels[0];
    if (own.result === undefined || width === 0) return;
    const isPair = beside !== undefined;
    const each_px = isPair && width >= wideEnoughForTwo ? Math.floor((width - gap) / 2) : width;
    stageFrame.classList.toggle("pair", isPair && width >= wideEnoughForTwo);
    moments.classList.toggle("pair", isPair && width >= wideEnoughForTwo);
    panels[1].words.hidden = !isPair;
    const runs = isPair ? [own.result, beside!.result] : [own.result];
    build(own, own.result, each_px, isPair ? beside!.own : undefined, runs[1]);
    panels[1].element.hidden = !isPair;
    if (isPair) build(panels[1], beside!.result, each_px, beside!.label, runs[0]);
    else delete panels[1].built;
    key.replaceChildren(...(own.built?.key ?? []).map(([meaning, words]) => keyEntry(words, meaning)));
    note.textContent = own.built?.note ?? "";
    setTime();
    drawn_ns = -1;
    pointOut();
    draw();
  }

  function build(
    panel: Panel,
    result: Result,
    width: number,
    title: string | undefined,
    other: Result | undefined,
  ): void {
    panel.result = result;
    panel.journeys = journeysOf(result);
    panel.title.textContent = title ?? "";
    panel.title.hidden = title === undefined;
    const input = { result, journeys: panel.journeys, focus, other };
    panel.built = scene.build({ ...input, width });
    panel.scale = isNarrow(width) ? Math.max(leastScale, Math.min(1, mostNarrow_px / panel.built.height)) : 1;
    const drawn_px = Math.round(width / panel.scale);
    if (panel.scale < 1) panel.built = scene.build({ ...input, width: drawn_px });
    const { height, backdrop } = panel.built;
    panel.frame.replaceChildren(backdrop, panel.canvas, panel.spot);
    panel.frame.style.height = `${Math.round(height * panel.scale)}px`;
    panel.frame.style.setProperty("--scale", String(panel.scale));
    const ratio = Math.min(2, devicePixelRatio || 1);
    panel.canvas.width = Math.round(drawn_px * ratio);
    panel.canvas.height = Math.round(height * ratio);
    panel.canvas.style.width = `${drawn_px}px`;
    panel.canvas.style.height = `${height}px`;
    panel.canvas.getContext("2d")?.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  /** The time that is played: the run, or the window in which the journeys of the workers' requests lie. */
  function setTime(): void {
    const own = panels[0];
    if (own.result === undefined || own.journeys === undefined || own.built === undefined) return;
    const results = beside === undefined ? [own.result] : [own.result, beside.result];
    if (scene.playsRun) {
      base_ns = 0;
      const end = Math.max(...results.map((result) => result.summary.simulated_ns));
      const input = { result: own.result, journeys: own.journeys, focus, width: room.width };
      player.setStops(scene.stops?.(input) ?? even(end), end);
      time.setEnd(end);
    } else {
      // A run that is over before the window has nothing to say about it.
      const found = results.map((result) => windowOf(journeysOf(result))).filter((window) => window !== undefined);
      const windows = found.length === 0 ? [own.journeys.window] : found;
      base_ns = Math.min(...windows.map(([from]) => from));
      const end = Math.max(1, Math.max(...windows.map(([, to]) => to)) - base_ns);
      player.setStops(stopsOf(own.journeys, base_ns), end);
      if (scene.isStillBetweenEvents === true) player.setEvents(eventsOf(results.map(journeysOf), base_ns));
      time.setEnd(end, base_ns);
    }
  }

  /** Dims all but what the step looks at. A pair is looked at as a whole. */
  function pointOut(): void {
    const [{ built, spot: place }] = panels;
    const places = beside === undefined ? (spot ?? []).flatMap((name) => built?.places?.[name] ?? []) : [];
    place.replaceChildren(...(built === undefined || places.length === 0 ? [] : [spotOf(built, places)]));
  }

  function draw(): void {
    const now_ms = performance.now();
    const passed = Math.min(100, now_ms - last_ms);
    last_ms = now_ms;
    const time_ns = base_ns + player.time_ns;
    const isJump = drawn_ns < 0 || time_ns < drawn_ns || !player.isPlaying;
    drawn_ns = time_ns;
    const ease = isJump ? 1 : 1 - (1 - glide) ** (passed / 16.7);
    let actors = 0;
    // Words that change with every frame cannot be read.
    const isTold = !player.isPlaying || now_ms - told_ms >= toldEveryMs;
    each((panel) => {
      const context = panel.canvas.getContext("2d");
      if (context === null) return;
      context.clearRect(0, 0, panel.canvas.width, panel.canvas.height);
      panel.actors.length = 0;
      actors += panel.built!.draw({
        context,
        time_ns,
        ease,
        speed: player.speed,
        followed: panel.followed,
        paint: paint.of,
        actor: (row, x, y) => panel.actors.push({ row, x, y }),
      });
      if (isTold) panel.words.textContent = panel.built!.describe(time_ns);
    });
    if (isTold) told_ms = now_ms;
    time.show(`${((base_ns + player.time_ns) / 1e9).toFixed(6)} seconds, ${counted(actors, "request")} in flight`);
    showLife(time_ns);
  }

  function rest(): void {
    draw();
    if (details.open) fillTable();
    onRest?.();
  }

  /** The bar of phases that grows under the followed request. */
  let lifeOf = -2;
  let lifeClip: SVGRectElement | undefined;
  function showLife(time_ns: number): void {
    const { journeys, result } = panels[0];
    follow.hidden = scene.isFlow === true || journeys === undefined || journeys.count === 0;
    if (journeys === undefined || result === undefined) return;
    if (!isChosen) panels[0].followed = worthFollowing(journeys, panels[0].followed, time_ns);
    const { followed } = panels[0];
    if (followed < 0) {
      lifeWords.textContent = noRequest;
      life.replaceChildren();
      lifeOf = followed;
      return;
    }
    lifeWords.textContent = followWords(result, journeys, followed, time_ns);
    const begin = journeys.begin_ns[followed]!;
    const whole = Math.max(1, journeys.lastOf(followed) - begin);
    if (lifeOf !== followed) {
      lifeOf = followed;
      lifeClip = drawLife(journeys, followed, begin, whole);
    }
    const share = Math.max(0, Math.min(1, (time_ns - begin) / whole));
    lifeClip?.setAttribute("width", (share * 1000).toFixed(2));
  }

  function drawLife(journeys: Journeys, row: number, begin: number, whole: number): SVGRectElement {
    const clip = svg("rect", { x: 0, y: 0, width: 0, height: 18 });
    const bars = () =>
      journeys.life(row).map((stay) => {
        const words = `${labelOf(stay.phase)}, ${nameOf(stay.layer)}: ${formatNanos(stay.to_ns - stay.from_ns)}`;
        const x = ((stay.from_ns - begin) / whole) * 1000;
        const width = ((stay.to_ns - stay.from_ns) / whole) * 1000;
        return svg("rect", { x, y: 0, width, height: 18, fill: fill(meaningOf(stay.phase)) }, svg("title", {}, words));
      });
    const id = `seeklab-life-${nextId++}`;
    life.replaceChildren(
      svg(
        "svg",
        {
          viewBox: "0 0 1000 18",
          preserveAspectRatio: "none",
          class: "life-bar",
          role: "img",
          "aria-label": lifeLabel(journeys, row),
        },
        svg("clipPath", { id }, clip),
        svg("g", { class: "life-whole" }, ...bars()),
        svg("g", { "clip-path": `url(#${id})` }, ...bars()),
      ),
    );
    return clip;
  }

  function followRow(panel: Panel, row: number): void {
    panel.followed = row;
    isChosen = true;
    lifeOf = -2;
    draw();
  }

  /** Follows another request of the workers by the order of their begin, and goes to where it begins. */
  function followNext(by: number): void {
    const own = panels[0];
    const { journeys } = own;
    if (journeys === undefined || journeys.count === 0) return;
    let row = own.followed;
    do row += by;
    while (row >= 0 && row < journeys.count && !isRoot(journeys, row));
    if (row < 0 || row >= journeys.count) return;
    goTo(row);
  }

  function goTo(row: number): void {
    const { journeys } = panels[0];
    if (journeys === undefined || row < 0) return;
    player.pause();
    panels[0].followed = row;
    isChosen = true;
    lifeOf = -2;
    player.moveTo(journeys.begin_ns[row]! - base_ns);
  }

  // A reader who takes the clock in hand looks at all of it.
  for (const kind of ["pointerdown", "keydown"] as const)
    time.element.addEventListener(kind, () => {
      spot = undefined;
      pointOut();
    });
  slowest.addEventListener("click", () => goTo(panels[0].journeys === undefined ? -1 : slowestOf(panels[0].journeys)));
  earlier.addEventListener("click", () => followNext(-1));
  later.addEventListener("click", () => followNext(1));
  for (const panel of panels) {
    panel.frame.addEventListener("click", (event) => {
      const box = panel.canvas.getBoundingClientRect();
      const [x, y] = [(event.clientX - box.left) / panel.scale, (event.clientY - box.top) / panel.scale];
      const away = (actor: { x: number; y: number }) => Math.hypot(actor.x - x, actor.y - y);
      const nearest = panel.actors.reduce<Panel["actors"][number] | undefined>(
        (best, actor) => (best === undefined || away(actor) < away(best) ? actor : best),
        undefined,
      );
      if (nearest === undefined || away(nearest) > reach || panel.journeys === undefined) return;
      followRow(panel, panel.journeys.rootOf(nearest.row));
    });
  }
  details.addEventListener("toggle", () => {
    if (details.open) fillTable();
  });

  function fillTable(): void {
    const { journeys, followed } = panels[0];
    details.querySelector(".scroll")?.remove();
    if (journeys === undefined || followed < 0) return;
    const rows = journeys
      .life(followed)
      .map((stay) =>
        html(
          "tr",
          {},
          html("th", { scope: "row" }, nameOf(stay.layer)),
          html("td", {}, labelOf(stay.phase)),
          html("td", {}, formatNanos(stay.from_ns - journeys.begin_ns[followed]!)),
          html("td", {}, formatNanos(stay.to_ns - stay.from_ns)),
        ),
      );
    const head = ["Where", "What", "After", "For"].map((word) => html("th", { scope: "col" }, word));
    const table = html(
      "table",
      {},
      html("caption", {}, `The life of a ${requestWords(journeys, followed)}`),
      html("thead", {}, html("tr", {}, ...head)),
      html("tbody", {}, ...rows),
    );
    details.append(html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table" }, table));
  }

  const room = observeWidth(stageFrame, () => rebuild());

  return {
    element,
    foot,
    show(result) {
      const own = panels[0];
      const isFirst = own.result === undefined;
      const isCut = player.isAutoplaying && !isFirst && own.result !== result;
      const before_ns = player.kept_ns;
      if (isCut) player.pause(); // draws once more what has played
      own.result = result;
      const journeys = journeysOf(result);
      own.followed = slowestOf(journeys);
      isChosen = false;
      lifeOf = -2;
      rebuild();
      if (!time.isSpeedChosen) time.setSpeed(speedFor(scene, result, journeys, own.built));
      if (!isFirst) player.stayAt(before_ns);
      if (details.open) fillTable();
    },
    beside(other) {
      const isSame = other?.result === beside?.result && other?.label === beside?.label && other?.own === beside?.own;
      beside = other;
      if (isSame) return;
      if (other !== undefined) panels[1].followed = slowestOf(journeysOf(other.result));
      rebuild();
    },
    playSpan(from_ns, to_ns, next, at_ns = from_ns) {
      spot = next;
      pointOut();
      player.playSpan(from_ns - base_ns, to_ns - base_ns, at_ns - base_ns);
    },
    get places() {
      return Object.keys(panels[0].built?.places ?? {});
    },
    replay() {
      player.replay();
    },
    autoplay() {
      const { result } = panels[0];
      if (result === undefined) return;
      const until_ns = scene.playsRun ? clientsEndOf(result) * 1e9 * (1 - 1e-6) : Number.POSITIVE_INFINITY;
      // In the middle there are requests in flight.
      player.playByItself(until_ns, player.end_ns / 2);
    },
    setFields: () => undefined,
    get request() {
      return 0;
    },
    get moment_ns() {
      return base_ns + player.time_ns;
    },
    dispose() {
      player.stop();
      paint.close();
      room.close();
    },
  };
}

let nextId = 1;

function panelOf(scene: Scene): Panel {
  const title = html("p", { class: "scene-title", hidden: "" });
  const canvas = html("canvas", {
    class: "actors",
    role: "img",
    "aria-label": `${scene.title}; the text below describes it`,
  });
  const frame = html("div", { class: "scene-frame" });
  const words = html("p", { class: "moment scene-words" });
  return {
    element: html("div", { class: "scene-panel" }, title, frame),
    title,
    frame,
    canvas,
    words,
    spot: html("div", { class: "spot", "aria-hidden": "true" }),
    scale: 1,
    followed: -1,
    actors: [],
  };
}

/** The dimmed rest of a picture. */
function spotOf({ height, backdrop }: Built, places: readonly Box[]): SVGSVGElement {
  const width = Number(backdrop.getAttribute("width"));
  // Places may overlap, so they are taken away one by one.
  const id = `seeklab-spot-${nextId++}`;
  const holes = places.map(({ x, y, width: wide, height: tall }) =>
    svg("rect", { x, y, width: wide, height: tall, fill: "#000" }),
  );
  return svg(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}` },
    svg("mask", { id }, svg("rect", { width, height, fill: "#fff" }), ...holes),
    svg("rect", { width, height, mask: `url(#${id})`, class: "dim" }),
  );
}

function isRoot(journeys: Journeys, row: number): boolean {
  return journeys.parent[row]! < 0 && journeys.owner[row] === 0;
}

function slowestOf(journeys: Journeys): number {
  let [best, most] = [-1, -1];
  for (let row = 0; row < journeys.count; row++) {
    const took = journeys.lastOf(row) - journeys.begin_ns[row]!;
    if (isRoot(journeys, row) && took > most) [best, most] = [row, took];
  }
  return best;
}

/** Return the followed request while it is in flight, else the one in flight that takes longest. */
function worthFollowing(journeys: Journeys, followed: number, time_ns: number): number {
  const isUnderWay = (row: number) => journeys.begin_ns[row]! <= time_ns && time_ns < journeys.lastOf(row);
  if (followed >= 0 && isUnderWay(followed)) return followed;
  let [best, most] = [followed, 0];
  journeys.each(time_ns, (row) => {
    const took = journeys.lastOf(row) - journeys.begin_ns[row]!;
    if (isRoot(journeys, row) && took > most) [best, most] = [row, took];
  });
  return best;
}

/** From the first begin to the last end of the workers' requests, if there are any; what goes on in the background may last much longer. */
function windowOf(journeys: Journeys): readonly [number, number] | undefined {
  let [from, to] = [Infinity, 0];
  for (let row = 0; row < journeys.count; row++) {
    if (!isRoot(journeys, row)) continue;
    from = Math.min(from, journeys.begin_ns[row]!);
    to = Math.max(to, journeys.lastOf(row));
  }
  return from < to ? [from, to] : undefined;
}

function stopsOf(journeys: Journeys, base_ns: number): readonly number[] {
  const begins = new Set<number>();
  for (let row = 0; row < journeys.count; row++)
    if (isRoot(journeys, row)) begins.add(journeys.begin_ns[row]! - base_ns);
  return [...begins].toSorted((a, b) => a - b);
}

/** Every moment at which something begins, ends or is marked. */
function eventsOf(runs: readonly Journeys[], base_ns: number): Float64Array {
  const lists = runs.flatMap((journeys) => [
    journeys.from_ns,
    journeys.to_ns,
    ...markNames.map((name) => journeys.marks(name).time_ns),
  ]);
  const times = new Float64Array(lists.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const list of lists) {
    times.set(list, at);
    at += list.length;
  }
  return times.map((time_ns) => time_ns - base_ns).sort();
}

function even(end_ns: number): readonly number[] {
  return Array.from({ length: 60 }, (_, nth) => (nth * end_ns) / 60);
}

/** A run is over in a time that one likes to wait; of a window, the median request takes about a second. */
function speedFor(scene: Scene, result: Result, journeys: Journeys, built: Built | undefined): number {
  if (built?.pace_ns !== undefined) return built.pace_ns / 1e9;
  if (scene.playsRun) return result.summary.simulated_ns / 1e9 / 15;
  const took = stopsOf(journeys, 0).length === 0 ? [1e9] : [];
  for (let row = 0; row < journeys.count; row++) {
    if (isRoot(journeys, row)) took.push(journeys.lastOf(row) - journeys.begin_ns[row]!);
  }
  took.sort((a, b) => a - b);
  return took[took.length >> 1]! / 1e9 / 1.2;
}

function lifeLabel(journeys: Journeys, row: number): string {
  const parts = journeys.life(row).map((stay) => `${labelOf(stay.phase)} ${formatNanos(stay.to_ns - stay.from_ns)}`);
  return `Phases of the followed request: ${parts.join(", ")}`;
}
