import { describe, expect, it } from "vitest";
import { causeWords, countedCommands, debrief, fixWords, verdict } from "../../src/lab/shift/debrief.ts";
import { complete, History, pasted } from "../../src/lab/shift/line.ts";
import { type Ended, type Entry, unlessProblem } from "../../src/lab/shift/protocol.ts";
import { shell } from "../../src/lab/shift/shell.ts";
import { floorOf, shareInWords, usersGraph } from "../../src/lab/shift/usersGraph.ts";
import { numbersIn } from "../fixtures/numbers.ts";

const words = ["iostat -x", "ping", "perf report", "name ", "get", "get zfs.log.batch", "get zfs.arc.size"];

describe("what was typed before", () => {
  it("comes back line by line, and what stood in the line waits at the end", () => {
    const history = new History();
    for (const line of ["ping", "ss", "ss", " "]) history.add(line);
    expect(history.newer()).toBeUndefined();
    expect([history.older("dra"), history.older("ss"), history.older("ping")]).toEqual(["ss", "ping", undefined]);
    expect([history.newer(), history.newer(), history.newer()]).toEqual(["ss", "dra", undefined]);
  });
});

describe("completion", () => {
  it("goes on as far as there is one way only", () => {
    expect(complete("io", words)).toEqual({ line: "iostat -x", candidates: ["iostat -x"] });
    expect(complete("p", words)).toEqual({ line: "p", candidates: ["ping", "perf report"] });
    expect(complete("get  z", words)).toEqual({ line: "get zfs.", candidates: words.slice(5) });
    expect(complete("na", words).line).toBe("name ");
  });
  it("leaves alone what nothing begins with, and an empty line", () => {
    expect(complete("rm -rf", words)).toEqual({ line: "rm -rf", candidates: [] });
    expect(complete("  ", words)).toEqual({ line: "  ", candidates: [] });
  });
});

describe("what is pasted", () => {
  it("is carried out line by line, but for the last one, which stays to be entered", () => {
    expect(pasted("pi", "ng\r\nss\nlat")).toEqual({ lines: ["ping", "ss"], rest: "lat" });
    expect(pasted("", "ping\n")).toEqual({ lines: ["ping"], rest: "" });
  });
});

function entry(command: string, output = "answer"): Entry {
  return { command, clock: "03:00:10", seconds: 10, points: 2, output };
}

function open(run: (line: string) => Promise<readonly Entry[]>, stop?: () => Promise<void>) {
  const made = shell({ tools: [], words, run, stop });
  document.body.replaceChildren(made.element);
  const input = made.element.querySelector("input")!;
  const press = (key: string, more: KeyboardEventInit = {}) => {
    const event = new KeyboardEvent("keydown", { key, cancelable: true, ...more });
    input.dispatchEvent(event);
    return event.defaultPrevented;
  };
  const type = (line: string) => {
    input.value = line;
    made.element.querySelector("form")!.dispatchEvent(new Event("submit", { cancelable: true }));
  };
  const settled = () => new Promise((done) => setTimeout(done, 0));
  const log = () => made.element.querySelector("[role=log]")!.textContent;
  return { made, input, press, type, settled, log };
}

describe("the shell", () => {
  it("prints what was typed, the answer as it is, and what it cost", async () => {
    const { type, settled, log, made } = open(async (line) => [entry(line, "<b>Device</b>\n")]);
    type("iostat -x");
    await settled();
    expect(log()).toBe("# iostat -x<b>Device</b>03:00:10, 10 s and 2 points");
    expect(made.element.querySelector("pre")!.children).toHaveLength(0);
  });

  it("carries out one line after another, also those that are typed meanwhile", async () => {
    const carriedOut: string[] = [];
    const { type, settled } = open(async (line) => {
      carriedOut.push(`${line} begins`);
      await Promise.resolve();
      carriedOut.push(`${line} ends`);
      return [];
    });
    for (const line of ["ping", " ", "ss"]) type(line);
    await settled();
    expect(carriedOut).toEqual(["ping begins", "ping ends", "ss begins", "ss ends"]);
  });

  it("says why a line was not carried out, and goes on", async () => {
    let isFirst = true;
    const { type, settled, log } = open(async (line) => {
      if (!isFirst) return [entry(line)];
      isFirst = false;
      throw new Error("Stopped.");
    });
    type("ping");
    await settled();
    type("ss");
    await settled();
    expect(log()).toContain("Stopped.");
    expect(log()).toContain("# ss");
  });

  it("completes with Tab, lists the ways to go on once, and then lets Tab leave", () => {
    const { input, press, made } = open(async () => []);
    expect(press("Tab")).toBe(false);
    input.value = "p";
    expect(press("Tab")).toBe(true);
    expect(made.element.querySelector("[role=status]")!.textContent).toBe("ping · perf report");
    expect(press("Tab")).toBe(false);
    input.value = "io";
    expect(press("Tab", { shiftKey: true })).toBe(false);
    expect(press("Tab")).toBe(true);
    expect(input.value).toBe("iostat -x");
    expect(press("Tab")).toBe(false);
  });

  it("brings back lines with the arrow keys", () => {
    const { input, press, type } = open(async () => []);
    type("ping");
    type("ss");
    input.value = "lat";
    expect(press("ArrowUp") && press("ArrowUp")).toBe(true);
    expect(input.value).toBe("ping");
    expect(press("ArrowDown") && press("ArrowDown")).toBe(true);
    expect(input.value).toBe("lat");
  });

  it("keeps the last answers when there are many, and takes no input when the shift is over", async () => {
    const { made, type, settled, log } = open(async (line) => [entry(line)]);
    made.print(Array.from({ length: 1000 }, (_, at) => entry(`n${at}`)));
    expect(made.element.querySelectorAll(".shift-entry").length).toBeLessThanOrEqual(300);
    expect(log()).toContain("# n999");
    made.close();
    type("ping");
    await settled();
    expect(log()).not.toContain("# ping");
  });
});

describe("the users' number", () => {
  it("is told with two figures, and not more exactly than it is drawn", () => {
    const told = [0.00001, 0.0456, 0.5, 0.973, 1.32].map((share) => shareInWords(share).replace("\u00a0", " "));
    expect(told).toEqual(["less than 0.1%", "4.6%", "50%", "97%", "130%"]);
  });
  it("is drawn over whole decades, from a thousandth at the lowest", () => {
    expect([floorOf([0.9]), floorOf([0.03, 1]), floorOf([0]), floorOf([1e-9])]).toEqual([0.1, 0.01, 0.001, 0.001]);
  });
  it("rises when the system recovers, and is said", () => {
    const drawn = usersGraph(
      [
        [0, 0.05],
        [20, 0.05],
        [21, 1],
      ],
      3 * 3600,
      400,
    );
    const heights = Array.from(drawn.querySelectorAll("circle"), (dot) => Number(dot.getAttribute("cy")));
    expect(heights[0]).toBe(heights[1]);
    expect(heights[2]).toBeLessThan(heights[1]!);
    // At the start, now, and the readings until then.
    expect(numbersIn(drawn.getAttribute("aria-label"))).toEqual(["5%", "100%", "2"]);
    expect(drawn.textContent).toContain("03:01");
  });
});

describe("the debrief", () => {
  it("lists each command once, in the order of first use, with its count", () => {
    expect(countedCommands(["ping", "iostat -x", "ping"])).toEqual(["ping (2 times)", "iostat -x"]);
  });
  it("states the result", () => {
    const ended: Parameters<typeof verdict>[0] = { right: false, named: [], holds: false, set: {} };
    const said = (more: Partial<typeof ended>) => {
      const [cause, fix] = verdict({ ...ended, ...more }).split(", and ");
      return [cause, fix?.replace(/\.$/, "")];
    };
    expect(said({})).toEqual([causeWords.none, fixWords.none]);
    expect(said({ right: true, named: ["x"], holds: true, set: { a: 1 } })).toEqual([causeWords.right, fixWords.holds]);
    expect(said({ named: ["x"], set: { a: 1 } })).toEqual([causeWords.wrong, fixWords.fails]);
  });
  it("of a level says what excluded the other causes, and whether the player expected the right one", () => {
    const points = { cause: 0, fix: 0, time: 0, total: 0 };
    const ended = {
      ...{ seed: 7, weeks: null, level: 1, own: null, case: null, title: "a pool of disks", hidden: false },
      ...{ commands: [], looked: ["fio"], named: [], set: {}, users: [[0, 0.1]], seconds: 0, spent: 0 },
      ...{ score: points, most: points, right: false, holds: false, look: "fio", tells: "it is slow", telling: "" },
      ...{ remedy: {}, cause: "The disks are slow.", debrief: "" },
      thoughts: [
        { looks: 0, cause: "The network is slow." },
        { looks: 1, cause: "The disks are slow." },
      ],
      excluded: [{ cause: "The network is slow.", why: "`ping`: time is 1, with that cause 9", mark: "you saw it" }],
    } satisfies Ended;
    const shown = debrief(ended, () => document.createElement("a"));
    expect(shown.querySelector("a")).toBeNull();
    expect(Array.from(shown.querySelectorAll("li b"), ({ textContent }) => textContent).slice(3)).toEqual([
      "Not it.",
      "Right.",
    ]);
    expect(shown.querySelector(".shift-excluded")!.textContent).toBe(
      "The network is slow. `ping`: time is 1, with that cause 9 (you saw it)",
    );
    expect(shown.querySelector(".shift-beside")!.textContent).toContain("no setting");
  });
});

describe("an answer of the session", () => {
  it("is thrown as an error if it is a problem", () => {
    expect(() => unlessProblem({ problem: "No shift has begun." })).toThrow("No shift has begun.");
  });
});
