/** Write amplification of uniform random writes: the closed form as a line, simulated drives as dots on it. */
import { ink } from "../base/colours.ts";
import { formatNumber } from "../base/format.ts";
import { draw, Plot } from "./plot.ts";

export interface AmplificationPoint {
  /** Flash beyond the capacity, in per cent of it. */
  readonly overprovision_percent: number;
  readonly value: number;
}

export interface AmplificationOptions {
  readonly width: number;
  readonly closedForm: readonly AmplificationPoint[];
  readonly simulated: readonly AmplificationPoint[];
}

export function amplification({ width, closedForm, simulated }: AmplificationOptions): Element {
  const told = simulated.map((at) => `${at.overprovision_percent}%: ${formatNumber(at.value)}`).join(", ");
  return draw({
    width,
    height: 240,
    marginLeft: 48,
    marginRight: 40,
    marginTop: 26,
    marginBottom: 38,
    ariaLabel: `Write amplification by over-provisioning, closed form and simulated drives. Simulated at ${told}`,
    x: { label: "over-provisioning, %", labelArrow: "none", labelAnchor: "center", domain: [5, 30] },
    y: { label: "pages programmed per page written", labelArrow: "none", grid: true, domain: [1, 11] },
    marks: [
      Plot.line(closedForm, { x: "overprovision_percent", y: "value", stroke: "var(--ink-soft)", strokeWidth: 1.5 }),
      Plot.dot(simulated, { x: "overprovision_percent", y: "value", r: 4.5, fill: ink("flash") }),
      Plot.text(simulated, {
        x: "overprovision_percent",
        y: "value",
        text: (at: AmplificationPoint) => formatNumber(at.value),
        dx: 8,
        dy: -8,
        textAnchor: "start",
        fill: "var(--ink)",
      }),
    ],
  });
}
