import { describe, expect, it } from "vitest";
import type { DesignTest } from "../../src/engine/types.ts";
import { bindsOf, changeOf, poolTests, type PoolTestsOptions } from "../../src/page/designer/poolTests.ts";

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

const table = (options: Partial<PoolTestsOptions>) =>
  poolTests([test], { measured: new Map(), before: new Map(), against: "change", running: undefined, ...options });
const ran = (value: number, disksBusy = 0) => ({ value, disksBusy });
const measured = (value: number) => new Map([[test.name, ran(value)]]);

describe("the tests of a pool", () => {
  it("are bound by the part whose bound they reach, and wait otherwise", () => {
    expect(bindsOf(test, ran(790))).toBe("disks");
    expect(bindsOf(test, ran(640))).toBe("disks");
    expect(bindsOf(test, ran(639))).toBe("waiting");
    expect(bindsOf(test, ran(639, 0.79))).toBe("waiting");
    expect(bindsOf(test, ran(639, 0.8))).toBe("disks, seeking");
    expect(bindsOf(test, ran(640, 0.9))).toBe("disks");
    expect(bindsOf(test, undefined)).toBe("");
  });

  it("name the part that would bind before they are measured, and a share after", () => {
    const before = table({});
    expect(before.querySelector(".binds")?.textContent).toBe("disks");
    expect(before.querySelector("svg")?.getAttribute("aria-label")).toBe("0%");
    const after = table({ measured: measured(400) });
    expect(after.querySelector("svg")?.getAttribute("aria-label")).toBe("50%");
    expect(after.querySelector("rect:last-child")?.getAttribute("width")).toBe("50.0%");
    expect(after.querySelector(".binds")?.textContent).toBe("waiting");
    expect(after.querySelector("tr[title]")?.getAttribute("title")).toBe("disks 800, threads 1,540");
  });

  it("draw no more than a full bar", () => {
    expect(
      table({ measured: measured(810) })
        .querySelector("rect:last-child")
        ?.getAttribute("width"),
    ).toBe("100.0%");
  });

  it("say which one runs", () => {
    expect(table({ running: test.name }).textContent).toContain("runs");
    expect(table({ running: test.name, measured: measured(400) }).textContent).not.toContain("runs");
  });

  it("tell what a change of the pool moved, and not what is chance", () => {
    expect(changeOf(ran(800), ran(400))).toBe("× 2.00");
    expect(changeOf(ran(404), ran(400))).toBe("same");
    expect(changeOf(undefined, ran(400))).toBe("");
    expect(changeOf(ran(400), undefined)).toBe("");
    const moved = (now: number) => table({ measured: measured(now), before: measured(400) }).querySelector(".moved");
    expect(moved(800)?.textContent).toBe("× 2.00");
    expect(moved(401)).toBeNull();
  });
});
