/** Sliders and selects, built from what the engine says about a field: label, help, unit, range, step and scale. */
import type { Changes, Control, Value } from "../engine/types.ts";
import { formatRoundBytes, formatValue, gap, groupThousands } from "../base/format.ts";
import { html } from "../base/elements.ts";

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

/** Where a value lies on the slider, and back. A logarithmic slider moves in equal ratios, eight stops for each doubling. */
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
    const bottom = Math.log2(Math.max(low, control.step ?? (isWhole ? 1 : 1e-3)));
    const top = Math.log2(high);
    return {
      min: 0,
      max: Math.max(1, Math.round((top - bottom) * 8)),
      step: 1,
      toPosition: (value) => Math.round((Math.log2(Math.max(value, 2 ** bottom)) - bottom) * 8),
      toValue: (position) => {
        const value = Math.min(high, 2 ** (bottom + position / 8));
        return isWhole ? Math.round(value) : Number(value.toPrecision(4));
      },
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

function stepFor(span: number, isWhole: boolean): number {
  const step = 10 ** Math.floor(Math.log10(span / 100));
  return isWhole ? Math.max(1, Math.round(step)) : step;
}

function slider(control: Control, { target }: ControlsOptions): Field {
  const scale = sliderScale(control);
  const id = `control-${nextId++}`;
  const input = html("input", { type: "range", id, min: scale.min, max: scale.max, step: scale.step });
  const output = html("output", { for: id });
  const value = () => scale.toValue(input.valueAsNumber);
  const show = (shown: number) => {
    const words = wordsFor(control, shown);
    output.textContent = words;
    input.setAttribute("aria-valuetext", words);
  };
  const set = (next: Value) => {
    if (next === null) {
      input.valueAsNumber = Math.round(scale.max / 2);
      output.textContent = "default";
      input.setAttribute("aria-valuetext", "default");
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
  set(control.value);
  const label = html("label", { for: id, title: control.help }, control.title);
  return {
    element: html("div", { class: "control" }, html("div", { class: "control-head" }, label, output), input),
    set,
  };
}

/** Units with whole numbers only. */
const counted: ReadonlySet<string> = new Set(["packets", "rpm"]);

function wordsFor({ unit, step }: Control, value: number): string {
  // A count has no unit but that of what is counted.
  if (unit == null && Number.isInteger(value)) return groupThousands(value);
  if (unit != null && counted.has(unit) && Number.isInteger(value)) return `${groupThousands(value)}${gap}${unit}`;
  if (unit === "B") return formatRoundBytes(value);
  if (unit === "B/s") return `${formatRoundBytes(value)}/s`;
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
