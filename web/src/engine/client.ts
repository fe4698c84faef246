/** The page's side of the engine's worker: questions, runs and text as promises. */
import libraryUrl from "seeklab-library?url";
import wasmUrl from "seeklab-engine-wasm?url";
import { type AskEngine, Cancelled, EngineError, type Result } from "./api.ts";
import type { Question, Questions, RunRequest, Summary, TextRequest } from "./types.ts";
import { firstPaint } from "./firstPaint.ts";
import type { FromWorker, ToWorker } from "./messages.ts";
import { fillZeroColumns } from "./simulate.ts";

export interface RunOptions {
  /** Under which name the finished run stays open for {@link EngineClient.text}. */
  readonly slot?: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: number) => void;
  /** Told of the run as far as it is, when it takes a while. */
  readonly onPartial?: ((result: Result) => void) | undefined;
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress?: ((progress: number) => void) | undefined;
  readonly onPartial?: ((result: Result) => void) | undefined;
}

/** The engine, compiled once for all threads of the page, and its library, while the first of them starts. */
let loaded: Promise<[WebAssembly.Module, string]> | undefined;

/** The library that the page names, which has its own case only; one with all cases where it names none. */
function libraryFile(): string {
  return document.querySelector<HTMLMetaElement>("meta[name=library]")?.content ?? libraryUrl;
}

/** The engine is by far the largest file of a page: whatever the first picture needs comes before it. */
async function compile(): Promise<WebAssembly.Module> {
  await firstPaint();
  return WebAssembly.compileStreaming(fetch(wasmUrl));
}

async function fetchText(url: string): Promise<string> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} is missing on this site`);
  return response.text();
}

export class EngineClient {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;
  #isReady = false;
  #unsent: ToWorker[] = [];

  constructor() {
    this.#worker = new Worker(new URL("./engineWorker.ts", import.meta.url), { type: "module" });
    this.#worker.onmessage = (event: MessageEvent<FromWorker>) => this.#hear(event.data);
    this.#worker.onerror = (event) => this.#stop(event.message || "it could not be loaded");
    loaded ??= Promise.all([compile(), fetchText(libraryFile())]);
    loaded
      .then(([module, library]) => {
        this.#worker.postMessage({ kind: "engine", module, library } satisfies ToWorker);
        this.#isReady = true;
        for (const message of this.#unsent) this.#worker.postMessage(message);
        this.#unsent = [];
      })
      .catch((error: unknown) => this.#stop(error instanceof Error ? error.message : String(error)));
  }

  #stop(why: string): void {
    const error = new Error(`The engine stopped: ${why}. Reload the page.`);
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }

  /** {@link call}, for those who need nothing else of the client. */
  readonly ask: AskEngine = (name, input) => this.call(name, input);

  /** Asks one of the questions that the engine answers at once. */
  call<Q extends Question>(name: Q, input: Questions[Q]["input"]): Promise<Questions[Q]["answer"]> {
    return this.#ask((id) => ({ kind: "call", id, name, input })) as Promise<Questions[Q]["answer"]>;
  }

  /** Runs to the end. Rejects with {@link Cancelled} once the signal is raised. */
  run(request: RunRequest, options: RunOptions = {}): Promise<Result> {
    const { slot = "stage", signal, onProgress, onPartial } = options;
    if (signal?.aborted === true) return Promise.reject(new Cancelled());
    const answer = this.#ask(
      (id) => {
        signal?.addEventListener("abort", () => this.#send({ kind: "cancel", id }), { once: true });
        return { kind: "run", id, slot, request, partials: onPartial !== undefined };
      },
      { onProgress, onPartial },
    );
    return answer as Promise<Result>;
  }

  /** Runs to the end and keeps nothing but the summary. Rejects with {@link Cancelled} once the signal is raised. */
  summary(request: RunRequest, signal: AbortSignal): Promise<Summary> {
    if (signal.aborted) return Promise.reject(new Cancelled());
    const ended = new AbortController();
    const answer = this.#ask((id) => {
      signal.addEventListener("abort", () => this.#send({ kind: "cancel", id }), { once: true, signal: ended.signal });
      return { kind: "summary", id, request };
    }) as Promise<Summary>;
    return answer.finally(() => ended.abort());
  }

  /** Prints the finished run in `slot` as one of the real tools would. */
  text(request: TextRequest, slot = "stage"): Promise<string> {
    return this.#ask((id) => ({ kind: "text", id, slot, request })) as Promise<string>;
  }

  /** Ends the thread; what was asked stays unanswered. */
  close(): void {
    this.#worker.terminate();
    this.#waiting.clear();
  }

  #ask(build: (id: number) => ToWorker, heard: Pick<Waiting, "onProgress" | "onPartial"> = {}): Promise<unknown> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, ...heard });
      this.#send(build(id));
    });
  }

  #send(message: ToWorker): void {
    if (this.#isReady) this.#worker.postMessage(message);
    else this.#unsent.push(message);
  }

  #hear(message: FromWorker): void {
    const waiting = this.#waiting.get(message.id);
    if (waiting === undefined) return;
    if (message.kind === "progress") {
      waiting.onProgress?.(message.progress);
      return;
    }
    if (message.kind === "partial") {
      waiting.onPartial?.(fillZeroColumns(message.result));
      // The next frame shows the drawing. A page in the background has no frames and receives nothing more.
      requestAnimationFrame(() => this.#send({ kind: "drawn", id: message.id }));
      return;
    }
    this.#waiting.delete(message.id);
    if (message.kind === "answer") waiting.resolve(message.value);
    else if (message.kind === "result") waiting.resolve(fillZeroColumns(message.result));
    else if (message.kind === "cancelled") waiting.reject(new Cancelled());
    else waiting.reject(new EngineError(message.problems));
  }
}
