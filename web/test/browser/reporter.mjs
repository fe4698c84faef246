/** Prints one line for each test, and at the end "N passed, N failed", as `scripts/stages.py` reads it. */
import { stripVTControlCharacters } from "node:util";

export default class Reporter {
  #passed = 0;
  #failed = 0;

  printsToStdio() {
    return true;
  }

  onTestEnd({ title, annotations }, { status, duration, errors }) {
    const noted = (type) => annotations.find((annotation) => annotation.type === type)?.description;
    const line = `${title} (${(duration / 1000).toFixed(1)} s)`;
    if (status === "passed") {
      this.#passed += 1;
      const note = noted("note");
      console.log(`passed  ${line}${note === undefined ? "" : `: ${note}`}`);
      return;
    }
    this.#failed += 1;
    const words = errors.flatMap(({ message = "", snippet = "" }) => [
      ...message.split("\n").slice(0, 12),
      ...snippet.split("\n"),
    ]);
    const open = noted("open");
    const lines = [...words, ...(open === undefined ? [] : [`open then: ${open}`])].map(stripVTControlCharacters);
    console.log(`FAILED  ${line}\n        ${lines.join("\n        ")}`);
  }

  /** An error outside of a test, such as in a file that cannot be loaded. */
  onError({ message = "" }) {
    this.#failed += 1;
    console.log(stripVTControlCharacters(message));
  }

  onEnd() {
    console.log(`${this.#passed} passed, ${this.#failed} failed`);
  }
}
