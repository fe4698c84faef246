/**
 * The strip as a stage: reads and prefetches along the file, with the time scrubber under it and the end of a prefetch as a
 * handle that can be dragged.
 */
import type { Result } from "../engine/api.ts";
import type { Control } from "../engine/types.ts";
import { html, observeWidth } from "../base/elements.ts";
import { type Meaning, phases } from "../base/colours.ts";
import { formatBytes } from "../base/format.ts";
import { latencyOverview } from "../charts/latencyOverview.ts";
import { describe, prefetchStrip, readAt, rowsFor, type StripHandle } from "../charts/prefetchStrip.ts";
import { keyEntry } from "../charts/legend.ts";
import { latencyAxisEnd, readsOf } from "../charts/rows/reads.ts";
import { onDrag, sayRange } from "./drag.ts";
import { autoplayMs } from "./player.ts";
import type { Fields, Stage, StageOptions } from "./stage.ts";
import { transport } from "./transport.ts";

const chunkPath = "volume.prefetch.chunk";
const speeds = [0.02, 0.1, 0.5, 1, 5];
const overviewHeight = 34;
// Half of a range input's thumb: its travel is that much shorter on both sides.
const thumbRadius = 8;

export function stripStage({ focus: { job }, onRest }: StageOptions): Stage {
  let result: Result | undefined;
  let latencyMax = 1;
  let lastRequest = -1;
  let fields: Fields | undefined;
  let chunk: Control | undefined;
  let frozenAhead: number | undefined;
  let handle: StripHandle | undefined;

  const frame = html("div", { class: "strip-frame" });
  const grip = html("div", { class: "grip", role: "slider", tabindex: 0, "aria-label": "Prefetch chunk", hidden: "" });
  frame.append(grip);
  const caption = html("p", { class: "moment" });
  const overview = html("div", { class: "overview-frame" });
  const time = transport({ speeds, above: overview, onMove: () => draw(), onRest: () => rest() });
  const { player } = time;
  const key = html("p", { class: "key" });
  const element = html("div", { class: "stage" }, frame, time.element);
  const foot = html("div", { class: "stage-foot" }, key, caption);

  function reads() {
    return result === undefined ? [] : readsOf(result, job);
  }

  function draw(): void {
    if (result === undefined || room.width === 0) return;
    const now = player.time_ns;
    const strip = prefetchStrip(result, {
      job,
      time_ns: now,
      width: room.width,
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
    caption.textContent = describe(list, index, now, readsOf(result, job, "write"));
    if (!player.isPlaying && index !== lastRequest) rest();
  }

  // The rest of the page follows when the moment rests, not on every frame.
  function rest(): void {
    lastRequest = readAt(reads(), player.time_ns);
    onRest?.();
  }

  function drawOverview(): void {
    if (result === undefined || room.width === 0) return;
    overview.replaceChildren(
      latencyOverview(result, {
        job,
        width: Math.max(40, overview.clientWidth || room.width - 2 * thumbRadius),
        height: overviewHeight,
        latency_max_ns: latencyMax,
      }),
    );
  }

  /** Draw the key: the colours of the phases that occur, named once for each paint. */
  function drawKey(): void {
    const words = new Map<Meaning, string[]>();
    phases.forEach(({ label, meaning }, at) => {
      if (reads().some(({ phase_ns }) => phase_ns[at]! > 0)) words.set(meaning, [...(words.get(meaning) ?? []), label]);
    });
    key.replaceChildren(...[...words].map(([meaning, labels]) => keyEntry(labels.join(", "), meaning)));
  }

  function placeGrip(): void {
    grip.hidden = handle === undefined || chunk === undefined;
    if (handle === undefined || chunk === undefined) return;
    grip.style.transform = `translate(${handle.x}px, ${handle.y}px)`;
    grip.style.height = `${handle.height}px`;
    sayRange(grip, handle.bytes, rangeOf(chunk), formatBytes(handle.bytes));
  }

  onDrag(grip, {
    page: 4,
    begin() {
      if (handle === undefined || chunk === undefined || result === undefined) return undefined;
      grip.classList.add("used");
      player.pause();
      // The scale must not change under the pointer.
      const { start_x, pixels_per_byte } = handle;
      frozenAhead = prefetchStrip(result, {
        job,
        time_ns: player.time_ns,
        width: room.width,
        latency_max_ns: latencyMax,
      }).ahead_bytes;
      const left = frame.getBoundingClientRect().left;
      const control = chunk;
      let last = handle.bytes;
      return {
        move(x) {
          const bytes = nearestChunk(control, (x - left - start_x) / pixels_per_byte);
          if (bytes === last) return;
          last = bytes;
          fields?.onInput({ [chunkPath]: bytes });
        },
        end() {
          frozenAhead = undefined;
          fields?.onChange({ [chunkPath]: last });
          draw();
        },
      };
    },
    step(steps) {
      if (handle === undefined || chunk === undefined) return;
      const bytes = nearestChunk(chunk, handle.bytes + steps * (chunk.step ?? smallestChunk));
      fields?.onChange({ [chunkPath]: bytes });
    },
  });

  const room = observeWidth(frame, () => {
    drawOverview();
    draw();
  });

  return {
    element,
    foot,
    show(next, reference = next) {
      // A reader who changes something does not want to wait for the end of the opening.
      const isCut = player.isAutoplaying && result !== undefined && result !== next;
      result = next;
      latencyMax = latencyAxisEnd(job, [...new Set([reference, next])]);
      const list = reads();
      const last = list.at(-1);
      const end = last === undefined ? 0 : last.submit_ns + last.latency_ns;
      player.setStops(
        list.map((read) => read.submit_ns),
        end,
      );
      time.setEnd(end);
      if (isCut) {
        player.pause();
        player.moveTo(player.endOf(rowsFor(room.width) - 1));
      }
      drawKey();
      drawOverview();
      draw();
    },
    playSpan(from_ns, to_ns, _, at_ns) {
      player.playSpan(from_ns, to_ns, at_ns);
    },
    replay() {
      player.replay();
    },
    autoplay() {
      player.play(autoplayMs, player.endOf(rowsFor(room.width) - 1));
    },
    setFields(next) {
      fields = next;
      chunk = next.control(chunkPath);
      placeGrip();
    },
    get request() {
      return readAt(reads(), player.time_ns);
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

const smallestChunk = 4096;

function rangeOf({ min, max }: Control): readonly [number, number] {
  return [min ?? smallestChunk, max ?? 2 ** 28];
}

function nearestChunk(control: Control, bytes: number): number {
  const [min, max] = rangeOf(control);
  const step = control.step ?? smallestChunk;
  return Math.max(min, Math.min(max, Math.round(bytes / step) * step));
}
