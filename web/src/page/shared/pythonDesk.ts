/**
 * A desk of the `seeklab` package in a thread of its own, under Pyodide: the very code of the command line, for any page.
 *
 * The thread is begun when something is asked for the first time. What is stopped ends with its thread, and the next question
 * begins another.
 */
import type { DeskName, FromPython, GivenFile, ToPython } from "../../python/messages.ts";

interface Waiting {
  readonly resolve: (answer: string) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: ((share: number) => void) | undefined;
}

export interface PythonDeskOptions {
  readonly desk: DeskName;
  readonly onReady: (version: string, loaded: readonly string[]) => void;
  /** The thread; tests give another. */
  readonly begin?: (() => Worker) | undefined;
}

const beginWorker = () => new Worker(new URL("../../python/pythonWorker.ts", import.meta.url), { type: "module" });

/** The work was ended by whoever asked for it. */
export class Stopped extends Error {}

/** Python itself has failed, and may not be fit for more. */
export class PythonFailed extends Error {}

export class PythonDesk {
  readonly #options: PythonDeskOptions;
  #worker: Worker | undefined;
  #waiting = new Map<number, Waiting>();
  #nextId = 1;

  constructor(options: PythonDeskOptions) {
    this.#options = options;
  }

  /** Whether a thread is there, or on its way. */
  get hasBegun(): boolean {
    return this.#worker !== undefined;
  }

  /** What the desk answers; a problem that it names is thrown as its sentence. The caller names the type, since JSON carries none. */
  async ask<T extends object>(
    message: object,
    { files, onProgress }: { files?: readonly GivenFile[]; onProgress?: (share: number) => void } = {},
  ): Promise<T> {
    this.#worker ??= this.#start();
    const id = this.#nextId++;
    const sent: ToPython = { kind: "ask", id, desk: this.#options.desk, message: JSON.stringify(message), files };
    // A file's bytes are moved, not copied.
    this.#worker.postMessage(
      sent,
      (files ?? []).map(({ bytes }) => bytes.buffer),
    );
    const text = await new Promise<string>((resolve, reject) => this.#waiting.set(id, { resolve, reject, onProgress }));
    const answer = JSON.parse(text) as T | { readonly problem: string };
    if ("problem" in answer) throw new Error(answer.problem);
    return answer;
  }

  /** Ends whatever is under way, with the reason that those who wait for it are given. */
  stop(why: string): void {
    this.#end(new Stopped(why));
  }

  #start(): Worker {
    const worker = (this.#options.begin ?? beginWorker)();
    worker.onmessage = ({ data }: MessageEvent<FromPython>) => this.#hear(data);
    worker.onerror = (event) => this.#end(notLoaded(event.message));
    return worker;
  }

  #hear(message: FromPython): void {
    if (message.kind === "ready") this.#options.onReady(message.version, message.loaded);
    else if (message.kind === "unloaded") this.#end(notLoaded(message.why));
    else if (message.kind === "progress") this.#waiting.get(message.id)?.onProgress?.(message.share);
    else if (message.kind === "answer") {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.answer !== null) waiting?.resolve(message.answer);
      else waiting?.reject(new PythonFailed(`Python has failed: ${message.error ?? ""}`));
    }
  }

  /** The thread is gone, and so are the answers that were waited for. */
  #end(why: Error): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(why);
    this.#waiting.clear();
  }
}

function notLoaded(why: string): Error {
  const reason = why === "" ? "" : ` The browser says: ${why}.`;
  return new Error(
    `Python could not be loaded. Without a network this page runs it only where it has run before; with one, try again.${reason}`,
  );
}
