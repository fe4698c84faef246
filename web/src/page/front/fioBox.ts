/** Bring your own fio job: parse it, run it on a modelled device, print what fio would print. */
import type { EngineClient } from "../../engine/client.ts";
import { EngineError, type Result } from "../../engine/api.ts";
import type { ParsedJobFile } from "../../engine/types.ts";
import { html } from "../../base/elements.ts";
import { operationLog } from "../../charts/operationLog.ts";
import { histogram } from "../../charts/histogram.ts";
import { loadPlot } from "../../charts/plot.ts";
import type { PageState } from "../shared/runLink.ts";
import { textOfFile } from "../shared/fileText.ts";
import { messageBox } from "../shared/messages.ts";
import { progress } from "../shared/progress.ts";

const sample = `[global]
bs=4k
runtime=10s
time_based

[seq]
rw=read
bs=1m
size=1g

[rand]
stonewall
rw=randread
iodepth=8
size=1g
`;

const slot = "fio";
// Job files are written by hand.
const mostFile_bytes = 2 ** 20;

export interface FioBoxOptions {
  readonly engine: EngineClient;
  readonly state: PageState;
  readonly onState: (state: PageState) => void;
}

export function fioBox({ engine, state, onState }: FioBoxOptions): HTMLElement {
  const editor = html("textarea", { id: "fio-job", rows: 16, spellcheck: "false", autocapitalize: "off" });
  editor.value = state.ui.fio ?? sample;
  const preset = html("select", { id: "fio-preset" });
  const files = html("input", { type: "file", multiple: "", id: "fio-files" });
  const run = html("button", { type: "submit" }, "Run");
  const message = messageBox();
  const output = html("div", { class: "fio-output", "aria-live": "polite" });
  const extra = new Map<string, string>();
  let controller: AbortController | undefined;
  const bar = progress(() => controller?.abort());
  const form = html(
    "form",
    { class: "fio" },
    html(
      "div",
      { class: "fio-input" },
      html("label", { for: "fio-job" }, "Job file or command line"),
      editor,
      html(
        "div",
        { class: "fio-options" },
        html("label", { for: "fio-preset" }, "Run it on"),
        preset,
        html("label", { for: "fio-files" }, "Job file, and files it includes"),
        files,
      ),
      html("div", { class: "actions" }, run, bar.element),
    ),
    html("div", {}, message.element, output),
  );

  void engine
    .call("presets", {})
    .then((presets) => {
      for (const { name, title } of presets) preset.append(html("option", { value: name }, title));
      preset.value = state.ui.preset ?? "hdd-7200";
      if (preset.selectedIndex < 0) preset.selectedIndex = 0;
      if (state.ui.fio !== undefined) void execute();
    })
    .catch((error: unknown) => message.fail(error));

  files.addEventListener("change", () => {
    void Promise.all(
      Array.from(files.files ?? [], async (file) => [file.name, await textOfFile(file, mostFile_bytes)] as const),
    )
      .then((read) => {
        for (const [name, text] of read) extra.set(name, text);
        // The first file is the job; further ones are what it includes.
        const [first] = read;
        if (first !== undefined && (read.length === 1 ? !isIncluded(first[0]) : true)) editor.value = first[1];
        message.clear();
      })
      .catch((error: unknown) => message.fail(error));
  });
  const isIncluded = (name: string) =>
    new RegExp(`^\\s*include\\s+${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`, "m").test(editor.value);

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void execute();
  });

  async function execute(): Promise<void> {
    run.disabled = true;
    controller = new AbortController();
    bar.start();
    try {
      const parsed = await engine.call("fio_parse", {
        files: { ...Object.fromEntries(extra), "job.fio": editor.value },
        main: "job.fio",
        preset: preset.value,
      });
      const result = await engine.run(
        { scenario: parsed.scenario },
        { slot, signal: controller.signal, onProgress: (share) => bar.update(share) },
      );
      const [printed] = await Promise.all([engine.text({ tool: "fio" }, slot), loadPlot()]);
      message.clear();
      show(parsed, result, printed);
      onState({ set: {}, seed: 1, ui: { fio: editor.value, preset: preset.value } });
    } catch (error) {
      message.fail(missingInclude(error) ?? error);
    } finally {
      run.disabled = false;
      bar.end();
    }
  }

  function show(parsed: ParsedJobFile, result: Result, printed: string): void {
    const job = result.summary.jobs[0]!;
    const op = result.summary.metrics[`${job}.read_ios`] === undefined ? "write" : "read";
    output.replaceChildren(
      operationLog(printed, { label: "fio output" }),
      html("h3", {}, `Latency of ${op}s of ${job}`),
      histogram(result, { job, op, width: Math.max(280, output.clientWidth) }),
    );
    if (parsed.ignored.length > 0) {
      output.append(
        html("h3", {}, "Options without effect here"),
        html(
          "ul",
          { class: "ignored" },
          ...parsed.ignored.map(({ job, option, value, reason }) =>
            html("li", {}, html("code", {}, value === "" ? option : `${option}=${value}`), ` in [${job}]: ${reason}`),
          ),
        ),
      );
    }
    for (const warning of parsed.warnings) output.append(html("p", { class: "warning" }, warning));
    output.append(html("p", { class: "quiet" }, "Fingerprint ", html("code", {}, result.summary.fingerprint)));
  }

  return html(
    "section",
    { class: "bring", "aria-labelledby": "fio-title" },
    html("h2", { id: "fio-title" }, "Bring your own fio job"),
    html(
      "p",
      { class: "prose" },
      "Paste a job file and run it on a modelled device. The page refuses options that would change the result but are not modelled. Nothing leaves this page.",
    ),
    form,
  );
}

// The engine reads no files: it names the one that it lacks.
function missingInclude(error: unknown): Error | undefined {
  if (!(error instanceof EngineError)) return undefined;
  const problem = error.problems.find(({ path, nearest }) => path === "include" && nearest !== undefined);
  if (problem === undefined) return undefined;
  return new Error(
    `include: ${problem.nearest!} is missing; choose that file under “files it includes”, then run again.`,
  );
}
