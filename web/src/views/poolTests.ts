/**
 * The tests of a pool as bars: what was measured, as a share of the most that the binding part allows. A full bar names the
 * part to buy; a short one says that requests wait for each other and no part is full.
 */
import type { DesignTest } from "../engine/api.ts";
import { fill } from "./colours.ts";
import { formatNumber } from "./format.ts";
import { html, svg } from "./svg.ts";

/** From this share of its bound on a test is bound by it. */
export const full = 0.8;

const barHeight = 12;

/** The part that binds a test, once it is measured. */
export function bindsOf(test: DesignTest, measured: number | undefined): string {
  const [least] = test.bounds;
  if (measured === undefined || least === undefined) return "";
  return measured >= full * least.most ? least.what : "waiting";
}

export interface PoolTestsOptions {
  readonly width: number;
  /** What was measured, by name of the test. */
  readonly measured: ReadonlyMap<string, number>;
  /** The test that runs now. */
  readonly running: string | undefined;
}

export function poolTests(tests: readonly DesignTest[], options: PoolTestsOptions): HTMLTableElement {
  const { width, measured, running } = options;
  const head = ["test", "measured", "at most", "", "bound by"].map((title) => html("th", { scope: "col" }, title));
  const body = html("tbody");
  for (const test of tests) {
    const value = measured.get(test.name);
    const least = test.bounds[0];
    const share = value === undefined || least === undefined ? 0 : Math.min(1, value / least.most);
    const state = value === undefined ? (running === test.name ? "running" : "") : formatNumber(value);
    const others = test.bounds.map(({ what, most }) => `${what} ${formatNumber(most)}`).join(", ");
    const row = html(
      "tr",
      { title: others },
      html("th", { scope: "row" }, test.title),
      html("td", { class: "number" }, state),
      html("td", { class: "number" }, `${formatNumber(least?.most ?? 0)} ${test.unit}`),
      html("td", { class: "bar" }, bar(share, width, bindsOf(test, value) === "waiting")),
      html("td", {}, value === undefined ? (least?.what ?? "") : bindsOf(test, value)),
    );
    body.append(row);
  }
  return html(
    "table",
    { class: "data pool-tests" },
    html("caption", {}, "What each test does, and the most that the part allows which binds it"),
    html("thead", {}, html("tr", {}, ...head)),
    body,
  );
}

function bar(share: number, width: number, isWaiting: boolean): SVGElement {
  return svg(
    "svg",
    {
      width,
      height: barHeight,
      viewBox: `0 0 ${width} ${barHeight}`,
      role: "img",
      "aria-label": `${Math.round(100 * share)} %`,
    },
    svg("rect", { x: 0.5, y: 0.5, width: width - 1, height: barHeight - 1, fill: "none", stroke: "var(--rule)" }),
    svg("rect", {
      x: 0,
      y: 0,
      width: Math.round(share * width),
      height: barHeight,
      fill: isWaiting ? fill("waiting") : "var(--processor)",
    }),
  );
}
