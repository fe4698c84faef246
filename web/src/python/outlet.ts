/**
 * Sends the output of Python to the page: at once while there is little, in batches if there is more, and never more
 * than a page can show. An endless loop that prints costs the page a few messages per second and then nothing.
 *
 * Python blocks its thread while it runs, so timers do not fire. Whether a batch is due is checked when the next text
 * is printed.
 */
export interface OutletOptions {
  readonly send: (text: string, isError: boolean) => void;
  /** Milliseconds of a clock. */
  readonly now?: () => number;
}

/** Messages that may be sent at once, and how many more each second. */
const burst = 60;
const each_s = 20;
/** Characters of one run that are shown. */
export const mostShown = 200_000;

export class Outlet {
  readonly #options: Required<OutletOptions>;
  #tokens = burst;
  #last_ms: number;
  #waiting: { text: string; isError: boolean }[] = [];
  #shown = 0;
  #dropped = 0;

  constructor({ send, now = () => performance.now() }: OutletOptions) {
    this.#options = { send, now };
    this.#last_ms = now();
  }

  /** A run begins: it may show as much as any. */
  begin(): void {
    this.#shown = 0;
    this.#dropped = 0;
  }

  write(text: string, isError: boolean): void {
    const kept = text.slice(0, Math.max(0, mostShown - this.#shown));
    this.#shown += kept.length;
    this.#dropped += text.length - kept.length;
    if (kept !== "") {
      const last = this.#waiting.at(-1);
      if (last?.isError === isError) last.text += kept;
      else this.#waiting.push({ text: kept, isError });
    }
    const now = this.#options.now();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#last_ms) / 1000) * each_s);
    this.#last_ms = now;
    if (this.#tokens >= 1) this.#send();
  }

  /** The run has ended: what waits is sent, and what was left out is told. */
  end(): void {
    this.#send();
    if (this.#dropped > 0) {
      const many = this.#dropped.toLocaleString("en");
      this.#options.send(`… ${many} more characters are not shown.\n`, true);
    }
  }

  #send(): void {
    for (const { text, isError } of this.#waiting) {
      this.#tokens -= 1;
      this.#options.send(text, isError);
    }
    this.#waiting = [];
  }
}
