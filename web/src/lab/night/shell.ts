/**
 * The shell: what was typed and printed, and a line to type in.
 *
 * It is an element of our own and no terminal emulator. What is printed here is whole lines of text, without a cursor or
 * colours; as text it can be read by a screen reader, selected, searched and scrolled sideways on a phone, and the line is a
 * text field with the phone's own keyboard. An emulator draws a grid of cells: its text reaches a screen reader through a
 * copy, and soft keyboards with suggestions go wrong in it (xterm.js, issues 1101, 2403 and 3600).
 */
import { html } from "../../base/elements.ts";
import { complete, History, pasted } from "./line.ts";
import type { Entry, Tool } from "./protocol.ts";

export interface ShellOptions {
  readonly tools: readonly Tool[];
  readonly words: readonly string[];
  /** Carries a line out; the shell prints what comes. */
  readonly carryOut: (line: string) => Promise<readonly Entry[]>;
  /** Ends what is being carried out, where the host can. */
  readonly stop?: (() => Promise<void>) | undefined;
}

export interface ShellView {
  readonly element: HTMLElement;
  print(entries: readonly Entry[]): void;
  say(words: string): void;
  /** What stands before the line. */
  prompt(clock: string): void;
  focus(): void;
  /** The night is over: nothing more is typed. */
  close(): void;
}

/** Commands whose answers stay to be read. */
const mostEntries = 300;
/** Lines that wait to be carried out. */
const mostWaiting = 50;
/** Ways to go on that are listed. */
const mostListed = 24;
/** A look shorter than this needs no words. */
const patience_ms = 300;

let shells = 0;

export function shell({ tools, words, carryOut, stop }: ShellOptions): ShellView {
  // A notebook may have several.
  const keysId = `night-keys-${shells++}`;
  const log = html("div", {
    class: "night-log",
    role: "log",
    tabindex: 0,
    "aria-label": "What was typed, and what was printed",
  });
  const promptText = html("span", { class: "prompt", "aria-hidden": "true" });
  const input = html("input", {
    type: "text",
    class: "night-line",
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
  const status = html("p", { class: "night-status quiet", role: "status" });
  const keys = html(
    "p",
    { id: keysId, class: "night-keys quiet" },
    "Arrow keys bring back what was typed; Tab completes, and leaves the line when there is nothing to complete.",
  );
  const form = html("form", { class: "night-prompt" }, promptText, input, enter, stopButton);
  const history = new History();
  const waiting: string[] = [];
  let isRunning = false;
  let isOver = false;
  /** The line whose ways to go on have been listed: the next Tab leaves it. */
  let listed: string | undefined;

  function place(...nodes: HTMLElement[]): void {
    log.append(...nodes);
    while (log.childElementCount > mostEntries) log.firstElementChild!.remove();
    log.scrollTop = log.scrollHeight;
  }

  function print(entries: readonly Entry[]): void {
    for (const { command, clock, seconds, points, output } of entries) {
      const cost = `${clock}, ${seconds} s and ${points} ${points === 1 ? "point" : "points"}`;
      place(
        html(
          "div",
          { class: "night-entry" },
          html("p", { class: "typed" }, `# ${command}`),
          html("pre", {}, output.trimEnd()),
          ...(seconds > 0 ? [html("p", { class: "cost" }, cost)] : []),
        ),
      );
    }
  }

  const say = (text: string) => place(html("div", { class: "night-entry" }, html("p", {}, text)));

  async function work(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    for (let line = waiting.shift(); line !== undefined && !isOver; line = waiting.shift()) {
      const command = line.slice(0, 40);
      const late = setTimeout(() => {
        status.textContent = `Carrying out ${command} …`;
        stopButton.hidden = stop === undefined;
      }, patience_ms);
      try {
        print(await carryOut(line));
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
    if (waiting.length >= mostWaiting)
      status.textContent = `At most ${mostWaiting} commands wait; the rest was left out.`;
    else waiting.push(line);
    void work();
  }

  function replace(text: string): void {
    input.value = text;
    input.setSelectionRange(text.length, text.length);
  }

  /** Whether the key did something; otherwise it goes on to the next element. */
  function completed(): boolean {
    const { line, candidates } = complete(input.value, words);
    const isLonger = line !== input.value && candidates.length > 0;
    if (isLonger) replace(line);
    else if (candidates.length < 2 || listed === input.value) return false;
    listed = input.value;
    const more = candidates.length - mostListed;
    status.textContent =
      candidates.length < 2
        ? ""
        : candidates
            .slice(0, mostListed)
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
    { class: "night-tools" },
    html("summary", {}, "Tools and what they cost"),
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
    element: html("div", { class: "night-shell" }, log, form, status, keys, offered),
    print,
    say,
    prompt: (clock) => (promptText.textContent = `${clock} nas1#`),
    focus: () => input.focus({ preventScroll: true }),
    close() {
      isOver = true;
      waiting.length = 0;
      for (const element of [form, keys, offered]) element.hidden = true;
    },
  };
}
