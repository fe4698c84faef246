/** The dial: the number that the incident is about, large, with the value that is normal or that the run had as documented. */
import { html } from "../../base/elements.ts";
import { formatValue, gap } from "../../base/format.ts";
import type { Result } from "../../engine/api.ts";
import type { DialSpec } from "../../stage/beats.ts";

export interface Dial {
  readonly element: HTMLElement;
  /** A run, and the documented one where that is another. */
  show(result: Result, documented: Result | undefined, isCovered: (metric: string) => boolean): void;
}

export function dial(spec: DialSpec | undefined): Dial {
  const number = html("b");
  const unit = html("span", { class: "dial-unit" });
  const normal = html("span", { class: "dial-normal" });
  const element = html("p", { class: "dial" });
  element.hidden = spec === undefined;
  if (spec !== undefined) element.append(html("span", { class: "dial-label" }, spec.label), number, unit, normal);
  return {
    element,
    show({ summary }, documented, isCovered) {
      if (spec === undefined) return;
      const value = summary.metrics[spec.metric];
      const own = summary.units[spec.metric] ?? "";
      const isHidden = value === undefined || isCovered(spec.metric);
      const [digits = "", ...rest] = isHidden ? ["?"] : formatValue(value, own).split(gap);
      number.textContent = digits;
      number.title = isHidden ? "" : String(value);
      unit.textContent = rest.join(" ");
      const before = documented?.summary.metrics[spec.metric];
      normal.textContent = isHidden
        ? "Predict first"
        : before !== undefined && before !== value
          ? `documented run ${formatValue(before, own)}`
          : spec.normal === undefined
            ? ""
            : `${spec.normal.label} ${formatValue(spec.normal.value ?? Number.NaN, own)}`;
    },
  };
}
