/** The Python console: Pyodide and the `seeklab` package in a worker of their own, loaded when asked for. */
import { html } from "../base/elements.ts";
import type { FromPython, ToPython } from "../python/messages.ts";

/** `code` gives the scenario on the stage as Python. */
export function pythonConsole(code: () => string): HTMLElement {
  const editor = html("textarea", { rows: 8, spellcheck: "false", autocapitalize: "off", "aria-label": "Python code" });
  editor.value = code();
  const run = html("button", { type: "button" }, "Run");
  const stop = html("button", { type: "button", class: "quiet", hidden: "" }, "Stop");
  const refresh = html("button", { type: "button", class: "quiet" }, "Take the stage’s values");
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

  function start(): Worker {
    const fresh = new Worker(new URL("../python/pythonWorker.ts", import.meta.url), { type: "module" });
    fresh.onmessage = (event: MessageEvent<FromPython>) => hear(event.data);
    fresh.onerror = (event) => {
      fail(`Python stopped: ${event.message || "it could not be loaded"}.`);
    };
    status.textContent = "Loading Python, about 6 MB the first time.";
    return fresh;
  }

  function hear(message: FromPython): void {
    if (message.kind === "ready") {
      isReady = true;
      status.textContent = `Python ${message.version}. Ctrl-Enter runs.`;
    } else if (message.kind === "print") {
      print(message.text, message.isError ? "error" : "");
    } else {
      if (message.result !== null) print(message.result + "\n", "value");
      if (message.error !== null) print(message.error.trimEnd() + "\n", "error");
      idle();
    }
  }

  function print(text: string, kind: string): void {
    output.append(kind === "" ? text : html("span", { class: kind }, text));
    output.scrollTop = output.scrollHeight;
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
  stop.addEventListener("click", () => fail(isReady ? "Stopped. Variables are gone." : "Stopped."));
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
