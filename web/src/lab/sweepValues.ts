/** The values that a sweep gives a control. */
import type { Control } from "../engine/types.ts";
import { sliderScale } from "./controls.ts";

const mostRuns = 25;
const decadesRatio = 200;

/** Whether a control has a range of numbers to be swept. */
export function isSweepable({ value, choices, min, max }: Control): boolean {
  return choices == null && (typeof value === "number" || (value === null && min != null && max != null));
}

/** Whether equal ratios of the control lie at equal distances: as on its slider, and where a range spans decades. */
export function isLogarithmic({ scale, min, max }: Control): boolean {
  return (min ?? 0) > 0 && (scale === "log2" || (max ?? 0) / min! >= decadesRatio);
}

/** Values from one end of the control to the other, and the present one, in order. */
export function valuesOf(control: Control): number[] {
  const scale = sliderScale(control);
  const stops = Math.min(mostRuns, scale.max - scale.min + 1);
  const shares = Array.from({ length: stops }, (_, nth) => nth / Math.max(1, stops - 1));
  const isSpreadAnew = isLogarithmic(control) && control.scale !== "log2";
  const spread = shares.map((share) =>
    isSpreadAnew
      ? Number((control.min! * (control.max! / control.min!) ** share).toPrecision(3))
      : scale.toValue(Math.round(scale.min + share * (scale.max - scale.min))),
  );
  const now = typeof control.value === "number" ? [control.value] : [];
  return [...new Set([...spread, ...now])].toSorted((one, other) => one - other);
}
