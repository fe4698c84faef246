/**
 * The shell: a log of commands and their output, and a command line.
 *
 * It is not a terminal emulator. Commands print plain lines of text, without a cursor or colours. A screen reader can read
 * this text, and users can select it, search it and scroll it sideways on a phone. The command line is a text field, so a
 * phone shows its own keyboard. An emulator draws a grid of cells: a screen reader gets only a copy of its text, and soft
 * keyboards with suggestions do not work well in it (xterm.js, issues 1101, 2403 and 3600).
 */
import { html } from "../../base/elements.ts";
import { complete, History, pasted } from "./line.ts";
import type { Entry, Tool } from "./protocol.ts";

export interface ShellOptions {
  readonly tools: readonly Tool[];
  readonly words: readonly string[];
  /** Runs a line and returns the entries to print. */
  readonly run: (line: string) => Promise<readonly Entry[]>;
  /** Stops the running command, where the host can. */
  readonly stop?: (() => Promise<void>) | undefined;
}

export interface ShellView {
  readonly element: HTMLElement;
  print(entries: readonly Entry[]): void;
  say(words: string): void;
  /** Sets the prompt before the command line. */
  prompt(clock: string): void;
  focus(): void;
  /** Runs a line as if it had been typed. */
  type(line: string): void;
  /** Ends the input when the shift is over. */
  close(): void;
}

/** The log keeps the output of this many commands. */
const maxEntries = 300;
/** The maximum number of queued lines. */
const maxWaiting = 50;
/** The maximum number of completions to list. */
const maxListed = 24;
/** A command that takes longer shows a status. */
const patience_ms = 300;

let shells = 0;

export function shell({ tools, words, run, stop }: ShellOptions): ShellView {
  // A notebook may have several shells.
  const keysId = `shift-keys-${shells++}`;
  const log = html("div", {
    class: "shift-log",
    role: "log",
    tabindex: 0,
    "aria-label": "Commands and their output",
  });
  const promptText = html("span", { class: "prompt", "aria-hidden": "true" });
  const input = html("input", {
    type: "text",
    class: "shift-line",
    "aria-label": "Command",
    "aria-describedby": keysId,
    autocomplete: "off",
    autocapitalize: "none",
    autocorrect: "off",
    spellcheck: "false",
    enterkeyhint: "send",
  });
  const enter = html("button", { type: "submit" }, "Enter");
  const stopButton = html("button", { type: "button", class: "quiet", hidden: "" }, "Stop");
  const status = html("p", { class: "shift-status quiet", role: "status" });
  const keys = html(
    "p",
    { id: keysId, class: "shift-keys quiet" },
    "Up and Down recall earlier commands. Tab completes, or moves on if there is nothing to complete.",
  );
  const form = html("form", { class: "shift-prompt" }, promptText, input, enter, stopButton);
  const history = new History();
  const waiting: string[] = [];
  let isRunning = false;
  let isOver = false;
  /** The line whose completions are listed; another Tab moves the focus on. */
  let listed: string | undefined;

  function place(...nodes: HTMLElement[]): void {
    log.append(...nodes);
    while (log.childElementCount > maxEntries) log.firstElementChild!.remove();
    log.scrollTop = log.scrollHeight;
  }

  function print(entries: readonly Entry[]): void {
    for (const { command, clock, seconds, points, output } of entries) {
      const cost = `${clock}, ${seconds} s and ${points} ${points === 1 ? "point" : "points"}`;
      place(
        html(
          "div",
          { class: "shift-entry" },
          html("p", { class: "typed" }, `# ${command}`),
          html("pre", {}, output.trimEnd()),
          ...(seconds > 0 ? [html("p", { class: "cost" }, cost)] : []),
        ),
      );
    }
  }

  const say = (text: string) => place(html("div", { class: "shift-entry" }, html("p", {}, text)));

  async function work(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    for (let line = waiting.shift(); line !== undefined && !isOver; line = waiting.shift()) {
      const command = line.slice(0, 40);
      const late = setTimeout(() => {
        status.textContent = `Running ${command} …`;
        stopButton.hidden = stop === undefined;
      }, patience_ms);
      try {
        print(await run(line));
      } catch (error) {
        say(error instanceof Error ? error.message : String(error));
        waiting.length = 0;
      } finally {
        clearTimeout(late);
        status.textContent = "";
        stopButton.hidden = true;
      }
    }
    isRunning = false;
  }

  function take(line: string): void {
    if (isOver || line.trim() === "") return;
    history.add(line);
    if (waiting.length >= maxWaiting)
      status.textContent = `Only ${maxWaiting} commands can be queued; the rest were dropped.`;
    else waiting.push(line);
    void work();
  }

  function replace(text: string): void {
    input.value = text;
    input.setSelectionRange(text.length, text.length);
  }

  /** Completes the line; returns false if there was nothing to do, so that Tab moves the focus. */
  function completed(): boolean {
    const { line, candidates } = complete(input.value, words);
    const isLonger = line !== input.value && candidates.length > 0;
    if (isLonger) replace(line);
    else if (candidates.length < 2 || listed === input.value) return false;
    listed = input.value;
    const more = candidates.length - maxListed;
    status.textContent =
      candidates.length < 2
        ? ""
        : candidates
            .slice(0, maxListed)
            .map((word) => word.trimEnd())
            .join(" · ") + (more > 0 ? ` · and ${more} more` : "");
    return true;
  }

  input.addEventListener("keydown", (event) => {
    const { key, ctrlKey, altKey, metaKey, shiftKey } = event;
    if (altKey || metaKey || event.isComposing) return;
    const found = key === "ArrowUp" ? history.older(input.value) : key === "ArrowDown" ? history.newer() : undefined;
    if (found !== undefined) {
      event.preventDefault();
      replace(found);
    } else if (key === "Tab" && !shiftKey && !ctrlKey && completed()) {
      event.preventDefault();
    } else if (
      key === "c" &&
      ctrlKey &&
      input.selectionStart === input.selectionEnd &&
      getSelection()?.isCollapsed !== false
    ) {
      event.preventDefault();
      if (isRunning && !stopButton.hidden) stopButton.click();
      else replace("");
    }
  });
  input.addEventListener("input", () => (status.textContent = ""));
  input.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!/[\r\n]/.test(text)) return;
    event.preventDefault();
    const at = input.selectionStart ?? input.value.length;
    const { lines, rest } = pasted(input.value.slice(0, at), text);
    const after = input.value.slice(input.selectionEnd ?? at);
    replace(rest + after);
    for (const line of lines) take(line);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const line = input.value;
    replace("");
    take(line);
  });
  stopButton.addEventListener("click", () => {
    waiting.length = 0;
    stopButton.hidden = true;
    status.textContent = "Stopping …";
    void stop?.();
    input.focus();
  });

  const offered = html(
    "details",
    { class: "shift-tools" },
    html("summary", {}, "Tools and their cost"),
    html(
      "ul",
      {},
      ...tools.map(({ command, shows, seconds, points }) => {
        const button = html("button", { type: "button" }, html("code", {}, command));
        button.addEventListener("click", () => {
          replace(command);
          input.focus();
        });
        const cost = `${seconds} s, ${points} ${points === 1 ? "point" : "points"}`;
        return html("li", {}, button, ` ${shows} `, html("span", { class: "quiet" }, cost));
      }),
    ),
  );

  return {
    element: html("div", { class: "shift-shell" }, log, form, status, keys, offered),
    print,
    say,
    prompt: (clock) => (promptText.textContent = `${clock} nas1#`),
    focus: () => input.focus({ preventScroll: true }),
    type: take,
    close() {
      isOver = true;
      waiting.length = 0;
      for (const element of [form, keys, offered]) element.hidden = true;
    },
  };
}
