/** A line that is typed into a shell: what was typed before, and how it may go on. */

/** What was typed, newest last; the arrow keys go through it, and what stood in the line waits at its end. */
export class History {
  readonly #lines: string[] = [];
  #at = 0;
  #draft = "";

  add(line: string): void {
    if (line.trim() !== "" && line !== this.#lines.at(-1)) this.#lines.push(line);
    this.#at = this.#lines.length;
  }

  /** The line before, or nothing at the first. */
  older(current: string): string | undefined {
    if (this.#at === 0) return undefined;
    if (this.#at === this.#lines.length) this.#draft = current;
    this.#at -= 1;
    return this.#lines[this.#at];
  }

  /** The line after, or nothing at the end. */
  newer(): string | undefined {
    if (this.#at === this.#lines.length) return undefined;
    this.#at += 1;
    return this.#at === this.#lines.length ? this.#draft : this.#lines[this.#at];
  }
}

/** A line, as far as it can go on in one way only, and all the ways in which it can. */
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

/** What was pasted, as lines to carry out, and what stays in the line. */
export function pasted(before: string, text: string): { readonly lines: readonly string[]; readonly rest: string } {
  const lines = (before + text).split(/\r\n|\r|\n/);
  return { lines: lines.slice(0, -1), rest: lines.at(-1)! };
}
