/** The controls of time under a stage: play, step, speed, a clock, and the scrubber with something above it. */
import { autoplayMs, Player } from "./player.ts";
import { stepsOfKey } from "../base/keys.ts";
import { html } from "../base/elements.ts";
import { formatClock, groupThousands } from "../base/format.ts";

/** From this length on, in seconds, moments are told as on a clock: hours, minutes and seconds. */
const longRun_s = 600;

export interface TransportOptions {
  /** Simulated seconds for each second of the reader that can be chosen. */
  readonly speeds: readonly number[];
  /** Labels of a speed and a moment, if they are not simulated time. */
  readonly words?: { readonly speed: (value: number) => string; readonly clock: (time_ns: number) => string };
  /** Content above the scrubber, as wide as the travel of its thumb. */
  readonly above?: HTMLElement;
  readonly onMove: () => void;
  /** Called when playing stops. */
  readonly onRest: () => void;
}

export interface Transport {
  readonly element: HTMLElement;
  readonly player: Player;
  /** Chooses the slowest speed at which a run of this length is over by the time that something may move by itself. */
  setSpeedFor(end_ns: number): void;
  /** The end of what is played, and the moment at which it begins. */
  setEnd(end_ns: number, base_ns?: number): void;
  /** Chooses the nearest of the speeds that is not faster. */
  setSpeed(speed: number): void;
  /** Whether the reader has chosen a speed. */
  readonly isSpeedChosen: boolean;
  /** Shows the player's moment; `words` say it. */
  show(words: string): void;
}

export function transport(options: TransportOptions): Transport {
  const { speeds, words: own, above, onMove, onRest } = options;
  const range = html("input", {
    type: "range",
    class: "scrubber",
    min: 0,
    max: 1,
    step: "any",
    "aria-label": "Moment",
  });
  const play = button("Play", "play");
  const back = button("Back", "back");
  const forward = button("Next", "forward");
  const speed = html("select", { "aria-label": "Speed" });
  for (const value of speeds) {
    speed.append(
      html(
        "option",
        { value },
        own?.speed(value) ??
          (value === 1
            ? "real time"
            : value < 1
              ? `1/${groupThousands(Math.round(1 / value))}×`
              : `${groupThousands(value)}×`),
      ),
    );
  }
  let base_ns = 0;
  let digits = 3;
  const clock = html("output", { class: "clock" });
  const scrub = html("div", { class: "scrub" }, ...(above === undefined ? [] : [above]), range);
  const element = html(
    "div",
    { class: "transport", role: "group", "aria-label": "Time" },
    html("div", { class: "buttons" }, play, back, forward, speed, clock),
    scrub,
  );

  const player = new Player({
    onMove,
    onState: (isPlaying) => {
      play.textContent = isPlaying ? "Pause" : "Play";
      if (!isPlaying) onRest();
    },
  });
  speed.value = String(player.speed);

  range.addEventListener("input", () => {
    player.pause();
    player.moveTo(range.valueAsNumber);
  });
  range.addEventListener("keydown", (event) => {
    const ends: Record<string, number> = { Home: -1e9, End: 1e9 };
    const by = stepsOfKey(event.key) ?? ends[event.key];
    if (by !== undefined) {
      event.preventDefault();
      player.step(by);
    } else if (event.key === " ") {
      event.preventDefault();
      player.toggle();
    }
  });
  play.addEventListener("click", () => player.toggle());
  back.addEventListener("click", () => player.step(-1));
  forward.addEventListener("click", () => player.step(1));
  let isSpeedChosen = false;
  speed.addEventListener("change", () => {
    isSpeedChosen = true;
    player.speed = Number(speed.value);
  });

  return {
    element,
    player,
    get isSpeedChosen() {
      return isSpeedChosen;
    },
    setSpeedFor(end_ns) {
      const end_s = end_ns / 1e9;
      player.speed = speeds.find((value) => end_s / value <= autoplayMs / 1000) ?? speeds.at(-1)!;
      speed.value = String(player.speed);
    },
    setEnd(end_ns, base = 0) {
      range.max = String(end_ns);
      base_ns = base;
      // A window of milliseconds needs microseconds to be told apart.
      digits = Math.max(3, Math.min(9, Math.ceil(3 - Math.log10(Math.max(1, end_ns) / 1e9))));
    },
    setSpeed(wanted) {
      player.speed = speeds.findLast((value) => value <= wanted) ?? speeds[0]!;
      speed.value = String(player.speed);
    },
    show(words) {
      range.value = String(player.time_ns);
      range.setAttribute("aria-valuetext", words);
      const time_s = (base_ns + player.time_ns) / 1e9;
      const isLong = Number(range.max) / 1e9 >= longRun_s;
      clock.classList.toggle("racing", player.isRacing);
      clock.textContent = own?.clock(player.time_ns) ?? (isLong ? formatClock(time_s) : `${time_s.toFixed(digits)} s`);
    },
  };
}

function button(words: string, name: string): HTMLButtonElement {
  return html("button", { type: "button", class: name === "play" ? name : `quiet ${name}` }, words);
}
