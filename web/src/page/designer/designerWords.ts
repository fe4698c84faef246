/** What the page of the designer says under its stage: experiments, the reasons, and where to go on. */
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
      "The dearest change of all, and only the working set has much of it: elsewhere links and the log stand in front of the disks, and twenty threads cannot keep even the first half of them busy.",
  },
  {
    title: "Two parity disks in eleven",
    numbers: { width: 11, parity: 2 },
    surprise:
      "Half as much room again on as many disks, and cold reads pay, the twenty streams most of all: each record needs nine arms at once, so that eleven disks answer like little more than one.",
  },
  {
    title: "A second log SSD",
    numbers: { log_ssds: 2 },
    surprise:
      "One test of twelve is nearly twice as fast. Who writes nothing that must be durable has paid for nothing.",
  },
  {
    title: "A log of 74 GB and 16 GiB of memory",
    numbers: { memory_gib: 16, log_gb: 74 },
    surprise:
      "A log holds what memory has not yet written to the pool, and no more; the rest of the device is never touched. The working set pays for the memory that is missing.",
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
        "Each test is a closed loop: it runs until something is busy all the time. What each part can do is known before anything runs: one disk does 77 random reads a second, up to 200 with a full queue; a link carries its rate less headers; cores do their cycles over those of a request. The least of these binds, and no run exceeds it.",
      ),
      html(
        "p",
        {},
        "Some disks are busy below what they could do: their arms move more than they read. Where the last column says waiting nothing is full, and threads wait for one answer after the other: faster parts help little, more threads would.",
      ),
      html(
        "p",
        {},
        "Windows are a second, or four where streams are written, which may end in memory. For the working set memory and flash hold what they can from the start, and the disks are as large as the rest needs, so that their arms move as they would.",
      ),
    ),
  );
}

export function onward(): HTMLElement {
  const link = (href: string, text: string) => html("a", { href }, text);
  return html(
    "section",
    { "aria-labelledby": "onward-title" },
    html("h2", { id: "onward-title" }, "Carry on"),
    html(
      "div",
      { class: "prose" },
      html(
        "p",
        {},
        link("eleven-metrics.html", "Eleven numbers of one pool"),
        " is the case behind these tests, with its sources. In the lab ",
        link(notebookInLab("notebooks/12-design-a-pool.ipynb"), "notebooks/12-design-a-pool"),
        " doubles one part after the other and takes the server apart, and the assignment ",
        link(notebookInLab("exercises/pool-design/pool-design.ipynb"), "exercises/pool-design"),
        " gives you a service level and a budget.",
      ),
      html("p", {}, "The address of this page holds your pool and your prices: copy it to send them on."),
    ),
  );
}
