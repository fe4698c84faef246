import { afterEach, describe, expect, it, vi } from "vitest";
import type { Kept } from "../../src/lab/shift/protocol.ts";
import { ShiftClient, stopped as stoppedWords } from "../../src/page/oncall/shiftClient.ts";
import {
  drawnSeed,
  shiftHash,
  unfinishedShift,
  played,
  readShift,
  rememberCase,
  rememberShift,
  rememberPlayed,
  ticketOfTheDay,
  writtenCase,
} from "../../src/page/oncall/shifts.ts";
import type { FromPython, ToPython } from "../../src/python/messages.ts";

afterEach(() => localStorage.clear());

const kept: Kept = {
  seed: 7,
  weeks: null,
  own: null,
  commands: [{ command: "ping", clock: "03:00:03", seconds: 3, points: 1, output: "PING" }],
  looked: ["ping"],
  named: [],
  set: {},
  seconds: 3,
  spent: 1,
  users: [[0, 0.1]],
};

describe("the shift in an address", () => {
  it("is a number, and is written as it is read", () => {
    for (const name of [
      { seed: 7, weeks: null },
      { seed: 20261123, weeks: "1-5" },
      { seed: 7, weeks: null, level: 3 },
    ]) {
      expect(readShift(shiftHash(name))).toEqual({ kind: "shift", name });
    }
    expect(shiftHash({ seed: 7, weeks: null })).toBe("#seed=7");
    expect(readShift("")).toEqual({ kind: "none" });
  });
  it.each([
    "#seed=",
    "#seed=-1",
    "#seed=1e9",
    "#seed=9999999999999999",
    "#seed=<img src=x>",
    "#v1=abc",
    "#seed=7&weeks=1-5<b>",
    "#seed=7&weeks=",
    "#seed=7&level=5",
    "#seed=7&weeks=1-5&level=1",
    `#${"x".repeat(100_000)}`,
  ])("%.30s is answered with a sentence", (hash) => {
    const found = readShift(hash);
    expect(found.kind).toBe("problem");
    const shown = found.kind === "problem" ? /“(.{1,41})”/.exec(found.message)![1]! : "";
    expect(shown.replace(/…$/, "")).toBe(hash.slice(0, 40));
  });
  it("is the date's for the ticket of the day, in universal time", () => {
    expect(ticketOfTheDay(new Date("2026-11-23T23:59:59Z"))).toBe(20261123);
    expect(ticketOfTheDay(new Date("2026-11-23T23:59:59-05:00"))).toBe(20261124);
  });
  it("is one of a hundred thousand when it is drawn", () => {
    expect([drawnSeed(() => 0), drawnSeed(() => 0.999999999)]).toEqual([0, 99999]);
  });
});

describe("the case that was opened last", () => {
  it("comes back, and what is none does not", () => {
    expect(writtenCase()).toBeUndefined();
    rememberCase({ name: "shift.sealed", text: "sealed" });
    expect(writtenCase()).toEqual({ name: "shift.sealed", text: "sealed" });
    expect(writtenCase(() => '{"name": 3, "text": "x"}')).toBeUndefined();
    expect(readShift("#case")).toEqual({ kind: "case" });
  });
});

describe("shifts that were played", () => {
  const ended = (seed: number, total: number, weeks: string | null = null) => ({
    seed,
    weeks,
    own: null,
    case: "slog-divert",
    title: "S6",
    score: { cause: 0, fix: 0, time: 0, total },
  });
  it("are kept, each once, with the best points, the newest first", () => {
    rememberPlayed(ended(7, 40));
    rememberPlayed(ended(8, 10));
    rememberPlayed(ended(7, 20));
    rememberPlayed(ended(7, 30, "1-5"));
    expect(played().map(({ seed, total, weeks }) => [seed, total, weeks])).toEqual([
      [7, 30, "1-5"],
      [7, 40, null],
      [8, 10, null],
    ]);
  });
  it("of a level are apart from others of the same number", () => {
    rememberPlayed(ended(7, 40));
    rememberPlayed({ ...ended(7, 50), level: 2, case: null });
    expect(played().map(({ level, total }) => [level, total])).toEqual([
      [2, 50],
      [undefined, 40],
    ]);
  });
  it("of a case that somebody wrote are known by its digest, and lead to no page", () => {
    rememberPlayed(ended(1, 40));
    rememberPlayed({ ...ended(1, 90), own: "cf6e", case: null, title: "Mine" });
    rememberPlayed({ ...ended(1, 20), own: "cf6e", case: null, title: "Mine" });
    expect(played().map(({ own, total, case: id }) => [own, total, id])).toEqual([
      ["cf6e", 90, null],
      [null, 40, "slog-divert"],
    ]);
  });
  it("are read strictly: what somebody else has written there is left out", () => {
    const written = [null, { seed: 1, total: 2, title: "x", case: "javascript:alert(1)//" }, { seed: "1" }];
    expect(played(() => JSON.stringify(written))).toEqual([]);
    expect(played(() => "{")).toEqual([]);
  });
  it("do not count the one under way, which is kept from its first command on", () => {
    rememberShift({ ...kept, commands: [] });
    expect(unfinishedShift()).toBeUndefined();
    rememberShift(kept);
    expect(unfinishedShift()).toEqual(kept);
    rememberShift(undefined);
    expect(unfinishedShift()).toBeUndefined();
    expect(unfinishedShift(() => '{"seed": -1, "commands": [1]}')).toBeUndefined();
    expect(unfinishedShift(() => JSON.stringify({ ...kept, level: 5 }))).toBeUndefined();
  });
  it("continue where earlier versions of the page saved them", () => {
    localStorage.setItem("seeklab.oncall.night", JSON.stringify(kept));
    expect(unfinishedShift()).toEqual(kept);
  });
});

/** A thread that the test answers for. */
function threads() {
  const begun: { said: ToPython[]; says: (message: FromPython) => void; isEnded: boolean }[] = [];
  const begin = () => {
    const worker = {
      said: [] as ToPython[],
      isEnded: false,
      onmessage: null as ((event: { data: FromPython }) => void) | null,
      postMessage: (message: ToPython) => worker.said.push(message),
      terminate: () => (worker.isEnded = true),
      says: (data: FromPython) => worker.onmessage!({ data }),
    };
    begun.push(worker);
    return worker as unknown as Worker;
  };
  return { begun, begin };
}

describe("the client of the session", () => {
  const handler = "seeklab.oncall.session";
  const opened = (id: number): FromPython => ({ kind: "answer", id, answer: JSON.stringify({ kept }), error: null });

  it("passes on what is typed as data, whatever it is", async () => {
    const { begun, begin } = threads();
    const client = new ShiftClient({ onReady: vi.fn(), begin });
    const line = '"); import os #';
    const answered = client.type(line);
    const asked = begun[0]!.said[0]!;
    expect(asked).toEqual({ kind: "ask", id: 1, handler, message: JSON.stringify({ type: line }) });
    begun[0]!.says(opened(1));
    expect((await answered).kept).toEqual(kept);
  });

  it("continues in a new thread when a command is stopped, and says that no points are charged", async () => {
    const { begun, begin } = threads();
    const client = new ShiftClient({ onReady: vi.fn(), begin });
    const first = client.open({ seed: 7, weeks: null });
    begun[0]!.says(opened(1));
    await first;
    const typed = client.type("fio");
    const stopped = client.stop();
    await expect(typed).rejects.toThrow(stoppedWords);
    expect(begun[0]!.isEnded).toBe(true);
    expect(begun[1]!.said).toEqual([
      { kind: "ask", id: 3, handler, message: JSON.stringify({ open: 7, weeks: null, kept }) },
    ]);
    begun[1]!.says(opened(3));
    await stopped;
  });

  it("opens a case by its text, and again when a command is stopped", async () => {
    const { begun, begin } = threads();
    const client = new ShiftClient({ onReady: vi.fn(), begin });
    const own = { ...kept, own: "cf6e" };
    const first = client.open({ seed: 7, weeks: null }, undefined, "sealed");
    begun[0]!.says({ kind: "answer", id: 1, answer: JSON.stringify({ kept: own }), error: null });
    await first;
    const stopped = client.stop();
    const again = { open: "sealed", weeks: null, kept: own };
    expect(begun[1]!.said).toEqual([{ kind: "ask", id: 2, handler, message: JSON.stringify(again) }]);
    begun[1]!.says({ kind: "answer", id: 2, answer: JSON.stringify({ kept: own }), error: null });
    await stopped;
  });

  it("says that Python is not there, and tries again when it is asked again", async () => {
    const { begun, begin } = threads();
    const client = new ShiftClient({ onReady: vi.fn(), begin });
    const first = client.open({ seed: 7, weeks: null });
    begun[0]!.says({ kind: "unloaded", why: "Failed to fetch" });
    await expect(first).rejects.toThrow(": Failed to fetch.");
    const second = client.open({ seed: 7, weeks: null });
    begun[1]!.says(opened(2));
    expect((await second).kept.seed).toBe(7);
  });
});
