/** The Python console: Pyodide and the `seeklab` package in a worker of their own, loaded when asked for. */
import { html } from "../../base/elements.ts";
import { histogram } from "../../charts/histogram.ts";
import { loadPlot } from "../../charts/plot.ts";
import type { Op } from "../../generated/answers.ts";
import type { Summary } from "../../engine/types.ts";
import type { FromPython, ShownValue, ToPython } from "../../python/messages.ts";
import { pythonInWords } from "../shared/pythonSize.ts";

/** Characters that stay in the console. */
const mostKept = 300_000;

/** The requests that a run has most of. */
export function busiest({ jobs, metrics }: Summary): { readonly job: string; readonly op: Op } {
  const many = (job: string, op: Op) => metrics[`${job}.${op}_ios`] ?? 0;
  const kinds = jobs.flatMap((job) => (["read", "write"] as const).map((op) => ({ job, op })));
  return kinds.reduce((best, kind) => (many(kind.job, kind.op) > many(best.job, best.op) ? kind : best));
}

/** Markup that a learner's code has made, in a frame that runs nothing and loads nothing. */
function framed(markup: string, onSized: () => void): HTMLElement {
  const frame = html("iframe", { sandbox: "allow-same-origin", title: "The value as a picture", class: "drawn-value" });
  frame.srcdoc = `<!doctype html><meta name="color-scheme" content="light dark"><style>body{margin:8px;font:15px system-ui,sans-serif}table{border-collapse:collapse}td,th{padding:2px 10px 2px 0;text-align:right}caption{text-align:left}</style>${markup}`;
  frame.addEventListener("load", () => {
    const height = frame.contentDocument?.documentElement.scrollHeight ?? 0;
    frame.style.height = `${Math.min(600, Math.max(40, height))}px`;
    onSized();
  });
  return frame;
}

/** `code` gives the scenario on the stage as Python. */
export function pythonConsole(code: () => string): HTMLElement {
  const editor = html("textarea", { rows: 8, spellcheck: "false", autocapitalize: "off", "aria-label": "Python code" });
  editor.value = code();
  const run = html("button", { type: "button" }, "Run");
  const stop = html("button", { type: "button", class: "quiet", hidden: "" }, "Stop");
  const refresh = html("button", { type: "button", class: "quiet" }, "Copy stage values");
  const status = html("span", { class: "quiet status", role: "status" });
  const output = html("pre", {
    class: "printed python-output",
    tabindex: 0,
    role: "log",
    "aria-label": "Python output",
  });
  let worker: Worker | undefined;
  let isReady = false;
  let nextId = 1;
  let kept = 0;

  function start(): Worker {
    const fresh = new Worker(new URL("../../python/pythonWorker.ts", import.meta.url), { type: "module" });
    fresh.onmessage = (event: MessageEvent<FromPython>) => hear(event.data);
    fresh.onerror = (event) => {
      fail(`Python stopped: ${event.message || "it could not be loaded"}.`);
    };
    status.textContent = `Loading Python: ${pythonInWords()}`;
    return fresh;
  }

  function hear(message: FromPython): void {
    if (message.kind === "ready") {
      isReady = true;
      status.textContent = `Python ${message.version}. Ctrl-Enter runs.`;
    } else if (message.kind === "print") {
      print(message.text, message.isError ? "error" : "");
    } else if (message.kind === "unloaded") {
      fail(`Python could not be loaded: ${message.why}`);
    } else if (message.kind === "done") {
      if (message.value !== null) show(message.value);
      if (message.error !== null) print(message.error.trimEnd() + "\n", "error");
      idle();
    }
  }

  function print(text: string, kind: string): void {
    place(kind === "" ? document.createTextNode(text) : html("span", { class: kind }, text));
  }

  function place(node: Text | HTMLElement): void {
    output.append(node);
    kept += node.textContent.length;
    // Drop the oldest output.
    while (kept > mostKept && output.firstChild !== node) {
      kept -= (output.firstChild?.textContent ?? "").length;
      output.firstChild?.remove();
    }
    output.scrollTop = output.scrollHeight;
  }

  /** The value of the last expression: drawn where it can be drawn. */
  function show({ repr, html: markup, run: ran }: ShownValue): void {
    print(repr + "\n", "value");
    if (markup !== undefined) place(framed(markup, () => (output.scrollTop = output.scrollHeight)));
    if (ran !== undefined) {
      const { job, op } = busiest(ran.summary);
      const figure = html("div", { class: "figure" });
      place(figure);
      void loadPlot().then(() => {
        figure.append(histogram(ran, { job, op, width: Math.max(280, Math.min(720, output.clientWidth - 32)) }));
        output.scrollTop = output.scrollHeight;
      });
    }
  }

  function idle(): void {
    run.disabled = false;
    stop.hidden = true;
  }

  function fail(words: string): void {
    print(words + "\n", "error");
    worker?.terminate();
    worker = undefined;
    isReady = false;
    status.textContent = "";
    idle();
  }

  function execute(): void {
    if (run.disabled) return;
    worker ??= start();
    run.disabled = true;
    stop.hidden = false;
    print(
      editor.value
        .trimEnd()
        .split("\n")
        .map((line, at) => `${at === 0 ? ">>>" : "..."} ${line}\n`)
        .join(""),
      "typed",
    );
    worker.postMessage({ kind: "run", id: nextId++, code: editor.value } satisfies ToPython);
  }

  run.addEventListener("click", execute);
  stop.addEventListener("click", () => fail(isReady ? "Stopped. Variables were lost." : "Stopped."));
  refresh.addEventListener("click", () => {
    editor.value = code();
    editor.focus();
  });
  editor.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey || event.shiftKey)) {
      event.preventDefault();
      execute();
    }
  });
  // Loading begins with the console, not with the first run.
  worker = start();
  return html(
    "div",
    { class: "console" },
    editor,
    html("div", { class: "actions" }, run, stop, refresh, status),
    output,
  );
}
