/** Sliders and selects, built from what the engine says about a field: label, help, unit, range, step and scale. */
import type { Changes, Control, Value } from "../engine/types.ts";
import { formatSetting, formatValue, gap, groupThousands } from "../base/format.ts";
import { html } from "../base/elements.ts";
import { examplesOf, parseSetting } from "../base/parse.ts";

export interface ControlsOptions {
  readonly controls: readonly Control[];
  readonly target: ValueTarget;
}

/** Takes the values that the reader sets. */
export interface ValueTarget {
  /** `isSettled` is false while a slider moves, and true when the reader lets go. */
  setValues(values: Changes, isSettled: boolean): void;
}

export interface Controls {
  readonly element: HTMLElement;
  /** Moves a control without informing the target. */
  set(path: string, value: Value): void;
}

interface Field {
  readonly element: HTMLElement;
  set(value: Value): void;
}

let nextId = 1;

export function controls(options: ControlsOptions): Controls {
  const element = html("div", { class: "controls" });
  const fields = new Map<string, Field>();
  for (const control of options.controls) {
    const field = isNumeric(control) ? slider(control, options) : select(control, options);
    fields.set(control.path, field);
    element.append(field.element);
  }
  return {
    element,
    set(path, value) {
      fields.get(path)?.set(value);
    },
  };
}

function isNumeric(control: Control): boolean {
  if (control.choices != null) return false;
  // A field that is left to the version or preset has no value of its own yet, but a range.
  return typeof control.value === "number" || (control.value === null && control.min != null && control.max != null);
}

/**
 * Where a value lies on the slider, and back. A logarithmic slider moves in equal ratios: sizes that begin at a power of two
 * in powers of two, everything else in eight stops for each doubling, rounded to the field's step.
 */
export function sliderScale(control: Control): {
  readonly min: number;
  readonly max: number;
  readonly step: number;
  toPosition(value: number): number;
  toValue(position: number): number;
} {
  const low = control.min ?? 0;
  const high = Math.max(control.max ?? 2 * Number(control.value), low + 1e-9);
  const isReal = control.format === "double";
  const isWhole = !isReal && (control.format != null || Number.isInteger(Number(control.value)));
  if (control.scale === "log2" && high > 0) {
    const stops = logStops(control, { low, high, isWhole });
    return {
      min: 0,
      max: stops.length - 1,
      step: 1,
      toPosition: (value) => nearest(stops, value),
      toValue: (position) => stops[position]!,
    };
  }
  const step = control.step ?? stepFor(high - low, isWhole);
  return {
    min: 0,
    max: Math.ceil((high - low) / step),
    step: 1,
    toPosition: (value) => Math.round((value - low) / step),
    // Round numbers on the way, whatever the ends are.
    toValue: (position) =>
      Number(Math.max(low, Math.min(high, Math.round((low + position * step) / step) * step)).toPrecision(12)),
  };
}

const stopsPerDoubling = 8;

function logStops(
  { unit, step }: Control,
  { low, high, isWhole }: { readonly low: number; readonly high: number; readonly isWhole: boolean },
): readonly number[] {
  const bottom = Math.max(low, step ?? (isWhole ? 1 : 1e-3));
  const isPowers = unit === "B" && step == null && Number.isInteger(Math.log2(bottom));
  const each = isPowers ? 1 : stopsPerDoubling;
  const many = Math.ceil(Math.log2(high / bottom) * each);
  const rounded = (value: number) => {
    if (step != null) return Math.round(value / step) * step;
    if (isPowers) return value;
    const digits = Number(value.toPrecision(value < 100 ? 2 : 3));
    return isWhole ? Math.round(digits) : digits;
  };
  const between = Array.from({ length: many }, (_, nth) => rounded(bottom * 2 ** (nth / each)));
  const inside = between.filter((value) => value > low && value < high);
  return [...new Set([Math.max(low, isWhole ? 1 : low), ...inside, high])];
}

/** The place of the stop with the smallest ratio to a value. */
function nearest(stops: readonly number[], value: number): number {
  const away = (stop: number) => Math.abs(Math.log(stop / value));
  return stops.reduce((best, stop, nth) => (away(stop) < away(stops[best]!) ? nth : best), 0);
}

function stepFor(span: number, isWhole: boolean): number {
  const step = 10 ** Math.floor(Math.log10(span / 100));
  return isWhole ? Math.max(1, Math.round(step)) : step;
}

function slider(control: Control, { target }: ControlsOptions): Field {
  const scale = sliderScale(control);
  const id = `control-${nextId++}`;
  const input = html("input", { type: "range", id, min: scale.min, max: scale.max, step: scale.step });
  const typed = html("input", {
    type: "text",
    class: "value",
    "aria-label": `${control.title}, value`,
    autocomplete: "off",
    spellcheck: "false",
    enterkeyhint: "done",
  });
  let words = "";
  const value = () => scale.toValue(input.valueAsNumber);
  const say = (next: string) => {
    words = next;
    typed.value = next;
    typed.size = Math.max(4, next.length);
    typed.setCustomValidity("");
    input.setAttribute("aria-valuetext", next);
  };
  const show = (shown: number) => say(wordsFor(control, shown));
  const set = (next: Value) => {
    if (next === null) {
      input.valueAsNumber = Math.round(scale.max / 2);
      say("default");
      return;
    }
    input.valueAsNumber = scale.toPosition(Number(next));
    show(Number(next));
  };
  input.addEventListener("input", () => {
    show(value());
    target.setValues({ [control.path]: value() }, false);
  });
  input.addEventListener("change", () => {
    const chosen = value();
    // The slider goes to the place of the rounded value.
    set(chosen);
    target.setValues({ [control.path]: chosen }, true);
  });
  typed.addEventListener("focus", () => typed.select());
  typed.addEventListener("input", () => typed.setCustomValidity(""));
  typed.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    say(words);
    typed.blur();
  });
  typed.addEventListener("change", () => {
    const parsed = parseSetting(typed.value, control.unit);
    if (parsed === undefined) {
      typed.setCustomValidity(`"${typed.value}" is not a value with a unit; ${examplesOf(control.unit)}`);
      typed.reportValidity();
      return;
    }
    set(parsed);
    target.setValues({ [control.path]: parsed }, true);
  });
  set(control.value);
  const label = html("label", { for: id, title: control.help }, control.title);
  return {
    element: html("div", { class: "control" }, html("div", { class: "control-head" }, label, typed), input),
    set,
  };
}

/** Units with whole numbers only. */
const counted: ReadonlySet<string> = new Set(["packets", "rpm"]);

function wordsFor({ unit, step }: Control, value: number): string {
  // A count has no unit but that of what is counted.
  if (unit == null && Number.isInteger(value)) return groupThousands(value);
  if (unit != null && counted.has(unit) && Number.isInteger(value)) return `${groupThousands(value)}${gap}${unit}`;
  if (unit === "B" || unit === "B/s") return formatSetting(value, unit);
  // Some fields cannot be 0 but can be next to nothing.
  return formatValue(value < (step ?? 0) / 100 ? 0 : value, unit);
}

function select(control: Control, { target }: ControlsOptions): Field {
  const id = `control-${nextId++}`;
  const choices =
    control.choices ??
    (typeof control.value === "boolean"
      ? [
          { value: true, title: "on" },
          { value: false, title: "off" },
        ]
      : []);
  const input = html("select", { id });
  choices.forEach((choice, at) => {
    const option = html("option", { value: at }, choice.title ?? JSON.stringify(choice.value).replaceAll('"', ""));
    input.append(option);
  });
  const set = (value: Value) => {
    input.selectedIndex = choices.findIndex((choice) => choice.value === value);
  };
  input.addEventListener("change", () => {
    const value = choices[input.selectedIndex]!.value;
    target.setValues({ [control.path]: value }, true);
  });
  set(control.value);
  const label = html("label", { for: id, title: control.help }, control.title);
  return { element: html("div", { class: "control" }, html("div", { class: "control-head" }, label), input), set };
}
