// @vitest-environment node
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FileDropController } from "../../src/page/fileDrop/fileDropController.ts";
import type { Given } from "../../src/page/fileDrop/givenFiles.ts";
import { PythonFailed, Stopped } from "../../src/page/shared/pythonClient.ts";
import { pythonInWords } from "../../src/page/shared/pythonSize.ts";

interface Question {
  readonly message: object;
  readonly onProgress: (share: number) => void;
  readonly answer: (answer: object) => void;
  readonly fail: (error: Error) => void;
}

const given = (path: string): Given => ({ path, file: new File(["1"], path) });

function open() {
  const questions: Question[] = [];
  const stopped: string[] = [];
  const answers: unknown[] = [];
  const errors: unknown[] = [];
  const drop = new FileDropController<{ said: string }>({
    python: {
      hasBegun: false,
      stop: (words) => stopped.push(words),
      ask: <T extends object>(message: object, options?: { readonly onProgress?: Question["onProgress"] }) =>
        new Promise<T>((resolve, fail) =>
          questions.push({ message, onProgress: options!.onProgress!, answer: (answer) => resolve(answer as T), fail }),
        ),
    },
    limits: { files: 2, bytes: 100, allBytes: 100 },
    working: "Comparing",
    taken: () => new Map([["a", "iostat"]]),
    listeners: {
      onFiles: () => undefined,
      onStatus: () => undefined,
      onAnswer: (answer) => answers.push(answer),
      onAccepted: () => (errors.length = 0),
      onError: (error) => errors.push(error),
    },
  });
  const question = async (count: number) => {
    await vi.waitFor(() => expect(questions).toHaveLength(count));
    return questions[count - 1]!;
  };
  return { drop, question, questions, stopped, answers, errors };
}

describe("the files of a reader", () => {
  beforeEach(() => vi.stubGlobal("pythonSize", { bytes: 17e6, gzip_bytes: 6e6 }));
  afterEach(() => vi.unstubAllGlobals());

  it("are looked at with progress, and what each is is known with the answer", async () => {
    const { drop, question, answers } = open();
    drop.add([given("a")]);
    const announced = drop.status;
    expect(announced).toContain(pythonInWords());
    const work = drop.look();
    expect(drop.status).toContain(pythonInWords());
    expect(drop.status).not.toBe(announced);
    const { answer, onProgress } = await question(1);
    onProgress(0.5);
    expect([drop.status, drop.share, drop.isAtWork]).toEqual(["Comparing …", 0.5, true]);
    answer({ said: "found" });
    await work;
    expect([drop.status, drop.share, drop.isAtWork]).toEqual(["", undefined, false]);
    expect(answers).toEqual([undefined, { said: "found" }]);
    expect(drop.given.map((one) => drop.kindOf(one))).toEqual(["iostat"]);
  });

  it("wait for the work to end, which is one at a time", async () => {
    const { drop, question, questions, errors } = open();
    drop.loaded();
    drop.add([given("a")]);
    const work = drop.look();
    await drop.look();
    drop.add([given("b")]);
    expect(errors).toHaveLength(1);
    (await question(1)).answer({ said: "" });
    await work;
    expect(questions).toHaveLength(1);
    drop.add([given("b")]);
    expect(errors).toHaveLength(0);
    expect(drop.given.map(({ path }) => path)).toEqual(["a", "b"]);
    drop.add([given("c")]);
    expect(errors).toHaveLength(1);
  });

  it("of a sample take the place of others, and are looked at", async () => {
    const { drop, question } = open();
    drop.loaded();
    drop.add([given("mine")]);
    const work = drop.sample("plain");
    const made = await question(1);
    expect(made.message).toEqual({ record: "plain" });
    made.onProgress(0.1);
    expect(drop.status).toMatch(/^(?!Comparing).* …$/);
    made.answer({ files: { a: "1" } });
    const looked = await question(2);
    expect(looked.message).toEqual({ files: ["a"] });
    expect([drop.status, drop.share]).toEqual(["Comparing …", 0]);
    looked.answer({ said: "" });
    await work;
  });

  it.each<readonly [Error, string, number, readonly string[]]>([
    [new Stopped("Stopped."), "Stopped.", 0, []],
    [new PythonFailed("KeyError"), "", 1, [""]],
    [new Error("a: is empty"), "", 1, []],
  ])("stay when %s ends the work", async (error, status, errorCount, ended) => {
    const { drop, question, stopped, errors } = open();
    drop.add([given("a")]);
    const work = drop.look();
    (await question(1)).fail(error);
    await work;
    expect([drop.status, drop.isAtWork, errors.length]).toEqual([status, false, errorCount]);
    expect(stopped).toEqual(ended);
    expect(drop.given).toHaveLength(1);
  });
});
