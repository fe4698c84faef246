/**
 * A page to which readers bring files of their own, looked at by the package's own Python in this browser: a place for files,
 * samples, one button, progress, Stop, and the answer below.
 */
import { html } from "../../base/elements.ts";
import { formatBytes } from "../../base/format.ts";
import type { DeskName } from "../../python/messages.ts";
import { keepForOffline, type Page } from "../shared/pageSetup.ts";
import { save } from "../shared/download.ts";
import { bytesOf, dropZone, type Given, type Limits, withMore } from "./givenFiles.ts";
import { PythonDesk, PythonFailed, Stopped } from "../shared/pythonDesk.ts";
import { pythonInWords } from "../shared/pythonSize.ts";

export interface FileDropOptions<Answer extends object> {
  readonly page: Page;
  readonly desk: DeskName;
  /** What may be given, in a sentence. */
  readonly what: string;
  readonly folders: boolean;
  readonly limits: Limits;
  /** What the button says, such as “Diagnose”. */
  readonly action: string;
  /** What is going on meanwhile, such as “Comparing with the incidents”. */
  readonly working: string;
  /** Systems that the engine runs on demand: by the name that the desk knows, and what to call it. */
  readonly samples: readonly { readonly name: string; readonly title: string }[];
  /** A text may be pasted in the place of a file. */
  readonly pasted?: string;
  /** What else is chosen, shown above the button. */
  readonly choices?: HTMLElement;
  /** What the desk is asked besides the files. */
  readonly asked?: () => object;
  /** The answer as sections; the first heading in them is moved to. */
  readonly show: (answer: Answer, desk: PythonDesk) => HTMLElement;
  /** What each file was taken for, by its path. */
  readonly taken?: (answer: Answer) => ReadonlyMap<string, string>;
  readonly begin?: () => Worker;
}

export function fileDropPage<Answer extends object>(options: FileDropOptions<Answer>): void {
  const { page, limits, action } = options;
  const { root, message } = page;
  let isLoaded = false;
  const desk = new PythonDesk({
    desk: options.desk,
    begin: options.begin,
    onReady(_, loaded) {
      isLoaded = true;
      keepForOffline(loaded);
    },
  });
  let isAtWork = false;
  let given: readonly Given[] = [];
  let taken: ReadonlyMap<string, string> = new Map();

  const list = html("ul", { class: "given", "aria-label": "Files" });
  const go = html("button", { type: "button", class: "go" });
  const clear = html("button", { type: "button", class: "quiet" }, "Remove all");
  const stop = html("button", { type: "button", hidden: "" }, "Stop");
  const bar = html("progress", { max: 1, value: 0, "aria-label": "Progress", hidden: "" });
  const status = html("p", { class: "said quiet", role: "status" });
  const samples = options.samples.map(({ name, title }) => {
    const button = html("button", { type: "button" }, title);
    button.addEventListener("click", () => void work(() => sample(name)));
    return button;
  });
  const result = html("div", { class: "bring-result" });
  const zone = dropZone({
    what: options.what,
    folders: options.folders,
    most: limits.files,
    onFiles: add,
    onProblem: (error) => message.fail(error),
  });
  root.append(
    html(
      "section",
      { class: "bring-files", "aria-label": "Your files" },
      zone,
      ...(options.pasted === undefined ? [] : [pasting(options.pasted)]),
      html(
        "div",
        { class: "bring-samples" },
        html("p", { id: "samples-title" }, "No files at hand? Let the simulator make some, now and in this page:"),
        html("div", { class: "actions", role: "group", "aria-labelledby": "samples-title" }, ...samples),
      ),
      list,
      ...(options.choices === undefined ? [] : [options.choices]),
      html("div", { class: "actions" }, go, clear, stop, bar),
      status,
    ),
    result,
  );
  go.addEventListener("click", () => void work(look));
  clear.addEventListener("click", () => {
    setFiles([]);
    zone.querySelector("input")!.focus();
  });
  stop.addEventListener("click", () => desk.stop("Stopped. Nothing has been kept of it."));
  setFiles([]);

  function pasting(words: string): HTMLElement {
    const text = html("textarea", { rows: 8, spellcheck: "false", autocapitalize: "off", "aria-label": words });
    const take = html("button", { type: "button" }, "Take this text");
    take.addEventListener("click", () => {
      if (text.value.trim() === "") return;
      add([{ path: "pasted.txt", file: new File([text.value], "pasted.txt", { lastModified: Date.now() }) }]);
      text.value = "";
    });
    return html(
      "details",
      { class: "table" },
      html("summary", {}, words),
      text,
      html("div", { class: "actions" }, take),
    );
  }

  function add(more: readonly Given[]): void {
    message.clear();
    if (isAtWork) {
      message.say("Files can be added when this has ended, or is stopped.");
      return;
    }
    try {
      setFiles(withMore(given, more, limits));
    } catch (error) {
      message.fail(error);
    }
  }

  function setFiles(files: readonly Given[]): void {
    given = files;
    taken = new Map();
    result.replaceChildren();
    showFiles();
  }

  function showFiles(): void {
    list.hidden = given.length === 0;
    clear.hidden = given.length === 0;
    go.disabled = given.length === 0;
    go.textContent =
      given.length === 0 ? action : `${action} ${given.length === 1 ? "this file" : `these ${given.length} files`}`;
    status.textContent =
      given.length > 0 && !isLoaded && !desk.hasBegun ? `The page runs Python for it: ${pythonInWords()}` : "";
    list.replaceChildren(...given.map(row));
  }

  function row(one: Given): HTMLElement {
    const { path, file, isMade } = one;
    const kind = taken.get(path);
    const keep = html("button", { type: "button", class: "quiet", "aria-label": `Save ${path}` }, "Save");
    keep.addEventListener("click", () => save(path.slice(path.lastIndexOf("/") + 1), file, "text/plain"));
    const remove = html("button", { type: "button", class: "quiet", "aria-label": `Remove ${path}` }, "Remove");
    remove.addEventListener("click", () => {
      setFiles(given.filter((other) => other !== one));
      (list.querySelector("button") ?? zone.querySelector("input"))!.focus();
    });
    const words = `${formatBytes(file.size)}${kind === undefined ? "" : `, ${kind}`}`;
    // What the reader has brought is at hand already.
    const buttons = isMade === true ? [keep, remove] : [remove];
    return html(
      "li",
      {},
      html("span", { class: "name" }, path),
      html("span", { class: "quiet" }, words),
      html("span", { class: "row-actions" }, ...buttons),
    );
  }

  async function sample(name: string): Promise<void> {
    result.replaceChildren();
    say("The simulator runs");
    const { files } = await desk.ask<{ files: Readonly<Record<string, string>> }>({ record: name }, { onProgress });
    setFiles(Object.entries(files).map(([path, text]) => ({ path, file: new File([text], path), isMade: true })));
    await look();
  }

  async function look(): Promise<void> {
    say(options.working);
    const files = await bytesOf(given);
    const paths = given.map(({ path }) => path);
    const answer = await desk.ask<Answer>({ files: paths, ...options.asked?.() }, { files, onProgress });
    taken = options.taken?.(answer) ?? new Map();
    showFiles();
    result.replaceChildren(options.show(answer, desk));
    const heading = result.querySelector("h2");
    heading?.setAttribute("tabindex", "-1");
    heading?.focus({ preventScroll: true });
    heading?.scrollIntoView({ block: "start", behavior: "auto" });
  }

  function say(words: string): void {
    bar.value = 0;
    status.textContent = isLoaded ? `${words} …` : `Loading Python: ${pythonInWords()}`;
  }

  function onProgress(share: number): void {
    bar.hidden = false;
    bar.value = share;
    if (status.textContent.startsWith("Loading")) status.textContent = `${options.working} …`;
  }

  /** One thing at a time; whatever fails is said, and what was shown stays. */
  async function work(what: () => Promise<void>): Promise<void> {
    const buttons = [go, clear, ...samples];
    message.clear();
    for (const button of buttons) button.disabled = true;
    isAtWork = list.inert = true;
    stop.hidden = false;
    // A button that is switched off loses the focus.
    stop.focus({ preventScroll: true });
    try {
      await what();
      status.textContent = "";
    } catch (error) {
      status.textContent = "";
      // The next question gets a thread of its own.
      if (error instanceof PythonFailed) desk.stop("");
      if (error instanceof Stopped) status.textContent = error.message;
      else message.fail(error);
    } finally {
      isAtWork = list.inert = false;
      for (const button of buttons) button.disabled = false;
      go.disabled = given.length === 0;
      // The focus does not fall out of the page with the button.
      if (document.activeElement === stop) go.focus();
      stop.hidden = true;
      bar.hidden = true;
    }
  }
}
