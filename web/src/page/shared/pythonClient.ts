/**
 * Client of a JSON handler of the `seeklab` package, which runs in its own thread under Pyodide: the same code as the
 * command line's.
 *
 * The first question starts the thread. Stopping a question ends the thread, and the next question starts another.
 */
import type { HandlerName, FromPython, GivenFile, ToPython } from "../../python/messages.ts";

interface Waiting {
  readonly resolve: (answer: string) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: ((share: number) => void) | undefined;
}

export interface PythonClientOptions {
  readonly handler: HandlerName;
  readonly onReady: (version: string, loaded: readonly string[]) => void;
  /** Starts the thread; tests pass their own. */
  readonly begin?: (() => Worker) | undefined;
}

const beginWorker = () => new Worker(new URL("../../python/pythonWorker.ts", import.meta.url), { type: "module" });

/** The caller stopped the work. */
export class Stopped extends Error {}

/** Python itself failed and may not work any longer. */
export class PythonFailed extends Error {}

export class PythonClient {
  readonly #options: PythonClientOptions;
  #worker: Worker | undefined;
  #waiting = new Map<number, Waiting>();
  #nextId = 1;

  constructor(options: PythonClientOptions) {
    this.#options = options;
  }

  /** True if a thread runs or is starting. */
  get hasBegun(): boolean {
    return this.#worker !== undefined;
  }

  /** Returns the handler's answer; throws an error if it is a problem. The caller names the type, since JSON has none. */
  async ask<T extends object>(
    message: object,
    { files, onProgress }: { files?: readonly GivenFile[]; onProgress?: (share: number) => void } = {},
  ): Promise<T> {
    this.#worker ??= this.#start();
    const id = this.#nextId++;
    const sent: ToPython = { kind: "ask", id, handler: this.#options.handler, message: JSON.stringify(message), files };
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

  /** Stops all questions in progress; `why` is the reason that their callers get. */
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
      else waiting?.reject(new PythonFailed(`Python failed: ${message.error ?? ""}`));
    }
  }

  /** Ends the thread and rejects all questions in progress. */
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
    `Python could not be loaded. Check the network and try again; offline, this works only after an earlier visit.${reason}`,
  );
}
