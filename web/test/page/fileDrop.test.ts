import { File as FileWithBytes } from "node:buffer";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { stoppedWords } from "../../src/page/fileDrop/fileDropController.ts";
import { fileDropPage } from "../../src/page/fileDrop/fileDropPage.ts";
import { type Calibration, calibrationView } from "../../src/page/fileDrop/calibrationView.ts";
import { type Diagnosis, diagnosisView, kinds, noKnownTool } from "../../src/page/fileDrop/diagnosisView.ts";
import { type Given, safePath, withMore } from "../../src/page/fileDrop/givenFiles.ts";
import { decodeRunLink } from "../../src/page/shared/runLink.ts";
import { messageBox } from "../../src/page/shared/messages.ts";
import { pythonInWords } from "../../src/page/shared/pythonSize.ts";
import type { FromPython, ToPython } from "../../src/python/messages.ts";

const limits = { files: 3, bytes: 100, allBytes: 150 };
const given = (path: string, text = "x", lastModified = 1): Given => ({
  path,
  file: new File([text], path, { lastModified }),
});

describe("files that are given", () => {
  it.each([
    ["../../etc/passwd", "etc/passwd"],
    ["/results/a.json", "results/a.json"],
    ["..\\..\\a\u0000.json", "a.json"],
    ["..", "file"],
    ["", "file"],
    ["x".repeat(1000), "x".repeat(120)],
    [`${"d/".repeat(100)}a.json`, "d/d/d/a.json"],
    ['<img src=x onerror="alert(1)">', '<img src=x onerror="alert(1)">'],
  ])("named %.30s lie at a path below their folder", (name, path) => expect(safePath(name)).toBe(path));

  it("are there once each; another one of the same name stands beside", () => {
    const one = given("a.json");
    const twice = withMore([one], [given("a.json"), given("a.json", "other")], limits);
    expect(twice.map(({ path }) => path)).toEqual(["a.json", "a-2.json"]);
  });

  it.each([
    [[given("a", "x".repeat(101))], "a has 101\u00a0B; this page reads files of at most 100\u00a0B."],
    [
      [given("a", "x".repeat(100)), given("b", "x".repeat(51))],
      "These would be 151\u00a0B; this page reads at most 150\u00a0B at a time.",
    ],
    [[given("a"), given("b"), given("c"), given("d")], "These would be 4 files; this page reads at most 3 at a time."],
  ])("beyond a limit are refused with what was found and what is accepted", (files, words) => {
    expect(() => withMore([], files, limits)).toThrow(words);
  });
});

/** A page with a thread that the test answers for. */
function pageOf(show: (answer: { said: string }) => HTMLElement = () => document.createElement("div")) {
  const root = document.createElement("main");
  const message = messageBox();
  root.append(message.element);
  document.body.replaceChildren(root);
  const threads: { said: ToPython[]; isEnded: boolean; says: (message: FromPython) => void }[] = [];
  fileDropPage<{ said: string }>({
    page: { root, message },
    handler: "seeklab.diagnosis.handler",
    what: "Reports",
    folders: true,
    limits,
    action: "Diagnose",
    working: "Looking",
    pasted: "Or paste",
    samples: [{ name: "plain", title: "A sample" }],
    asked: () => ({ capacity: "1TB" }),
    show,
    begin() {
      const worker = {
        said: [] as ToPython[],
        isEnded: false,
        onmessage: null as ((event: { data: FromPython }) => void) | null,
        postMessage: (sent: ToPython) => worker.said.push(sent),
        terminate: () => (worker.isEnded = true),
        says: (data: FromPython) => worker.onmessage!({ data }),
      };
      threads.push(worker);
      return worker as unknown as Worker;
    },
  });
  const button = (words: string) =>
    [...root.querySelectorAll("button")].find(({ textContent }) => textContent === words)!;
  return {
    root,
    threads,
    button,
    go: root.querySelector<HTMLButtonElement>("button.go")!,
    status: () => root.querySelector("[role=status]")!.textContent,
    alert: () => root.querySelector("[role=alert] p")?.textContent,
    names: () => [...root.querySelectorAll(".given .name")].map(({ textContent }) => textContent),
    choose(...files: File[]) {
      const input = root.querySelector<HTMLInputElement>("#given-files")!;
      Object.defineProperty(input, "files", { value: files, configurable: true });
      input.dispatchEvent(new Event("change"));
    },
    async asked(count: number, thread = 0) {
      await vi.waitFor(() => expect(threads[thread]?.said).toHaveLength(count));
      return threads[thread]!.said[count - 1] as Extract<ToPython, { kind: "ask" }>;
    },
    answer: (id: number, answer: object, thread = 0) =>
      threads[thread]!.says({ kind: "answer", id, answer: JSON.stringify(answer), error: null }),
  };
}

describe("a page that takes files", () => {
  beforeEach(() => {
    // jsdom's files do not give their bytes.
    vi.stubGlobal("File", FileWithBytes);
    vi.stubGlobal("pythonSize", { bytes: 17e6, gzip_bytes: 6e6 });
    Element.prototype.scrollIntoView = vi.fn();
  });
  afterEach(() => vi.unstubAllGlobals());

  it("loads Python when it is asked for something, and says how large it is before", async () => {
    const page = pageOf();
    expect(page.go.disabled).toBe(true);
    page.choose(new File(["r/s"], "iostat.txt"));
    expect(page.threads).toHaveLength(0);
    expect(page.status()).toContain(pythonInWords());
    page.go.click();
    const { message, handler, files } = await page.asked(1);
    expect(JSON.parse(message)).toEqual({ files: ["iostat.txt"], capacity: "1TB" });
    expect(handler).toBe("seeklab.diagnosis.handler");
    expect(files?.map(({ path, bytes }) => [path, new TextDecoder().decode(bytes)])).toEqual([["iostat.txt", "r/s"]]);
  });

  it("shows the answer and goes to its heading", async () => {
    const page = pageOf(({ said }) => {
      const element = document.createElement("div");
      element.innerHTML = "<h2></h2>";
      element.firstElementChild!.textContent = said;
      return element;
    });
    page.choose(new File(["1"], "a.txt"), new File(["2"], "b.txt"));
    page.go.click();
    const { id } = await page.asked(1);
    page.threads[0]!.says({ kind: "progress", id, share: 0.5 });
    expect(page.root.querySelector("progress")).toMatchObject({ hidden: false, value: 0.5 });
    page.answer(id, { said: "Found" });
    await vi.waitFor(() => expect(document.activeElement?.textContent).toBe("Found"));
    expect(page.root.querySelector("progress")!.hidden).toBe(true);
    expect(page.button("Stop").hidden).toBe(true);
    // What is shown belongs to the files: with others it is gone.
    page.choose(new File(["3"], "c.txt"));
    expect(page.root.querySelector(".bring-result")!.textContent).toBe("");
  });

  it("says a problem as its sentence, and what fails in Python as what it is; the files stay", async () => {
    const page = pageOf();
    page.choose(new File(["1"], "<b>.txt"));
    page.go.click();
    const { id } = await page.asked(1);
    page.answer(id, { problem: "<b>.txt: is empty; give a report" });
    await vi.waitFor(() => expect(page.alert()).toBe("<b>.txt: is empty; give a report"));
    expect(page.names()).toEqual(["<b>.txt"]);
    page.go.click();
    const again = await page.asked(2);
    page.threads[0]!.says({ kind: "answer", id: again.id, answer: null, error: "KeyError: 'x'" });
    await vi.waitFor(() => expect(page.alert()).toBe("Python failed: KeyError: 'x'"));
    // Such a thread is not asked again.
    expect(page.threads[0]!.isEnded).toBe(true);
    page.go.click();
    await page.asked(1, 1);
  });

  it("stops at once, and asks a new thread the next time", async () => {
    const page = pageOf();
    page.choose(new File(["1"], "a.txt"));
    page.go.click();
    await page.asked(1);
    page.button("Stop").click();
    await vi.waitFor(() => expect(page.status()).toBe(stoppedWords));
    expect(page.threads[0]!.isEnded).toBe(true);
    expect(page.alert()).toBeUndefined();
    page.go.click();
    await page.asked(1, 1);
  });

  it("has a sample's files made by the JSON handler, and gives them to it like any others", async () => {
    const page = pageOf();
    page.choose(new File(["1"], "mine.txt"));
    page.button("A sample").click();
    const recorded = await page.asked(1);
    expect(JSON.parse(recorded.message)).toEqual({ record: "plain" });
    page.answer(recorded.id, { files: { "iostat.txt": "made" } });
    const looked = await page.asked(2);
    expect(page.names()).toEqual(["iostat.txt"]);
    expect(new TextDecoder().decode(looked.files?.[0]?.bytes)).toBe("made");
    // What was made can be saved; what was brought is there already.
    expect(page.button("Save")).toBeDefined();
  });

  it("takes a pasted text as a file, and removes files one by one", () => {
    const page = pageOf();
    page.root.querySelector("textarea")!.value = "Device r/s\n";
    page.root.querySelector<HTMLButtonElement>("textarea + .actions button")!.click();
    page.choose(new File(["1"], "a.txt"));
    expect(page.names()).toEqual(["pasted.txt", "a.txt"]);
    page.button("Remove").click();
    expect(page.names()).toEqual(["a.txt"]);
    page.button("Remove all").click();
    expect(page.names()).toEqual([]);
    expect(page.go.disabled).toBe(true);
  });
});

describe("a diagnosis", () => {
  const reading = {
    id: "one-at-a-time",
    subject: "sda",
    sentence: "sda serves one request.",
    sum: "96/s x 10.3 ms = 0.99",
  };
  const found: Diagnosis = {
    blocks: [{ tool: "iostat-x", source: "a.txt", lines: [3, 9], used: true, note: "one sample is left out" }],
    skipped: [
      { source: "a.txt", lines: [1, 2] },
      { source: "b.txt", lines: [1, 1] },
    ],
    notes: [{ source: "b.txt", note: "is a picture." }],
    readings: [reading],
    causes: [
      {
        cause: "sync-one-by-one",
        sentence: "Synchronous writes wait for each other.",
        incidents: [{ id: "sync-serialised", code: "S2", title: "One at a time" }],
        confidence: "likely",
        supported_by: ["one-at-a-time"],
        against: [],
        undecided_without: ["flushes"],
        replay: {
          incident: "sync-serialised",
          variant: "serialised",
          set: { "jobs[threads].numjobs": 16 },
          assumed: "16 writers are assumed.",
        },
      },
    ],
    next: [{ command: "strace -c -p PID", if: [{ outcome: "many", then: "commit in groups" }] }],
    not_recorded: ["the application's time"],
  };

  it("names the causes with their confidence, evidence and incidents", () => {
    const view = diagnosisView(found);
    expect(view.querySelector(".fit-share")!.textContent).toBe("likely");
    expect(view.querySelector<HTMLAnchorElement>(".fits a")!.getAttribute("href")).toBe("sync-serialised.html");
    expect(view.querySelector(".fits li")!.textContent).toContain(reading.sentence);
    expect(view.querySelector(".sum")!.textContent).toContain("0.99");
    expect(view.querySelector(".look code")!.textContent).toBe("strace -c -p PID");
  });

  it("opens the incident with the report's numbers", () => {
    const link = [...diagnosisView(found).querySelectorAll<HTMLAnchorElement>(".fits a")].at(-1)!;
    const [page, hash] = link.getAttribute("href")!.split("#");
    expect(page).toBe("sync-serialised.html");
    const decoded = decodeRunLink(`#${hash}`, () => false);
    expect(decoded).toMatchObject({
      kind: "state",
      state: { variant: "serialised", set: { "jobs[threads].numjobs": 16 } },
    });
  });

  it("tells why a file has no text, and offers the texts without names only where they are at hand", () => {
    expect(diagnosisView(found).textContent).toContain("b.txt: is a picture.");
    const buttons = (view: HTMLElement) => view.querySelectorAll(".actions button").length;
    expect(buttons(diagnosisView(found))).toBe(1);
    const redact = vi.fn(() => new Promise<string>(() => undefined));
    const view = diagnosisView(found, redact);
    expect(buttons(view)).toBe(2);
    const button = view.querySelector<HTMLButtonElement>(".actions button:last-child")!;
    button.click();
    expect(redact).toHaveBeenCalledOnce();
    expect(button.disabled).toBe(true);
  });

  it("says so when no cause is supported, and folds many readings", () => {
    const many = Array.from({ length: 11 }, (_, at) => ({ ...reading, sentence: `disk${at} is busy.` }));
    const view = diagnosisView({ ...found, causes: [], readings: many });
    expect(view.querySelector(".fits")).toBeNull();
    expect(view.querySelector("details summary")!.textContent).toBe("3 more");
  });

  it("names the tools of each file, and files without any", () => {
    expect([...kinds(found)]).toEqual([
      ["a.txt", "contains iostat-x"],
      ["b.txt", noKnownTool],
    ]);
  });
});

describe("a calibration", () => {
  beforeEach(() =>
    vi.stubGlobal(
      "ResizeObserver",
      class {
        observe = vi.fn();
        disconnect = vi.fn();
      },
    ),
  );
  afterEach(() => vi.unstubAllGlobals());
  const job = (name: string, isHeldOut: boolean) => ({
    job: name,
    held_out: isHeldOut,
    mean_us: 100,
    simulated_mean_us: 110,
    p99_us: 200,
    simulated_p99_us: 150,
  });
  const found: Calibration = {
    family: "ssd",
    grade: "good",
    verdict: "good: on 1 jobs that were not used to fit it, mean latency is 10.0 % off",
    others: { lun: "does not fit: 130 % off" },
    parameters: [
      { name: "dies", value: "20", how: "measured", why: "reads at depth" },
      { name: "erase", value: "5 ms", how: "assumed", why: "typical" },
      { name: "program", value: "1120 us", how: "bound", why: "at most 1399 us" },
    ],
    jobs: [job("randread 4k QD1", false), job("randread 4k QD24", true)],
    warnings: [],
    left_out: ["a.json: is empty"],
    preset: 'name = "mine"\n',
  };
  const options = {
    changesFor: vi.fn((id: string) => Promise.resolve({ "devices[0]": { name: id } })),
    incidents: () =>
      Promise.resolve([
        { id: "copy-offload", code: "Q2", title: "Three ways" },
        { id: "odx-prefetch", code: "Q1", title: "The missing 256 KiB" },
      ]),
    onProblem: vi.fn(),
  };

  it("says first how well it does on what it has not seen, then what could not be identified", () => {
    const view = calibrationView(found, options);
    const paragraphs = [...view.querySelectorAll("p.prose")].map(({ textContent }) => textContent);
    expect(paragraphs[0]).toMatch(/^Good: on 1 jobs .* 10.0.% off\.$/);
    expect(paragraphs[1]).toMatch(/: erase; program \([^)]+\)\. /);
    expect(view.querySelector("#left-title")!.nextElementSibling!.textContent).toBe("a.json: is empty");
    const rows = [...view.querySelectorAll("[aria-label=Jobs] tbody tr")].map((row) =>
      [...row.children].map(({ textContent }) => textContent),
    );
    expect(rows[0]).toEqual(["randread 4k QD24", "held out", "100", "110", "+10.0", "200", "150", "−25.0"]);
  });

  it("opens an incident on the device by a link that holds it", async () => {
    const view = calibrationView(found, options);
    const link = view.querySelector<HTMLAnchorElement>(".onward")!;
    await vi.waitFor(() => expect(link.hidden).toBe(false));
    const [page, hash] = link.getAttribute("href")!.split("#");
    expect(page).toBe("odx-prefetch.html");
    const decoded = decodeRunLink(`#${hash}`);
    expect(decoded.kind === "state" && decoded.state.set).toEqual({ "devices[0]": { name: "odx-prefetch" } });
    const choice = view.querySelector("select")!;
    choice.value = "copy-offload";
    choice.dispatchEvent(new Event("change"));
    expect(link.hidden).toBe(true);
    await vi.waitFor(() => expect(link.getAttribute("href")).toMatch(/^copy-offload\.html#/));
  });

  it("offers no preset where no model fits", () => {
    const view = calibrationView({ ...found, preset: null, grade: "does not fit" }, options);
    const titles = [view, calibrationView(found, options)].map((one) => one.querySelector("h2")!.textContent);
    expect(titles[0]).not.toBe(titles[1]);
    expect(view.querySelector("#take-title")).toBeNull();
  });
});
