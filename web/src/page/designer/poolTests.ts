/**
 * The tests of a pool as bars: what was measured, as a share of the most that the binding part allows. A full bar names the
 * part to buy; a short one says that disks are busy with seeks, or that requests wait for each other and no part is full. Beside it how many times as fast the
 * test is as on the pool before, so that a change shows what it moved and what it did not.
 */
import type { DesignTest, PoolDesign, RunRequest } from "../../engine/types.ts";
import { fill } from "../../base/colours.ts";
import { formatNumber } from "../../base/format.ts";
import { html, svg } from "../../base/elements.ts";

/** From this share of its bound on a test is bound by it. */
export const full = 0.8;
/** Changes below this share are chance. */
const chance = 0.02;

const barHeight = 12;

/** The result of a test. */
export interface Measured {
  readonly value: number;
  /** Share of the time that the disks were busy with its load, 0 to 1. */
  readonly disksBusy: number;
}

/** Return the engine's request for a test of a pool. */
export function runOf(pool: Pick<PoolDesign, "case">, { variant, set }: DesignTest): RunRequest {
  return { case: pool.case, variant, set: { ...set, "record.analytics": false } };
}

/** The part that binds a test, once it is measured, or what else takes its time. */
export function bindsOf(test: DesignTest, measured: Measured | undefined): string {
  const [least] = test.bounds;
  if (measured === undefined || least === undefined) return "";
  if (measured.value >= full * least.most) return least.what;
  return measured.disksBusy >= full ? "disks, seeking" : "waiting";
}

/** How a result compares with that of the pool before, in words. */
export function changeOf(measured: Measured | undefined, before: Measured | undefined): string {
  if (measured === undefined || before === undefined || before.value === 0) return "";
  const times = measured.value / before.value;
  return Math.abs(times - 1) < chance ? "same" : `× ${formatNumber(times)}`;
}

export interface PoolTestsOptions {
  /** Results, by name of the test. */
  readonly measured: ReadonlyMap<string, Measured>;
  /** Results of the pool that it is compared with. */
  readonly before: ReadonlyMap<string, Measured>;
  /** The heading of that comparison. */
  readonly against: string;
  /** The test that runs now. */
  readonly running: string | undefined;
}

export function poolTests(tests: readonly DesignTest[], options: PoolTestsOptions): HTMLTableElement {
  const { measured, before, against, running } = options;
  const head = ["test", "measured", against, "at most", "share", "bound by"];
  const body = html("tbody");
  for (const test of tests) {
    const found = measured.get(test.name);
    const value = found?.value;
    const least = test.bounds[0];
    const share = value === undefined || least === undefined ? 0 : Math.min(1, value / least.most);
    const state = value === undefined ? (running === test.name ? "runs" : "") : formatNumber(value);
    const change = changeOf(found, before.get(test.name));
    const binds = value === undefined ? (least?.what ?? "") : bindsOf(test, found);
    const unit = test.unit.replace("1/", "/");
    body.append(
      html(
        "tr",
        { title: test.bounds.map(({ what, most }) => `${what} ${formatNumber(most)}`).join(", ") },
        html("th", { scope: "row" }, test.title),
        html("td", { class: "number" }, state),
        html("td", { class: `number change${change.startsWith("×") ? " moved" : ""}` }, change),
        html("td", { class: "number" }, `${formatNumber(least?.most ?? 0)} ${unit}`),
        html("td", { class: "bar" }, bar(share, binds === "waiting")),
        html("td", { class: "binds" }, value === undefined ? html("span", { class: "quiet" }, binds) : binds),
      ),
    );
  }
  return html(
    "table",
    { class: "data pool-tests" },
    html("caption", {}, "Result of each test, its limit, and the part that sets the limit"),
    html("thead", {}, html("tr", {}, ...head.map((title) => html("th", { scope: "col" }, title)))),
    body,
  );
}

/** A bar of any width: its column's. */
function bar(share: number, isWaiting: boolean): SVGElement {
  return svg(
    "svg",
    { width: "100%", height: barHeight, role: "img", "aria-label": `${Math.round(100 * share)}%` },
    svg("rect", { width: "100%", height: barHeight, fill: "none", stroke: "var(--rule)" }),
    svg("rect", {
      width: `${(100 * share).toFixed(1)}%`,
      height: barHeight,
      fill: isWaiting ? fill("waiting") : "var(--processor)",
    }),
  );
}
