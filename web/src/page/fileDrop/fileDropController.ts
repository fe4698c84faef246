/**
 * The files that a reader gives a page, and the work on them: no element is touched here.
 *
 * One thing is done at a time. Whatever fails is told, and the files and the last answer stay; with other files, that answer goes.
 */
import { bytesOf, type Given, type Limits, withMore } from "./givenFiles.ts";
import { type PythonClient, PythonFailed, Stopped } from "../shared/pythonClient.ts";
import { pythonInWords } from "../shared/pythonSize.ts";

export interface FileDropListeners<Answer> {
  /** Files have come or gone, or it is known what they are. */
  onFiles(): void;
  /** The activity has changed: `isAtWork`, `share` or `status`. */
  onStatus(): void;
  /** There is an answer; nothing when it is of other files. */
  onAnswer(answer: Answer | undefined): void;
  onAccepted(): void;
  onError(error: unknown): void;
}

export interface FileDropControllerOptions<Answer extends object> {
  readonly python: Pick<PythonClient, "ask" | "stop" | "hasBegun">;
  readonly limits: Limits;
  /** The activity while the files are processed, such as “Comparing with the incidents”. */
  readonly working: string;
  /** Fields to send to the JSON handler besides the files. */
  readonly asked?: (() => object) | undefined;
  /** Detected kind of each file, by its path. */
  readonly taken?: ((answer: Answer) => ReadonlyMap<string, string>) | undefined;
  readonly listeners: FileDropListeners<Answer>;
}

/** The status after the reader has stopped the work. */
export const stoppedWords = "Stopped. No result was saved.";

export class FileDropController<Answer extends object> {
  readonly #options: FileDropControllerOptions<Answer>;
  #given: readonly Given[] = [];
  #taken: ReadonlyMap<string, string> = new Map();
  #isLoaded = false;
  /** The current activity; nothing between two. */
  #doing: string | undefined;
  #share: number | undefined;
  #status = "";

  constructor(options: FileDropControllerOptions<Answer>) {
    this.#options = options;
  }

  get given(): readonly Given[] {
    return this.#given;
  }

  get isAtWork(): boolean {
    return this.#doing !== undefined;
  }

  /** Return the finished share of the work, 0 to 1; nothing while it is unknown. */
  get share(): number | undefined {
    return this.#share;
  }

  get status(): string {
    return this.#status;
  }

  kindOf({ path }: Given): string | undefined {
    return this.#taken.get(path);
  }

  /** Python is there. */
  loaded(): void {
    this.#isLoaded = true;
  }

  add(more: readonly Given[]): void {
    const { limits, listeners } = this.#options;
    listeners.onAccepted();
    try {
      if (this.isAtWork) throw new Error("You can add files when this has finished or was stopped.");
      this.set(withMore(this.#given, more, limits));
    } catch (error) {
      listeners.onError(error);
    }
  }

  remove(one: Given): void {
    this.set(this.#given.filter((other) => other !== one));
  }

  set(files: readonly Given[]): void {
    this.#given = files;
    this.#taken = new Map();
    const isNew = files.length > 0 && !this.#isLoaded && !this.#options.python.hasBegun;
    this.#options.listeners.onAnswer(undefined);
    this.#options.listeners.onFiles();
    this.#say(isNew ? `The page runs Python for it: ${pythonInWords()}` : "");
  }

  look(): Promise<void> {
    return this.#work(() => this.#look());
  }

  /** Has the simulator write files, and looks at them. */
  sample(name: string): Promise<void> {
    return this.#work(async () => {
      this.#options.listeners.onAnswer(undefined);
      this.#begin("The simulator runs");
      const { files } = await this.#options.python.ask<{ files: Readonly<Record<string, string>> }>(
        { record: name },
        { onProgress: (share) => this.#progress(share) },
      );
      this.set(Object.entries(files).map(([path, text]) => ({ path, file: new File([text], path), isMade: true })));
      await this.#look();
    });
  }

  stop(): void {
    this.#options.python.stop(stoppedWords);
  }

  async #look(): Promise<void> {
    const { python, working, asked, taken, listeners } = this.#options;
    this.#begin(working);
    const files = await bytesOf(this.#given);
    const paths = this.#given.map(({ path }) => path);
    const onProgress = (share: number) => this.#progress(share);
    const answer = await python.ask<Answer>({ files: paths, ...asked?.() }, { files, onProgress });
    this.#taken = taken?.(answer) ?? new Map();
    listeners.onFiles();
    this.#say("");
    listeners.onAnswer(answer);
  }

  #begin(doing: string): void {
    this.#doing = doing;
    if (this.#share !== undefined) this.#share = 0;
    this.#say(this.#isLoaded ? `${doing} …` : `Loading Python: ${pythonInWords()}`);
  }

  #progress(share: number): void {
    this.#share = share;
    this.#say(`${this.#doing ?? ""} …`);
  }

  #say(words: string): void {
    this.#status = words;
    this.#options.listeners.onStatus();
  }

  async #work(what: () => Promise<void>): Promise<void> {
    const { python, listeners } = this.#options;
    if (this.isAtWork) return;
    listeners.onAccepted();
    this.#doing = "";
    listeners.onStatus();
    let said = "";
    try {
      await what();
    } catch (error) {
      // The next question gets a thread of its own.
      if (error instanceof PythonFailed) python.stop("");
      if (error instanceof Stopped) said = error.message;
      else listeners.onError(error);
    } finally {
      this.#doing = undefined;
      this.#share = undefined;
      this.#say(said);
    }
  }
}
