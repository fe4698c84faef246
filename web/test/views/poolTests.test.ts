import { describe, expect, it } from "vitest";
import type { DesignTest } from "../../src/engine/api.ts";
import { bindsOf, poolTests } from "../../src/views/poolTests.ts";

const test: DesignTest = {
  name: "5-random-cold",
  title: "20 threads, random reads, cold",
  variant: "5-random-cold",
  metric: "load.read_iops",
  unit: "1/s",
  set: {},
  bounds: [
    { what: "disks", most: 800 },
    { what: "threads", most: 1540 },
  ],
};

describe("the tests of a pool", () => {
  it("are bound by the part whose bound they reach, and wait otherwise", () => {
    expect(bindsOf(test, 790)).toBe("disks");
    expect(bindsOf(test, 640)).toBe("disks");
    expect(bindsOf(test, 639)).toBe("waiting");
    expect(bindsOf(test, undefined)).toBe("");
  });

  it("name the part that would bind before they are measured, and a share after", () => {
    const before = poolTests([test], { width: 100, measured: new Map(), running: undefined });
    expect(before.textContent).toContain("disks");
    expect(before.querySelector("svg")?.getAttribute("aria-label")).toBe("0 %");
    const after = poolTests([test], { width: 100, measured: new Map([[test.name, 400]]), running: undefined });
    expect(after.querySelector("svg")?.getAttribute("aria-label")).toBe("50 %");
    expect(after.textContent).toContain("waiting");
    expect(after.querySelector("tr[title]")?.getAttribute("title")).toBe("disks 800, threads 1,540");
  });

  it("say which one runs", () => {
    const table = poolTests([test], { width: 100, measured: new Map(), running: test.name });
    expect(table.textContent).toContain("running");
  });
});
