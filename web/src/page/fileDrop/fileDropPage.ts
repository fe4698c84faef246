/**
 * A page to which readers bring files of their own, looked at by the package's own Python in this browser: a place for files,
 * samples, one button, progress, Stop, and the answer below.
 */
import { html } from "../../base/elements.ts";
import { formatBytes } from "../../base/format.ts";
import type { HandlerName } from "../../python/messages.ts";
import { keepForOffline, type Page } from "../shared/pageSetup.ts";
import { save } from "../shared/download.ts";
import { FileDropController } from "./fileDropController.ts";
import { dropZone, type Given, type Limits } from "./givenFiles.ts";
import { PythonClient } from "../shared/pythonClient.ts";

export interface FileDropOptions<Answer extends object> {
  readonly page: Page;
  readonly handler: HandlerName;
  /** Accepted files, as a sentence. */
  readonly what: string;
  readonly folders: boolean;
  readonly limits: Limits;
  /** Label of the button, such as “Diagnose”. */
  readonly action: string;
  /** Text during the work, such as “Comparing with the incidents”. */
  readonly working: string;
  /** Systems that the engine runs on demand: the name that the JSON handler knows, and the title. */
  readonly samples: readonly { readonly name: string; readonly title: string }[];
  /** A text may be pasted in the place of a file. */
  readonly pasted?: string;
  /** What can be said of a pasted text at once, in sentences. */
  readonly glance?: (text: string) => readonly string[];
  /** A text that the reader has pasted elsewhere: it is looked at as the page opens. */
  readonly brought?: string | undefined;
  /** Other choices, shown above the button. */
  readonly choices?: HTMLElement;
  /** Fields to send to the JSON handler besides the files. */
  readonly asked?: () => object;
  /** The answer as sections; the first heading in them is moved to. */
  readonly show: (answer: Answer, python: PythonClient, given: readonly Given[]) => HTMLElement;
  /** Detected kind of each file, by its path. */
  readonly taken?: (answer: Answer) => ReadonlyMap<string, string>;
  readonly begin?: () => Worker;
}

export function fileDropPage<Answer extends object>(options: FileDropOptions<Answer>): void {
  const { page, limits, action, working, asked, taken } = options;
  const { root, message } = page;
  const python = new PythonClient({
    handler: options.handler,
    begin: options.begin,
    onReady(_, loaded) {
      drop.loaded();
      keepForOffline(loaded);
    },
  });
  const drop = new FileDropController<Answer>({
    ...{ python, limits, working, asked, taken },
    listeners: {
      onFiles: showFiles,
      onStatus: showStatus,
      onAnswer: showAnswer,
      onAccepted: () => message.clear(),
      onError: (error) => message.fail(error),
    },
  });

  const button = (words: string, onClick: () => void, attributes = {}) => {
    const element = html("button", { type: "button", ...attributes }, words);
    element.addEventListener("click", onClick);
    return element;
  };
  const list = html("ul", { class: "given", "aria-label": "Files" });
  const go = button("", () => void drop.look(), { class: "go" });
  const clear = button("Remove all", removeAll, { class: "quiet" });
  const stop = button("Stop", () => drop.stop(), { hidden: "" });
  const bar = html("progress", { max: 1, value: 0, "aria-label": "Progress", hidden: "" });
  const status = html("p", { class: "said quiet", role: "status" });
  const samples = options.samples.map(({ name, title }) =>
    button(title, () => void drop.sample(name), { value: name }),
  );
  const result = html("div", { class: "bring-result" });
  const zone = dropZone({
    what: options.what,
    folders: options.folders,
    most: limits.files,
    onFiles: (files) => drop.add(files),
    onProblem: (error) => message.fail(error),
  });
  root.append(
    html(
      "section",
      { class: "bring-files", "aria-label": "Your files" },
      zone,
      ...(options.pasted === undefined ? [] : [pasting(options.pasted, options.glance, take)]),
      html(
        "div",
        { class: "bring-samples" },
        html("p", { id: "samples-title" }, "No files? Try a simulated sample:"),
        html("div", { class: "actions", role: "group", "aria-labelledby": "samples-title" }, ...samples),
      ),
      list,
      ...(options.choices === undefined ? [] : [options.choices]),
      html("div", { class: "actions" }, go, clear, stop, bar),
      status,
    ),
    result,
  );
  showFiles();
  showStatus();
  if (options.brought !== undefined) {
    take(options.brought);
    void drop.look();
  }

  function take(text: string): void {
    drop.add([{ path: "pasted.txt", file: new File([text], "pasted.txt", { lastModified: Date.now() }) }]);
  }

  function removeAll(): void {
    drop.set([]);
    zone.querySelector("input")!.focus();
  }

  function remove(one: Given): void {
    drop.remove(one);
    (list.querySelector("button") ?? zone.querySelector("input"))!.focus();
  }

  function showFiles(): void {
    const { length } = drop.given;
    list.hidden = clear.hidden = length === 0;
    go.textContent = length === 0 ? action : `${action} ${length === 1 ? "this file" : `these ${length} files`}`;
    list.replaceChildren(...drop.given.map((one) => row(one, drop.kindOf(one), () => remove(one))));
  }

  function showStatus(): void {
    const { given, isAtWork, share } = drop;
    status.textContent = drop.status;
    bar.hidden = share === undefined;
    bar.value = share ?? 0;
    list.inert = isAtWork;
    for (const button of [clear, ...samples]) button.disabled = isAtWork;
    go.disabled = isAtWork || given.length === 0;
    if (isAtWork === !stop.hidden) return;
    // A button that is disabled or removed loses the focus. Keep the focus on the page.
    const hadFocus = document.activeElement === stop;
    stop.hidden = !isAtWork;
    if (isAtWork) stop.focus({ preventScroll: true });
    else if (hadFocus) go.focus();
  }

  function showAnswer(answer: Answer | undefined): void {
    result.replaceChildren(...(answer === undefined ? [] : [options.show(answer, python, drop.given)]));
    const heading = result.querySelector("h2");
    heading?.setAttribute("tabindex", "-1");
    heading?.focus({ preventScroll: true });
    heading?.scrollIntoView({ block: "start", behavior: "auto" });
  }
}

/** A file of the list: its name, what it was taken for, and what can be done with it. */
function row({ path, file, isMade }: Given, kind: string | undefined, onRemove: () => void): HTMLElement {
  const keep = html("button", { type: "button", class: "quiet", "aria-label": `Save ${path}` }, "Save");
  keep.addEventListener("click", () => save(path.slice(path.lastIndexOf("/") + 1), file, "text/plain"));
  const remove = html("button", { type: "button", class: "quiet", "aria-label": `Remove ${path}` }, "Remove");
  remove.addEventListener("click", onRemove);
  const words = `${formatBytes(file.size)}${kind === undefined ? "" : `, ${kind}`}`;
  // The reader already has these files.
  const buttons = isMade === true ? [keep, remove] : [remove];
  return html(
    "li",
    {},
    html("span", { class: "name" }, path),
    html("span", { class: "quiet" }, words),
    html("span", { class: "row-actions" }, ...buttons),
  );
}

/** A place for a text in the place of a file. */
function pasting(
  words: string,
  glance: ((text: string) => readonly string[]) | undefined,
  onText: (text: string) => void,
): HTMLElement {
  const text = html("textarea", { rows: 8, spellcheck: "false", autocapitalize: "off", "aria-label": words });
  const take = html("button", { type: "button" }, "Use this text");
  const seen = html("p", { class: "glance", "aria-live": "polite" });
  text.addEventListener("input", () => (seen.textContent = glance?.(text.value).join(" ") ?? ""));
  take.addEventListener("click", () => {
    if (text.value.trim() === "") return;
    onText(text.value);
    text.value = "";
  });
  return html("div", { class: "pasting" }, text, html("div", { class: "actions" }, take), seen);
}
