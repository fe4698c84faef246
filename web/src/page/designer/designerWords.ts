/** Texts under the designer's stage: experiments, explanations, and next steps. */
import { html } from "../../base/elements.ts";
import { notebookInLab } from "../shared/browserLab.ts";

/** A pool that teaches something: numbers that differ from those at the start, and what to look for. */
export interface PoolIdea {
  readonly title: string;
  readonly numbers: Readonly<Record<string, number>>;
  readonly surprise: string;
}

export const ideas: readonly PoolIdea[] = [
  {
    title: "Twice the disks",
    numbers: { disks: 88 },
    surprise:
      "The most expensive change, and only the working-set test benefits much. In other tests, links and the log are the limit, or twenty threads cannot keep even half of the disks busy.",
  },
  {
    title: "Two parity disks in eleven",
    numbers: { width: 11, parity: 2 },
    surprise:
      "Half as much capacity again on the same number of disks, but cold reads suffer, most of all the twenty streams. Each record needs nine arms at once, so eleven disks are little faster than one.",
  },
  {
    title: "A second log SSD",
    numbers: { log_ssds: 2 },
    surprise: "One test of twelve is nearly twice as fast. If you have no synchronous writes, you paid for nothing.",
  },
  {
    title: "A log of 74 GB and 16 GiB of memory",
    numbers: { memory_gib: 16, log_gb: 74 },
    surprise:
      "A log holds only data that memory has not yet written to the pool; the rest of the device is never used. The working-set test suffers from the smaller memory.",
  },
];

export function explanation(): HTMLElement {
  return html(
    "section",
    { class: "why", "aria-labelledby": "why-title" },
    html("h2", { id: "why-title" }, "Why"),
    html(
      "div",
      { class: "prose" },
      html(
        "p",
        {},
        "Each test is a closed loop: it runs as fast as it can, until one part is busy all the time. The limit of each part is known in advance. One disk does 77 random reads a second, up to 200 with a full queue. A link carries its rate minus headers. Cores serve as many requests a second as their cycles per second divided by the cycles of one request. The smallest limit binds, and no run exceeds it.",
      ),
      html(
        "p",
        {},
        "Some disks are busy below their limit, because their arms spend more time moving than reading. Where the last column says “waiting”, no part is full: threads wait for one answer after the other. Faster parts help little there; more threads would help.",
      ),
      html(
        "p",
        {},
        "Each test runs for one second. Tests of written streams run for four, and their data may still be in memory at the end. In the working-set test, memory and flash are filled from the start. The disks of this test are only slightly larger than the working set needs, so that seeks are realistic.",
      ),
    ),
  );
}

export function onward(): HTMLElement {
  const link = (href: string, text: string) => html("a", { href }, text);
  return html(
    "section",
    { "aria-labelledby": "onward-title" },
    html("h2", { id: "onward-title" }, "Next steps"),
    html(
      "div",
      { class: "prose" },
      html(
        "p",
        {},
        link("eleven-metrics.html", "Eleven numbers of one pool"),
        " is the case behind these tests, with its sources. In the lab ",
        link(notebookInLab("notebooks/12-design-a-pool.ipynb"), "notebooks/12-design-a-pool"),
        " doubles one part after the other and analyses the server, and the assignment ",
        link(notebookInLab("exercises/pool-design/pool-design.ipynb"), "exercises/pool-design"),
        " gives you a service level and a budget.",
      ),
      html("p", {}, "The address of this page contains your pool and your prices. Copy it to share them."),
    ),
  );
}
