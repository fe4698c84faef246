/** The result of `seeklab calibrate`, as sections of a page. */
import { html, observeWidth } from "../../base/elements.ts";
import { formatNumber, keepUnits } from "../../base/format.ts";
import { type JudgedJob, measuredSimulated } from "../../charts/measuredSimulated.ts";
import { loadPlot } from "../../charts/plot.ts";
import { resultTable } from "../../charts/resultTable.ts";
import type { Changes } from "../../engine/types.ts";
import { save } from "../shared/download.ts";
import { defaultState, encodeRunLink } from "../shared/runLink.ts";
import type { Incident } from "../shared/incidents.ts";

export interface Parameter {
  readonly name: string;
  readonly value: string;
  readonly how: "measured" | "sum" | "bound" | "assumed";
  readonly why: string;
}

export interface Calibration {
  readonly family: "lun" | "ssd" | "hdd";
  readonly grade: "good" | "usable" | "does not fit";
  /** How well it does on jobs that were not used to fit it. */
  readonly verdict: string;
  /** The families that fit less well, each with its verdict. */
  readonly others: Readonly<Record<string, string>>;
  readonly parameters: readonly Parameter[];
  readonly jobs: readonly JudgedJob[];
  readonly warnings: readonly string[];
  readonly left_out: readonly string[];
  /** As a file for `--on`; null when no model fits. */
  readonly preset: string | null;
}

export interface CalibrationOptions {
  /** Return the changes that run a case on the fitted device. */
  readonly changesFor: (id: string) => Promise<Changes>;
  readonly incidents: () => Promise<readonly Pick<Incident, "id" | "code" | "title">[]>;
  readonly onProblem: (error: unknown) => void;
}

const families = { lun: "a logical unit with a fixed rate", ssd: "a solid-state drive", hdd: "a hard disk" } as const;
const presetFile = "mine.toml";
const first = "odx-prefetch";

export function calibrationView(found: Calibration, options: CalibrationOptions): HTMLElement {
  return html(
    "div",
    {},
    verdict(found),
    parameters(found.parameters),
    ...notes(found),
    ...(found.preset === null ? [] : [takeAway(found.preset, options)]),
  );
}

function verdict(found: Calibration): HTMLElement {
  const title = found.preset === null ? "No model fits" : `It behaves like ${families[found.family]}`;
  const others = Object.entries(found.others).map(([name, verdict]) =>
    html("li", {}, words(`As ${families[name as Calibration["family"]]}: ${verdict}.`)),
  );
  const figure = html("div", { class: "measured-simulated" });
  const legend = html(
    "p",
    { class: "quiet" },
    html("span", { class: "mark-fitted", "aria-hidden": "true" }, "○"),
    " used for the fit, ",
    html("span", { class: "mark-held-out", "aria-hidden": "true" }, "◆"),
    " held out to judge it. On the diagonal, model and device agree.",
  );
  const room = observeWidth(figure, draw);
  function draw(): void {
    void loadPlot().then(
      () => {
        const width = Math.min(460, room.width < 720 ? room.width : Math.floor((room.width - 24) / 2));
        figure.replaceChildren(
          ...(["mean", "p99"] as const).map((quantity) =>
            html(
              "figure",
              {},
              html("figcaption", {}, quantity === "mean" ? "Mean latency" : "99th percentile"),
              measuredSimulated(found.jobs, { width, quantity }),
            ),
          ),
        );
      },
      (error: unknown) => figure.replaceChildren(error instanceof Error ? error.message : String(error)),
    );
  }
  return html(
    "section",
    { "aria-labelledby": "verdict-title" },
    html("h2", { id: "verdict-title" }, title),
    html("p", { class: "prose" }, words(capital(`${found.verdict}.`))),
    ...(others.length > 0 ? [html("ul", { class: "quiet" }, ...others)] : []),
    figure,
    legend,
    html(
      "details",
      { class: "table" },
      html("summary", {}, "The jobs as a table"),
      html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Jobs" }, jobTable(found.jobs)),
    ),
  );
}

function jobTable(jobs: readonly JudgedJob[]): HTMLTableElement {
  const off = (simulated: number, measured: number) => {
    const percent = 100 * (simulated / measured - 1);
    return `${percent < 0 ? "−" : "+"}${Math.abs(percent).toFixed(1)}`;
  };
  return resultTable<JudgedJob>({
    caption: "Measured and simulated latencies in µs, and the error of the model in percent",
    rows: [...jobs.filter((job) => job.held_out), ...jobs.filter((job) => !job.held_out)],
    columns: [
      { title: "job", value: (row) => row.job },
      { title: "", value: (row) => (row.held_out ? "held out" : "fitted") },
      { title: "mean", value: (row) => formatNumber(row.mean_us) },
      { title: "simulated", value: (row) => formatNumber(row.simulated_mean_us) },
      { title: "off, %", value: (row) => off(row.simulated_mean_us, row.mean_us) },
      { title: "p99", value: (row) => formatNumber(row.p99_us) },
      { title: "simulated", value: (row) => formatNumber(row.simulated_p99_us) },
      { title: "off, %", value: (row) => off(row.simulated_p99_us, row.p99_us) },
    ],
  });
}

function parameters(known: readonly Parameter[]): HTMLElement {
  const unknown = known.filter(({ how }) => how === "assumed" || how === "bound");
  const names = unknown.map(({ name, how }) => (how === "bound" ? `${name} (a bound only)` : name)).join("; ");
  return html(
    "section",
    { "aria-labelledby": "parameters-title" },
    html("h2", { id: "parameters-title" }, "Parameters, and how well each is known"),
    html(
      "p",
      { class: "prose" },
      unknown.length === 0
        ? "All parameters follow from the recorded jobs."
        : `These jobs could not identify: ${names}. The preset marks them as assumed.`,
    ),
    html(
      "div",
      { class: "scroll known", tabindex: 0, role: "region", "aria-label": "Parameters" },
      resultTable<Parameter>({
        caption: "Evidence for each: measured, a sum of parts that cannot be separated, a bound, or assumed",
        rows: known,
        columns: [
          { title: "parameter", value: ({ name }) => name },
          { title: "value", value: ({ value }) => words(value) },
          { title: "how", value: ({ how }) => how },
          { title: "why", value: ({ why }) => words(why) },
        ],
      }),
    ),
  );
}

function notes({ warnings, left_out: leftOut }: Calibration): HTMLElement[] {
  const part = (id: string, title: string, lines: readonly string[]) =>
    lines.length === 0
      ? []
      : [
          html(
            "section",
            { "aria-labelledby": id },
            html("h2", { id }, title),
            html("ul", {}, ...lines.map((line) => html("li", {}, words(line)))),
          ),
        ];
  return [...part("notes-title", "Notes", warnings), ...part("left-title", "Not used", leftOut)];
}

function takeAway(preset: string, { changesFor, incidents, onProblem }: CalibrationOptions): HTMLElement {
  const keep = html("button", { type: "button" }, `Save the preset (${presetFile})`);
  keep.addEventListener("click", () => save(presetFile, preset, "application/toml"));
  const choice = html("select", { id: "on-mine" });
  const link = html("a", { class: "onward", hidden: "" });
  const choose = async (): Promise<void> => {
    const { value: id, selectedOptions } = choice;
    link.hidden = true;
    const set = await changesFor(id);
    if (choice.value !== id) return;
    link.href = `${id}.html${encodeRunLink({ ...defaultState, set })}`;
    link.textContent = `Open ${selectedOptions[0]?.textContent ?? id} on it`;
    link.hidden = false;
  };
  choice.addEventListener("change", () => void choose().catch(onProblem));
  void incidents()
    .then((all) => {
      choice.append(...all.map(({ id, code, title }) => html("option", { value: id }, `${code} · ${title}`)));
      if (all.some(({ id }) => id === first)) choice.value = first;
      return choose();
    })
    .catch(onProblem);
  return html(
    "section",
    { "aria-labelledby": "take-title" },
    html("h2", { id: "take-title" }, "Run on this device"),
    html(
      "p",
      { class: "prose" },
      "Any incident, with its data on this device instead of its own. The number of devices, the layout, and the devices of logs and caches stay the same.",
    ),
    html("div", { class: "actions" }, html("label", { for: "on-mine" }, "Incident"), choice, link),
    html("div", { class: "actions" }, keep),
    html(
      "p",
      { class: "prose" },
      "On the command line: ",
      html("code", {}, `seeklab run ${first} --on ${presetFile}`),
      ", or ",
      html("code", {}, `seeklab fio job.fio --on ${presetFile}`),
      ".",
    ),
  );
}

/** Convert the text of the command line to typographic signs. */
function words(text: string): string {
  return keepUnits(text.replace(/(?<=\d) us\b/g, " µs"));
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
