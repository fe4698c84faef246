/** Files that a reader gives a page: chosen, dropped, whole folders too; within limits, and by names that are safe to use. */
import { formatBytes } from "../../base/format.ts";
import { html } from "../../base/elements.ts";
import type { GivenFile } from "../../python/messages.ts";

export interface Given {
  /** Folders and name, as they are told. */
  readonly path: string;
  readonly file: File;
  /** Whether the page has made it. */
  readonly isMade?: boolean;
}

export interface Limits {
  readonly files: number;
  readonly bytes: number;
  readonly allBytes: number;
}

const longestPart = 120;

/** A path that stays below the folder it is written to: no root, no way up, no control characters. */
export function safePath(path: string): string {
  const parts = path
    .split(/[/\\]/)
    // eslint-disable-next-line no-control-regex
    .map((part) => part.replace(/[\u0000-\u001f\u007f]/g, "").trim())
    .filter((part) => part !== "" && part !== "." && part !== "..")
    .map((part) => (part.length > longestPart ? part.slice(-longestPart) : part));
  return parts.slice(-4).join("/") || "file";
}

/** The files with those that were there before, each path once; throws the sentence that says which limit is exceeded. */
export function withMore(before: readonly Given[], more: readonly Given[], limits: Limits): readonly Given[] {
  const all = new Map(before.map((given) => [given.path, given]));
  for (const { path, file } of more) {
    if (file.size > limits.bytes) {
      throw new Error(
        `${path} has ${formatBytes(file.size)}; this page reads files of at most ${formatBytes(limits.bytes)}.`,
      );
    }
    // The same file counts once. Another file with the same name is kept as well.
    let name = path;
    for (let at = 2; all.has(name) && !isSame(all.get(name)!.file, file); at++) name = numbered(path, at);
    all.set(name, { path: name, file });
  }
  const bytes = [...all.values()].reduce((sum, { file }) => sum + file.size, 0);
  if (all.size > limits.files) {
    throw new Error(`These would be ${all.size} files; this page reads at most ${limits.files} at a time.`);
  }
  if (bytes > limits.allBytes) {
    throw new Error(
      `These would be ${formatBytes(bytes)}; this page reads at most ${formatBytes(limits.allBytes)} at a time.`,
    );
  }
  return [...all.values()];
}

function isSame(one: File, other: File): boolean {
  return one.size === other.size && one.lastModified === other.lastModified;
}

function numbered(path: string, at: number): string {
  const dot = path.lastIndexOf(".");
  return dot > path.lastIndexOf("/") + 1 ? `${path.slice(0, dot)}-${at}${path.slice(dot)}` : `${path}-${at}`;
}

/** The files' bytes, as Python's thread takes them. */
export function bytesOf(files: readonly Given[]): Promise<GivenFile[]> {
  return Promise.all(
    files.map(async ({ path, file }) => {
      try {
        return { path, bytes: new Uint8Array(await file.arrayBuffer()) };
      } catch (error) {
        throw new Error(`${path} can no longer be read; add it again.`, { cause: error });
      }
    }),
  );
}

export interface DropZoneOptions {
  readonly what: string;
  /** Whether a folder can be chosen, too. */
  readonly folders: boolean;
  readonly most: number;
  readonly onFiles: (files: readonly Given[]) => void;
  readonly onProblem: (error: unknown) => void;
}

/** A place for files, by mouse, finger or keyboard; what is dropped elsewhere on the page is taken as well. */
export function dropZone({ what, folders, most, onFiles, onProblem }: DropZoneOptions): HTMLElement {
  const choose = html("input", { type: "file", multiple: "", id: "given-files" });
  const inputs = [choose];
  const element = html(
    "div",
    { class: "drop" },
    html("p", {}, what),
    html("div", { class: "actions" }, html("label", { for: "given-files" }, "Files"), choose),
  );
  if (folders) {
    const folder = html("input", { type: "file", webkitdirectory: "", id: "given-folder" });
    inputs.push(folder);
    element.append(html("div", { class: "actions" }, html("label", { for: "given-folder" }, "or a folder"), folder));
  }
  for (const input of inputs) {
    input.addEventListener("change", () => {
      const files = Array.from(input.files ?? [], (file) => ({
        path: safePath(file.webkitRelativePath || file.name),
        file,
      }));
      // The same files can be chosen once more.
      input.value = "";
      if (files.length > 0) onFiles(files);
    });
  }
  const carriesFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") === true;
  document.addEventListener("dragover", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    element.classList.add("over");
  });
  document.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) element.classList.remove("over");
  });
  document.addEventListener("drop", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    element.classList.remove("over");
    dropped(event.dataTransfer!, most).then(onFiles, onProblem);
  });
  return element;
}

async function dropped(transfer: DataTransfer, most: number): Promise<readonly Given[]> {
  // Entries are gone once the event is over: they are taken before anything is waited for.
  const entries = Array.from(transfer.items, (item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  if (entries.length === 0) return Array.from(transfer.files, (file) => ({ path: safePath(file.name), file }));
  const found: Given[] = [];
  for (const entry of entries) await collect(entry, most, found);
  return found;
}

async function collect(entry: FileSystemEntry, most: number, found: Given[]): Promise<void> {
  if (found.length > most) throw new Error(`The folder has more than ${most} files, the maximum for this page.`);
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    found.push({ path: safePath(entry.fullPath), file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // A folder's entries come in lumps, and an empty one is the end.
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (entries.length === 0) return;
    for (const inner of entries) await collect(inner, most, found);
  }
}
