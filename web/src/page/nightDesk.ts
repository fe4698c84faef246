/**
 * The incident room's desk in a thread of its own: `seeklab.oncall.room` under Pyodide, the very code of the command line.
 *
 * A command that is stopped ends with its thread; another one is begun, and the night is taken up where it stood.
 */
import {
  type Kept,
  type Message,
  type NightName,
  type Now,
  type Opened,
  unlessProblem,
} from "../lab/night/protocol.ts";
import type { FromPython, ToPython } from "../python/messages.ts";

interface Waiting {
  readonly resolve: (answer: string) => void;
  readonly reject: (error: Error) => void;
}

export interface DeskOptions {
  readonly onReady: (version: string, loaded: readonly string[]) => void;
  /** The thread; tests give another. */
  readonly begin?: () => Worker;
}

const beginWorker = () => new Worker(new URL("../python/pythonWorker.ts", import.meta.url), { type: "module" });

const stopped = "Stopped. The command was not carried out and has cost nothing.";

export class NightDesk {
  readonly #options: Required<DeskOptions>;
  #worker: Worker | undefined;
  #waiting = new Map<number, Waiting>();
  #nextId = 1;
  #kept: Kept | undefined;
  #written: string | undefined;

  constructor(options: DeskOptions) {
    this.#options = { begin: beginWorker, ...options };
  }

  /** `written` is the text of a case, where the night is that of one. */
  async open({ seed, weeks }: NightName, kept?: Kept, written?: string): Promise<Opened> {
    const opened = unlessProblem(JSON.parse(await this.#ask({ open: written ?? seed, weeks, kept })) as Opened);
    this.#kept = opened.kept;
    this.#written = written;
    return opened;
  }

  async type(line: string): Promise<Now> {
    const now = unlessProblem(JSON.parse(await this.#ask({ type: line })) as Now);
    this.#kept = now.kept;
    return now;
  }

  /** Ends what is being carried out, and takes the night up again. */
  async stop(): Promise<void> {
    this.#end(stopped);
    if (this.#kept !== undefined) await this.open(this.#kept, this.#kept, this.#written);
  }

  #ask(message: Message): Promise<string> {
    this.#worker ??= this.#start();
    const id = this.#nextId++;
    this.#worker.postMessage({ kind: "night", id, message: JSON.stringify(message) } satisfies ToPython);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  #start(): Worker {
    const worker = this.#options.begin();
    worker.onmessage = ({ data }: MessageEvent<FromPython>) => this.#hear(data);
    worker.onerror = (event) => this.#end(notLoaded(event.message));
    return worker;
  }

  #hear(message: FromPython): void {
    if (message.kind === "ready") this.#options.onReady(message.version, message.loaded);
    else if (message.kind === "unloaded") this.#end(notLoaded(message.why));
    else if (message.kind === "night") {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.answer !== null) waiting?.resolve(message.answer);
      else waiting?.reject(new Error(`The room has failed: ${message.error ?? ""}`));
    }
  }

  /** The thread is gone, and so are the answers that were waited for. */
  #end(why: string): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(new Error(why));
    this.#waiting.clear();
  }
}

function notLoaded(why: string): string {
  const reason = why === "" ? "" : ` The browser says: ${why}.`;
  return `Python could not be loaded. Without a network the room opens only where it has been open before; with one, try again.${reason}`;
}
