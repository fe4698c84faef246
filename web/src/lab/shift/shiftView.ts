/** The view of an on-call shift: ticket, clock, graph, shell and debrief. The host answers the commands. */
import { html, observeWidth } from "../../base/elements.ts";
import { debrief } from "./debrief.ts";
import type { Ended, Kept, Now, Opened } from "./protocol.ts";
import { shell } from "./shell.ts";
import { shareInWords, usersGraph } from "./usersGraph.ts";

export interface ShiftOptions {
  readonly type: (line: string) => Promise<Now>;
  /** Stops the running command, where the host can. The shift stays as it was before the command. */
  readonly stop?: (() => Promise<void>) | undefined;
  /** Called after each command, so that the host can save the shift. */
  readonly onKept: (kept: Kept) => void;
  readonly onEnded: (ended: Ended) => void;
  /** Makes a link to the incident. */
  readonly link: (id: string, title: string) => Node;
}

export interface ShiftView {
  readonly element: HTMLElement;
  focus(): void;
  /** Runs a line as if it had been typed. */
  type(line: string): void;
  close(): void;
}

export function shiftView(opened: Opened, options: ShiftOptions): ShiftView {
  const clock = html("b", { class: "shift-clock" });
  const standing = html("span", { class: "quiet" });
  const users = html("p", { class: "shift-users" });
  const graph = html("div", { class: "shift-graph" });
  const end = html("div", {});
  let now: Now = opened;

  const terminal = shell({
    tools: opened.tools,
    words: opened.words,
    stop: options.stop,
    async run(line) {
      show(await options.type(line));
      return now.ended === null ? now.answers : [];
    },
  });

  const observed = observeWidth(graph, () => drawGraph());
  function drawGraph(): void {
    if (observed.width > 0) graph.replaceChildren(usersGraph(now.kept.users, opened.start_s, observed.width));
  }

  function show(next: Now): void {
    now = next;
    const { kept, tries, ended } = now;
    clock.textContent = now.clock;
    const left = tries === 1 ? "1 try" : `${tries} tries`;
    standing.textContent = `${kept.spent} ${kept.spent === 1 ? "point" : "points"} spent, ${left} left for the cause`;
    users.textContent = `Users get ${shareInWords(kept.users.at(-1)![1])} of last month's performance.`;
    terminal.prompt(now.clock);
    drawGraph();
    if (ended === null) options.onKept(kept);
    else finish(ended);
  }

  function finish(ended: Ended): void {
    terminal.close();
    const shown = debrief(ended, options.link);
    end.replaceChildren(shown);
    options.onEnded(ended);
    shown.querySelector<HTMLElement>("h2")!.focus();
  }

  const element = html(
    "div",
    { class: "shift" },
    html("p", { class: "shift-ticket" }, opened.ticket),
    html("p", { class: "shift-standing" }, clock, " ", standing),
    users,
    graph,
    terminal.element,
    end,
  );
  terminal.say(opened.welcome);
  terminal.print(opened.answers);
  show(opened);
  return {
    element,
    focus: () => terminal.focus(),
    type: (line) => terminal.type(line),
    close: () => observed.close(),
  };
}
