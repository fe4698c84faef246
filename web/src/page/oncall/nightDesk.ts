/** The incident room's desk. A command that is stopped ends with its thread; the night is then taken up where it stood. */
import type { Kept, Message, NightName, Now, Opened } from "../../lab/night/protocol.ts";
import { PythonDesk, type PythonDeskOptions } from "../shared/pythonDesk.ts";

const stopped = "Stopped. The command was not carried out and has cost nothing.";

export class NightDesk {
  readonly #desk: PythonDesk;
  #kept: Kept | undefined;
  #written: string | undefined;

  constructor(options: Omit<PythonDeskOptions, "desk">) {
    this.#desk = new PythonDesk({ ...options, desk: "seeklab.oncall.session" });
  }

  /** `written` is the text of a case, where the night is that of one. */
  async open({ seed, weeks }: NightName, kept?: Kept, written?: string): Promise<Opened> {
    const opened = await this.#desk.ask<Opened>({ open: written ?? seed, weeks, kept } satisfies Message);
    this.#kept = opened.kept;
    this.#written = written;
    return opened;
  }

  async type(line: string): Promise<Now> {
    const now = await this.#desk.ask<Now>({ type: line } satisfies Message);
    this.#kept = now.kept;
    return now;
  }

  /** Ends what is being carried out, and takes the night up again. */
  async stop(): Promise<void> {
    this.#desk.stop(stopped);
    if (this.#kept !== undefined) await this.open(this.#kept, this.#kept, this.#written);
  }
}
