/** The command line of the shell: history, completion and pasted text. */

/** The lines that were entered, newest last. The unfinished line is kept while the arrow keys browse the others. */
export class History {
  readonly #lines: string[] = [];
  #at = 0;
  #draft = "";

  add(line: string): void {
    if (line.trim() !== "" && line !== this.#lines.at(-1)) this.#lines.push(line);
    this.#at = this.#lines.length;
  }

  /** Returns the previous line, or undefined at the oldest. */
  older(current: string): string | undefined {
    if (this.#at === 0) return undefined;
    if (this.#at === this.#lines.length) this.#draft = current;
    this.#at -= 1;
    return this.#lines[this.#at];
  }

  /** Returns the next line, or undefined at the end. */
  newer(): string | undefined {
    if (this.#at === this.#lines.length) return undefined;
    this.#at += 1;
    return this.#at === this.#lines.length ? this.#draft : this.#lines[this.#at];
  }
}

/** The line extended by what all candidates share, and the candidates. */
export interface Completion {
  readonly line: string;
  readonly candidates: readonly string[];
}

export function complete(typed: string, words: readonly string[]): Completion {
  const start = typed.replace(/\s+/g, " ").trimStart();
  if (start === "") return { line: typed, candidates: [] };
  const candidates = words.filter((word) => word.startsWith(start));
  if (candidates.length === 0) return { line: typed, candidates };
  return { line: candidates.reduce(commonStart), candidates };
}

function commonStart(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, length);
}

/** Splits pasted text into complete lines to run and the rest, which stays in the command line. */
export function pasted(before: string, text: string): { readonly lines: readonly string[]; readonly rest: string } {
  const lines = (before + text).split(/\r\n|\r|\n/);
  return { lines: lines.slice(0, -1), rest: lines.at(-1)! };
}
