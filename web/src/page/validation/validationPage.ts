/**
 * The page on validation: the disk model against a trace, in the reader's hands, and what the tests assert of the rest.
 *
 * The trace that is shipped is synthetic and says so. A reader who has a measured drive chooses its two files instead; they
 * are read here and go nowhere.
 */
import "../../style/page.css";
import cacheHits from "../../../../engine/validation/cache.json";
import measured from "../../../../engine/validation/drives.json";
import oracles from "../../../../engine/validation/oracles.json";
import driveText from "../../../../engine/validation/synthetic-drive.json?raw";
import traceUrl from "../../../../engine/validation/synthetic-trace.csv?url";
import { EngineClient } from "../../engine/client.ts";
import { Latest } from "../../engine/latest.ts";
import type { ClassAgreement, Control, DriveAgreement } from "../../engine/types.ts";
import { controls } from "../../lab/controls.ts";
import { demerits } from "../../charts/demerits.ts";
import { loadPlot } from "../../charts/plot.ts";
import { formatNumber, groupThousands } from "../../base/format.ts";
import { resultTable } from "../../charts/resultTable.ts";
import { serviceTimes } from "../../charts/serviceTimes.ts";
import { html } from "../../base/elements.ts";
import { addressOf } from "../shared/address.ts";
import { amplificationSection } from "./amplificationSection.ts";
import { openPage, preparePage, whenSeen } from "../shared/pageSetup.ts";
import { defaultState, type PageState } from "../shared/runLink.ts";
import { textOfFile } from "../shared/fileText.ts";
import { type Knobs, knobsOf, withKnobs } from "./driveKnobs.ts";

// A drive's file has some kilobytes, and a row of a trace some thirty bytes: room for about two million requests.
const mostDrive_bytes = 2 ** 20;
const mostTrace_bytes = 2 ** 26;

interface Files {
  readonly drive: string;
  readonly trace: string;
  readonly about: string;
}

const page = preparePage();
const { root, message } = page;
void openPage(page, open);

async function open({ set }: PageState): Promise<void> {
  const engine = new EngineClient();
  const trace = await (await fetch(traceUrl)).text();
  const { synthetic } = JSON.parse(driveText) as { synthetic: string };
  root.append(drives(), stage(engine, { drive: driveText, trace, about: `Synthetic. ${synthetic}` }, set));
  root.append(solidState(), amplificationSection(engine, message), hits(), asserted());
}

function stage(engine: EngineClient, shipped: Files, start: Knobs): HTMLElement {
  const sentence = html("p", { class: "sentence", "aria-live": "polite" });
  const figure = html("div", { class: "figure two" });
  const about = html("p", { class: "quiet" });
  const table = html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Numbers by class" });
  const knobs = html("div", {});
  let files = shipped;
  let isShown = false;
  let set = start;

  const address = addressOf({
    state: () => ({ ...defaultState, set }),
    onState: (state) => {
      set = state?.set ?? start;
      choose(shipped);
    },
    message,
  });
  const latest = new Latest<Knobs, DriveAgreement>({
    async run(wanted) {
      const request = { drive: withKnobs(files.drive, wanted), trace: files.trace, times: true };
      const [found] = await Promise.all([engine.call("drive", request), loadPlot()]);
      return found;
    },
    onResult: (found) => {
      // A message about a wrong link stays until the reader does something.
      if (isShown) message.clear();
      isShown = true;
      show(found);
    },
    onError: (error) => message.fail(error),
  });

  function ask(): void {
    latest.request(set);
  }

  function show(found: DriveAgreement): void {
    sentence.replaceChildren(
      html("strong", {}, `Demerit ${formatNumber(100 * found.demerit)}%`),
      `: reads ${formatNumber(100 * found.read.demerit)}%, ${late(found.read)}; ` +
        `writes ${formatNumber(100 * found.write.demerit)}%, ${late(found.write)}. ` +
        `The mean is ${formatNumber(found.mean_ms)} ms simulated and ${formatNumber(found.measured_mean_ms)} ms in the trace.`,
    );
    const longest_ms = (1.02 * Math.max(...found.times!.simulated_us, ...found.times!.measured_us)) / 1000;
    const room = Math.max(280, figure.clientWidth);
    const width = room > 760 ? (room - 32) / 2 : room;
    figure.replaceChildren(...(["read", "write"] as const).map((op) => serviceTimes(found, { op, width, longest_ms })));
    table.replaceChildren(classTable(found));
    about.textContent =
      files.about +
      (found.ignored.length > 0 ? ` Settings of this drive that the model ignores: ${found.ignored.join(", ")}.` : "");
    if (performance.getEntriesByName("first-chart").length === 0) performance.mark("first-chart");
  }

  function choose(next: Files): void {
    files = next;
    const fields: Control[] = knobsOf(files.drive);
    const built = controls({
      controls: fields,
      target: {
        setValues(values, isSettled) {
          set = { ...set, ...values };
          ask();
          if (isSettled && files === shipped) address.write(true);
        },
      },
    });
    for (const [path, value] of Object.entries(set)) built.set(path, value);
    knobs.replaceChildren(built.element);
    ask();
  }

  const reset = html("button", { type: "button", class: "quiet" }, "Reset");
  reset.addEventListener("click", () => {
    set = {};
    choose(files);
    if (files === shipped) address.write(true);
  });
  const element = html(
    "section",
    { class: "stage-section validation", "aria-labelledby": "stage-title" },
    html("h2", { id: "stage-title" }, "Try other drive parameters"),
    html("p", { class: "prose" }, "The same comparison in this page, first for a synthetic drive, then for your own."),
    sentence,
    figure,
    html(
      "p",
      { class: "quiet legend" },
      html("span", { class: "key thick" }, ""),
      " in the trace ",
      html("span", { class: "key thin" }, ""),
      " simulated. Below is the difference at equal rank. The demerit is its root mean square divided by the mean.",
    ),
    knobs,
    html("div", { class: "actions" }, reset),
    about,
    html("details", { class: "table" }, html("summary", {}, "Numbers by class"), table),
    ownFiles((next) => {
      set = {};
      choose(next);
    }),
  );
  // The sections are laid out before the chart asks how wide it may be.
  requestAnimationFrame(() => choose(shipped));
  return element;
}

/** A bias as words: by how much a class comes too late or too early, on average. */
function late({ bias_ms }: ClassAgreement): string {
  return `${formatNumber(Math.abs(bias_ms))} ms too ${bias_ms < 0 ? "fast" : "slow"}`;
}

function signed(ms: number): string {
  return `${ms < 0 ? "−" : "+"}${Math.abs(ms).toFixed(3)}`;
}

function classTable(found: DriveAgreement): HTMLTableElement {
  const rows: (readonly [string, ClassAgreement])[] = [
    ["all", found],
    ["reads", found.read],
    ["writes", found.write],
  ];
  return resultTable({
    caption: `${found.drive}: simulated against the trace; ${formatNumber(100 * found.within_300_us)}% of the requests agree individually within 0.3 ms`,
    rows,
    columns: [
      { title: "class", value: ([name]) => name },
      { title: "requests", value: ([, row]) => groupThousands(row.requests) },
      { title: "mean, ms", value: ([, row]) => formatNumber(row.mean_ms) },
      { title: "in the trace, ms", value: ([, row]) => formatNumber(row.measured_mean_ms) },
      { title: "bias, ms", value: ([, row]) => signed(row.bias_ms) },
      { title: "rms, ms", value: ([, row]) => formatNumber(row.rms_ms) },
      { title: "demerit, %", value: ([, row]) => formatNumber(100 * row.demerit) },
    ],
  });
}

function ownFiles(onFiles: (files: Files) => void): HTMLElement {
  const drive = html("input", { type: "file", id: "own-drive", accept: ".json,.gz" });
  const trace = html("input", { type: "file", id: "own-trace", accept: ".csv,.gz" });
  const read = async () => {
    const [driveFile, traceFile] = [drive.files?.[0], trace.files?.[0]];
    if (driveFile === undefined || traceFile === undefined) return;
    try {
      const texts = await Promise.all([textOfFile(driveFile, mostDrive_bytes), textOfFile(traceFile, mostTrace_bytes)]);
      onFiles({
        drive: texts[0],
        trace: texts[1],
        about: `${driveFile.name} and ${traceFile.name}, as chosen.`,
      });
    } catch (error) {
      message.fail(error);
    }
  };
  for (const input of [drive, trace]) input.addEventListener("change", () => void read());
  return html(
    "details",
    { class: "table own-files" },
    html("summary", {}, "Your own drive and trace"),
    html(
      "p",
      { class: "prose" },
      "Parameters as JSON with DiskSim's names, and a CSV with the columns op, lbn, blocks, service_us and next_interarrival_us; gzipped or not. They stay in this browser.",
    ),
    html("div", { class: "actions" }, html("label", { for: "own-drive" }, "Drive"), drive),
    html("div", { class: "actions" }, html("label", { for: "own-trace" }, "Trace"), trace),
  );
}

function drives(): HTMLElement {
  const figure = html("div", { class: "figure" });
  const element = html(
    "section",
    { "aria-labelledby": "drives-title" },
    html("h2", { id: "drives-title" }, "Six measured drives"),
    html(
      "p",
      { class: "prose" },
      "Traces of real drives of the 1990s, replayed request by request. No parameter is fitted: the model knows only the drive's file. We may not distribute the data, so these numbers are stored, with the date of the run. The project's tests repeat the run if the data are available.",
    ),
    figure,
    html(
      "p",
      { class: "quiet legend" },
      html("span", { class: "key dot" }, ""),
      " this engine ",
      html("span", { class: "key ring" }, ""),
      " DiskSim ",
      html("span", { class: "key bar" }, ""),
      " limit of the test ",
      html("span", { class: "key glyph" }, "△"),
      " reads alone ",
      html("span", { class: "key glyph" }, "▽"),
      " writes alone. ",
      `${measured.data}. Run on ${measured.measured_on}.`,
    ),
    html(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Measured drives" },
      resultTable({
        caption: "Demerit in percent of the mean service time, and bias, by class",
        rows: measured.drives,
        columns: [
          { title: "drive", value: (row) => row.title },
          { title: "requests", value: (row) => groupThousands(row.measured.requests) },
          { title: "mean, ms", value: (row) => row.measured.mean_ms.toFixed(3) },
          { title: "this engine", value: (row) => row.measured.percent.toFixed(3) },
          { title: "DiskSim", value: (row) => row.disksim_percent.toFixed(3) },
          { title: "limit", value: (row) => row.limit_percent.toFixed(3) },
          { title: "ranked by class", value: (row) => row.measured.by_class_percent.toFixed(2) },
          { title: "reads alone", value: (row) => row.measured.reads_percent.toFixed(2) },
          { title: "limit", value: (row) => row.reads_limit_percent.toFixed(2) },
          { title: "bias, ms", value: (row) => signed(row.measured.reads_bias_ms) },
          { title: "writes alone", value: (row) => row.measured.writes_percent.toFixed(2) },
          { title: "limit", value: (row) => row.writes_limit_percent.toFixed(2) },
          { title: "bias, ms", value: (row) => signed(row.measured.writes_bias_ms) },
        ],
      }),
    ),
    html(
      "p",
      { class: "quiet" },
      "Bias is mean simulated minus mean measured time. The demerit ranks reads and writes together, so errors can cancel: on the first three drives reads are too slow and writes too fast. Ranked by class, with reads and writes ranked separately, nothing cancels. DiskSim's result is known only for all requests together. On the HP C3323A and the DEC RZ26, writes were measured 0.7 and 0.8 ms later than the drive's own parameters give. The delay may come from the tracing host, which recorded each interrupt only when it handled it. A trace cannot separate host from drive, and no parameter is fitted to it.",
    ),
  );
  whenSeen(figure, () => {
    void loadPlot().then(() => {
      figure.replaceChildren(demerits(measured.drives, { width: Math.min(760, figure.clientWidth) }));
    });
  });
  return element;
}

function solidState(): HTMLElement {
  return html(
    "section",
    { "aria-labelledby": "presets-title" },
    html("h2", { id: "presets-title" }, "Current solid-state drives"),
    html(
      "p",
      { class: "prose" },
      html("a", { href: "presets.html" }, "Presets against data sheets and measurements"),
      ": published numbers of nine drives, and the results of their presets in the same runs.",
    ),
  );
}

function hits(): HTMLElement {
  return html(
    "section",
    { "aria-labelledby": "hits-title" },
    html("h2", { id: "hits-title" }, "Cache policies have the same hits"),
    html(
      "p",
      { class: "prose" },
      `Hits of ${groupThousands(cacheHits.requests)} requests in ${cacheHits.rival}. This engine counts the same number in every cell. A test compares it with the stored counts, and with the library itself if that is installed.`,
    ),
    html(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Hit counts" },
      resultTable({
        caption: "Hits by trace and policy",
        rows: cacheHits.traces,
        columns: [
          { title: "trace", value: (row) => row.name },
          { title: "cache size", value: (row) => groupThousands(row.size) },
          ...cacheHits.policies.map((policy, at) => ({
            title: policy,
            value: (row: (typeof cacheHits.traces)[number]) => groupThousands(row.hits[at]!),
          })),
        ],
      }),
    ),
  );
}

function asserted(): HTMLElement {
  return html(
    "section",
    { "aria-labelledby": "oracles-title" },
    html("h2", { id: "oracles-title" }, "Other tests"),
    html(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Oracles" },
      resultTable({
        caption: "Oracles: results known without the simulator, and their tolerances",
        rows: oracles,
        columns: [
          { title: "oracle", value: (row) => row.what },
          { title: "asserted", value: (row) => row.asserts },
          { title: "test", value: (row) => row.test.replaceAll("_", " ") },
        ],
      }),
    ),
  );
}
