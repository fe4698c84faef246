/**
 * The page on presets: what is published of drives, what their presets do in the same run, and how far apart the two are.
 *
 * Published and simulated numbers come from one stored file. A test of the engine runs every line of it and asserts that it is
 * up to date, that each run is within its tolerance, and that a miss has its reason.
 */
import "../../style/page.css";
import published from "../../../../engine/validation/presets.json";
import { formatNumber, groupThousands } from "../../base/format.ts";
import { html } from "../../base/elements.ts";
import { resultTable } from "../../charts/resultTable.ts";
import { openPage, preparePage } from "../shared/pageSetup.ts";

interface Run {
  readonly what: string;
  readonly kind: string;
  readonly unit: string;
  readonly published: number;
  readonly simulated: number;
  readonly tolerance_percent: number;
  readonly source: string;
  readonly misses_because?: string;
}

interface Drive {
  readonly preset: string;
  readonly basis: string;
  readonly drive: string;
  readonly runs: readonly Run[];
  /** Of a measured drive: what the runs owe to the drive, to the host with its controller, and to the drive's state. */
  readonly parts?: { readonly drive: string; readonly host: string; readonly state: string };
}

const drives: readonly Drive[] = published.drives;

const page = preparePage();
void openPage(page, open);

function open(): Promise<void> {
  page.root.append(summary(), ...drives.map(section), protocol());
  return Promise.resolve();
}

function deviationPercent(run: Run): number {
  return 100 * (run.simulated / run.published - 1);
}

function isNear(run: Run): boolean {
  return run.misses_because === undefined;
}

function signed(percent: number): string {
  return `${percent < 0 ? "−" : "+"}${Math.abs(percent).toFixed(1)}%`;
}

function shown(value: number): string {
  return value >= 1000 ? groupThousands(Math.round(value)) : formatNumber(value);
}

function summary(): HTMLElement {
  const all = drives.flatMap((drive) => drive.runs);
  // A figure that no public source was found for is shown, and not counted as one that is met.
  const runs = all.filter((run) => run.kind !== "unverified");
  const near = runs.filter(isNear).length;
  return html(
    "section",
    { class: "stage-section", "aria-labelledby": "summary-title" },
    html("h2", { id: "summary-title", class: "unseen" }, "Differences"),
    html(
      "p",
      { class: "sentence" },
      html("strong", {}, `${near} of ${runs.length} runs`),
      " are within their tolerance of the published numbers; the model misses ",
      `${runs.length - near}, each with its reason below. We found no public source for ${all.length - runs.length} more; they are marked unverified.`,
    ),
  );
}

/** What the numbers of a preset come from. */
const BASES: Readonly<Record<string, string>> = {
  measured: "measured",
  "data sheet": "from data sheets and announcements",
  both: "from data sheets and measurements",
};

function section({ preset, basis, drive, runs, parts }: Drive): HTMLElement {
  const misses = runs.filter((run) => !isNear(run));
  return html(
    "section",
    { "aria-labelledby": `${preset}-title` },
    html("h2", { id: `${preset}-title` }, drive),
    html("p", { class: "quiet" }, "Preset ", html("code", {}, preset), `, ${BASES[basis] ?? basis}.`),
    ...(parts ? [origins(parts)] : []),
    html(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": `Runs of ${preset}` },
      resultTable({
        caption: `${drive}: published, and simulated by the preset ${preset}`,
        rows: runs,
        columns: [
          { title: "run", value: (run) => run.what },
          { title: "kind", value: (run) => run.kind },
          { title: "unit", value: (run) => run.unit },
          { title: "published", value: (run) => shown(run.published) },
          { title: "simulated", value: (run) => shown(run.simulated) },
          { title: "deviation", value: (run) => signed(deviationPercent(run)) },
          { title: "tolerance", value: (run) => `${run.tolerance_percent}%` },
          { title: "verdict", value: (run) => (isNear(run) ? "holds" : "the model misses") },
          { title: "source", value: (run) => run.source },
        ],
      }),
    ),
    ...misses.map((run) =>
      html("p", { class: "prose" }, html("strong", {}, `${run.what}: the model misses.`), ` ${run.misses_because!}`),
    ),
  );
}

function origins(parts: NonNullable<Drive["parts"]>): HTMLElement {
  return html(
    "ul",
    { class: "prose" },
    html("li", {}, html("strong", {}, "The drive: "), `${parts.drive}.`),
    html("li", {}, html("strong", {}, "The host and its controller: "), `${parts.host}.`),
    html("li", {}, html("strong", {}, "The drive's state: "), `${parts.state}.`),
  );
}

function protocol(): HTMLElement {
  return html(
    "section",
    { "aria-labelledby": "protocol-title" },
    html("h2", { id: "protocol-title" }, "How the runs were made"),
    html(
      "p",
      { class: "prose" },
      "One job without a file system. Sequential runs use a drive that was filled in order, random runs a drive in the steady state of random writes, and SLC cache runs an empty drive. The measured SATA drives were not preconditioned, so their random runs use a drive that was filled in order. Disks run over their whole capacity. Rates and means ignore the first quarter of the requests. A calibrated run was used to fit a parameter of the preset, which its source names. It shows that all parameters fit together, not that the model predicted the number. A predicted run was not used in the fit.",
    ),
  );
}
