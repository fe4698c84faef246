// @vitest-environment jsdom

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";

const source = readFileSync(join(import.meta.dirname, "../../src/browserLab.js"), "utf8");
/** The notifications, by the names that they have in the source. */
const texts = Object.fromEntries(
  [...source.matchAll(/const (stopped|kept|notKept) =\s+((?:"[^"]*"(?: \+\s+)?)+);/g)].map(([, name, text]) => [
    name!,
    [...text!.matchAll(/"([^"]*)"/g)].map(([, part]) => part).join(""),
  ]),
);
const path = "notebooks/commits.json";
const entry = { id: "misses", value: "each read misses a little", confidence: 70 };

interface Plugin {
  readonly default: { activate(app: unknown): void };
}

/** A signal as Lumino has it. */
function signal<T>() {
  const slots: ((sender: unknown, value: T) => void)[] = [];
  return {
    connect: (slot: (sender: unknown, value: T) => void) => slots.push(slot),
    emit: (value: T) => slots.forEach((slot) => slot(undefined, value)),
  };
}

/** The browser's storage as the lab's contents show it. */
function contentsOf(files: Map<string, unknown>, isFull = false) {
  return {
    async get(name: string) {
      if (files.has(name)) return { content: files.get(name) };
      const inside = [...files.keys()].filter((file) => file.startsWith(`${name}/`));
      return { content: inside.map((file) => ({ name: file.slice(name.length + 1) })) };
    },
    async save(name: string, { content }: { content: unknown }) {
      if (isFull) throw new Error("QuotaExceededError");
      files.set(name, content);
    },
    async rename(name: string, other: string) {
      files.set(other, files.get(name));
      files.delete(name);
    },
  };
}

function kernelOf(status = "idle") {
  const calls: string[] = [];
  const targets = new Map<string, (comm: unknown, message: { content: { data: unknown } }) => void>();
  return {
    calls,
    status,
    restart: async () => void calls.push("restart"),
    interrupt: async () => void calls.push("interrupt"),
    requestExecute: ({ code }: { code: string }) => void calls.push(code),
    registerCommTarget: (name: string, open: Parameters<typeof targets.set>[1]) => void targets.set(name, open),
    commit: (data: unknown) => targets.get("seeklab.commits")!({}, { content: { data } }),
  };
}

/** The lab with one notebook open, whose kernel has just come. */
async function lab({ files = new Map<string, unknown>(), isFull = false, kernel = kernelOf() } = {}) {
  (0, eval)(source);
  const { seeklab } = (globalThis as unknown as { _JUPYTERLAB: { seeklab: { get(): Promise<() => Plugin> } } })
    ._JUPYTERLAB;
  const notes: string[] = [];
  const sessionContext = {
    kernelChanged: signal<{ newValue: unknown }>(),
    session: undefined,
    restartKernel: () => kernel.restart(),
  };
  const currentWidget = { sessionContext, context: { path: "notebooks/01.ipynb" } };
  const app = {
    commands: { execute: async (_: string, { message }: { message: string }) => void notes.push(message) },
    shell: { currentWidget, currentChanged: signal<undefined>() },
    serviceManager: { contents: contentsOf(files, isFull), serverSettings: { baseUrl: "https://site/lab/" } },
    restored: Promise.resolve(),
  };
  (await seeklab.get())().default.activate(app);
  sessionContext.kernelChanged.emit({ newValue: kernel });
  await vi.waitFor(() => undefined);
  await new Promise((next) => setTimeout(next, 5));
  return { kernel, files, notes };
}

beforeEach(() => {
  vi.unstubAllGlobals();
  const request: { onsuccess?: () => void; result: { close(): void } } = { result: { close: () => undefined } };
  const open = () => {
    setTimeout(() => request.onsuccess?.());
    return request;
  };
  vi.stubGlobal("indexedDB", { open, deleteDatabase: () => undefined });
});

describe("the lab in the browser", () => {
  it("hands a kernel what was committed, and nothing when there is nothing", async () => {
    expect((await lab()).kernel.calls).toEqual([]);
    const { kernel } = await lab({ files: new Map([[path, JSON.stringify([entry])]]) });
    const [code] = kernel.calls;
    const written = /write_text\((".*")\)$/.exec(code!)![1]!;
    expect(JSON.parse(JSON.parse(written) as string)).toEqual([entry]);
  });

  it("keeps each commitment beside the notebook, in order, and says once where", async () => {
    const { kernel, files, notes } = await lab();
    kernel.commit(entry);
    kernel.commit({ ...entry, id: "cost" });
    await vi.waitFor(() => expect(JSON.parse(String(files.get(path)))).toHaveLength(2));
    expect(JSON.parse(String(files.get(path)))).toEqual([entry, { ...entry, id: "cost" }]);
    expect(notes).toEqual([texts.kept]);
    expect(texts.kept).toContain("commits.json");
  });

  it("says what could not be kept", async () => {
    const full = await lab({ isFull: true });
    full.kernel.commit(entry);
    await vi.waitFor(() => expect(full.notes.join()).toContain(`${path}: QuotaExceededError`));
  });

  it.each(['{"a": 1}', "[{", ""])("sets a file aside that holds no list: %s", async (text) => {
    const { kernel, files, notes } = await lab({
      files: new Map([
        [path, text],
        [`${path}.broken`, "an older one"],
      ]),
    });
    expect(kernel.calls).toEqual([]);
    kernel.commit(entry);
    await vi.waitFor(() => expect(JSON.parse(String(files.get(path)))).toEqual([entry]));
    expect(files.get(`${path}.broken1`)).toBe(text);
    expect(files.get(`${path}.broken`)).toBe("an older one");
    expect(notes[0]).toContain("commits.json.broken1");
  });

  it("stops by a restart, says so, and hands the new kernel the commitments before anything else", async () => {
    const kernel = kernelOf("busy");
    const { notes } = await lab({ files: new Map([[path, JSON.stringify([entry])]]), kernel });
    await kernel.interrupt();
    expect(kernel.calls).toHaveLength(3);
    expect(kernel.calls[1]).toBe("restart");
    expect(kernel.calls[2]).toContain("commits.json");
    expect(notes).toEqual([texts.stopped]);
  });

  it("restarts nothing when nothing runs", async () => {
    const { kernel, notes } = await lab();
    await kernel.interrupt();
    expect(kernel.calls).toEqual([]);
    expect(notes).toHaveLength(1);
    expect(Object.values(texts)).not.toContain(notes[0]);
  });

  it("says at once when the browser stores nothing, and not when one of two stores works", async () => {
    const forbidden = () => {
      throw new Error("forbidden");
    };
    vi.stubGlobal("indexedDB", { open: forbidden });
    expect((await lab()).notes).toEqual([]);
    vi.stubGlobal("localStorage", { setItem: forbidden });
    expect((await lab()).notes).toEqual([texts.notKept]);
  });

  it("tells nothing that a notification cuts off", () => {
    const lengths = Object.values(texts).map(({ length }) => length);
    expect(lengths).toHaveLength(3);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(140);
  });
});
