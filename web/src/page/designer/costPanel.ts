/**
 * One test of the pool against the cost of the pool, for increasing amounts of one part. All other parts are those of
 * the page. Runs use separate threads. The panel names pools that cannot be built.
 */
import { Cancelled, EngineError } from "../../engine/api.ts";
import type { Control, DesignTest, PoolDesign } from "../../engine/types.ts";
import { sweep } from "../../engine/sweep.ts";
import { html, observeWidth } from "../../base/elements.ts";
import { formatNumber, formatValue, groupThousands } from "../../base/format.ts";
import { costCurve, type CostPoint } from "../../charts/costCurve.ts";
import { loadPlot } from "../../charts/plot.ts";
import { resultTable } from "../../charts/resultTable.ts";
import { valuesOf } from "../../lab/sweepValues.ts";
import { amount } from "./currency.ts";
import { runOf } from "./poolTests.ts";

export interface CostPanelOptions {
  /** The parts as they stand, with their ranges. */
  readonly controls: () => readonly Control[];
  /** The pool that the page shows, with another number of one part; rejects where it cannot be built. */
  readonly design: (part: string, value: number) => Promise<PoolDesign>;
  readonly currency: () => string;
}

export interface CostPanel {
  readonly element: HTMLElement;
  /** Offers the tests; the first time there is a pool. */
  offer(tests: readonly DesignTest[]): void;
  /** The pool has changed: what is drawn is that of another one. */
  forget(): void;
  /** Draws what there is again, in another currency. */
  redraw(): void;
}

/** Runs of a curve: more of them tell no more. */
const mostRuns = 9;
const widest = 640;
/** A test on which one part after the other binds. */
const firstTest = "128 threads, random reads of the working set";

interface Curve {
  readonly part: string;
  readonly test: DesignTest;
  readonly points: CostPoint[];
}

export function costPanel({ controls, design, currency }: CostPanelOptions): CostPanel {
  const part = html("select", { id: "cost-part" });
  const test = html("select", { id: "cost-test" });
  const start = html("button", { type: "button" }, "Draw the curve");
  const bar = html("progress", { max: 1, value: 0, "aria-label": "Progress of the curve" });
  const cancel = html("button", { type: "button", class: "quiet" }, "Cancel");
  const running = html("div", { class: "progress", hidden: "" }, bar, cancel);
  const status = html("p", { class: "quiet", "aria-live": "polite" });
  const chart = html("div", { class: "cost-curve" });
  const table = html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Runs of the curve" });
  const details = html("details", { hidden: "" }, html("summary", {}, "The runs as a table"), table);
  const field = (label: string, select: HTMLSelectElement) =>
    html("div", { class: "control" }, html("label", { for: select.id }, label), select);
  const element = html(
    "section",
    { class: "cost", "aria-labelledby": "cost-title" },
    html("h2", { id: "cost-title" }, "What money buys"),
    html(
      "p",
      { class: "prose" },
      "One test with increasing amounts of one part. Where the line is flat, another part is the limit, and money buys nothing.",
    ),
    html("div", { class: "cost-head" }, field("More of", part), field("in the test", test), start, running),
    status,
    chart,
    details,
  );
  let tests: readonly DesignTest[] = [];
  let curve: Curve | undefined;
  let stop: AbortController | undefined;

  cancel.addEventListener("click", () => stop?.abort());
  start.addEventListener("click", () => void run());
  const room = observeWidth(chart, redraw);

  async function run(): Promise<void> {
    const control = controls().find(({ path }) => path === part.value);
    const asked = tests.find(({ name }) => name === test.value);
    if (control === undefined || asked === undefined || stop !== undefined) return;
    stop = new AbortController();
    const { signal } = stop;
    const drawn: Curve = { part: control.title, test: asked, points: [] };
    curve = drawn;
    start.disabled = true;
    running.hidden = false;
    bar.value = 0;
    try {
      await loadPlot();
      const { pools, refused } = await poolsOf(control);
      const ready = pools.map(({ pool }) =>
        runOf(
          pool,
          pool.tests.find(({ name }) => name === asked.name)!,
        ),
      );
      status.textContent = `Running ${pools.length} pools.`;
      await sweep(ready, {
        signal,
        onRun: (at, { metrics }, done) => {
          const { pool, value } = pools[at]!;
          drawn.points.push({
            part: named(control, value),
            cost: pool.cost,
            value: metrics[asked.metric] ?? Number.NaN,
            most: pool.tests.find(({ name }) => name === asked.name)?.bounds[0]?.most ?? Number.NaN,
            isShown: value === control.value,
          });
          bar.value = done / pools.length;
          redraw();
        },
      });
      status.textContent = `The dashed line is the limit of the parts; the ring is the pool above.${refused}`;
    } catch (error) {
      const why = error instanceof Cancelled ? "Cancelled." : error instanceof Error ? error.message : String(error);
      status.textContent = `${why} ${drawn.points.length} pools are shown.`;
    } finally {
      stop = undefined;
      start.disabled = false;
      running.hidden = true;
      redraw();
    }
  }

  /** The pools of a curve that can be built, and a sentence on the others. */
  async function poolsOf(control: Control): Promise<{ pools: { value: number; pool: PoolDesign }[]; refused: string }> {
    const pools: { value: number; pool: PoolDesign }[] = [];
    const refused: string[] = [];
    for (const value of curveValues(control)) {
      try {
        pools.push({ value, pool: await design(control.path, value) });
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        refused.push(named(control, value));
      }
    }
    if (pools.length === 0) throw new Error("None of these pools can be built.");
    return {
      pools,
      refused: refused.length === 0 ? "" : ` Not shown because they cannot be built: ${refused.join(", ")}.`,
    };
  }

  function redraw(): void {
    const { width } = room;
    details.hidden = (curve?.points.length ?? 0) === 0;
    if (curve === undefined || curve.points.length === 0 || width === 0) {
      chart.replaceChildren();
      return;
    }
    const { points, test: of } = curve;
    const unit = of.unit.replace("1/", "/");
    const money = currency();
    chart.replaceChildren(costCurve(points, { width: Math.min(widest, width), test: of.title, unit, currency: money }));
    table.replaceChildren(
      resultTable({
        caption: `${of.title} by ${curve.part}`,
        columns: [
          { title: curve.part, value: (point: CostPoint) => point.part },
          { title: "pool costs", value: ({ cost }: CostPoint) => amount(cost, money) },
          { title: `measured, ${unit}`, value: ({ value }: CostPoint) => formatNumber(value) },
          { title: `at most, ${unit}`, value: ({ most }: CostPoint) => formatNumber(most) },
        ],
        rows: points.toSorted((one, other) => one.cost - other.cost),
      }),
    );
  }

  return {
    element,
    offer(offered) {
      if (tests.length > 0) return;
      tests = offered;
      test.replaceChildren(...offered.map(({ name, title }) => html("option", { value: name }, title)));
      test.value = (offered.find(({ title }) => title === firstTest) ?? offered[0])?.name ?? "";
      part.replaceChildren(...controls().map(({ path, title }) => html("option", { value: path }, title)));
    },
    forget() {
      if (stop === undefined && curve === undefined) return;
      stop?.abort();
      curve = undefined;
      status.textContent = "The pool has changed. Draw the curve again.";
      redraw();
    },
    redraw,
  };
}

/** At most nine numbers of a part from end to end, and the present one. */
export function curveValues(control: Control): number[] {
  const all = control.choices?.map(({ value }) => Number(value)) ?? valuesOf(control);
  const kept = Math.min(mostRuns, all.length);
  const spread = Array.from(
    { length: kept },
    (_, nth) => all[Math.round((nth * (all.length - 1)) / Math.max(1, kept - 1))]!,
  );
  const now = typeof control.value === "number" ? [control.value] : [];
  return [...new Set([...spread, ...now])].toSorted((one, other) => one - other);
}

function named({ choices, unit }: Control, value: number): string {
  const title = choices?.find((choice) => choice.value === value)?.title;
  if (title !== undefined) return title;
  return unit == null && Number.isInteger(value) ? groupThousands(value) : formatValue(value, unit);
}
