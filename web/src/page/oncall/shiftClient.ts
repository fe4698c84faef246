/** Client of the session of a shift. Stopping a command ends its thread; the shift then continues in a new one. */
import type { Kept, Message, ShiftId, Now, Opened } from "../../lab/shift/protocol.ts";
import { PythonClient, type PythonClientOptions } from "../shared/pythonClient.ts";

export const stopped = "Stopped. The command did not run; no points charged.";

export class ShiftClient {
  readonly #python: PythonClient;
  #kept: Kept | undefined;
  #written: string | undefined;

  constructor(options: Omit<PythonClientOptions, "handler">) {
    this.#python = new PythonClient({ ...options, handler: "seeklab.oncall.session" });
  }

  /** Opens a shift. `written` is the text of its case file, if it has one. */
  async open({ seed, weeks, level }: ShiftId, kept?: Kept, written?: string): Promise<Opened> {
    const opened = await this.#python.ask<Opened>({ open: written ?? seed, weeks, level, kept } satisfies Message);
    this.#kept = opened.kept;
    this.#written = written;
    return opened;
  }

  async type(line: string): Promise<Now> {
    const now = await this.#python.ask<Now>({ type: line } satisfies Message);
    this.#kept = now.kept;
    return now;
  }

  /** Stops the running command and opens the shift again in a new thread. */
  async stop(): Promise<void> {
    this.#python.stop(stopped);
    if (this.#kept !== undefined) await this.open(this.#kept, this.#kept, this.#written);
  }
}
