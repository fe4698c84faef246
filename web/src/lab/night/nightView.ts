/** A night on call: its ticket, clock and graph, its shell, and its end. The desk that answers is the host's. */
import { html, observeWidth } from "../../base/elements.ts";
import { debrief } from "./debrief.ts";
import type { Ended, Kept, Now, Opened } from "./protocol.ts";
import { shell } from "./shell.ts";
import { shareInWords, usersGraph } from "./usersGraph.ts";

export interface NightOptions {
  readonly type: (line: string) => Promise<Now>;
  /** Ends what is being carried out, where the host can; the night stands as it did before. */
  readonly stop?: (() => Promise<void>) | undefined;
  /** What has happened, to be kept. */
  readonly onKept: (kept: Kept) => void;
  readonly onEnded: (ended: Ended) => void;
  /** A way to the incident. */
  readonly link: (id: string, title: string) => Node;
}

export interface NightView {
  readonly element: HTMLElement;
  focus(): void;
  close(): void;
}

export function nightView(opened: Opened, options: NightOptions): NightView {
  const clock = html("b", { class: "night-clock" });
  const standing = html("span", { class: "quiet" });
  const users = html("p", { class: "night-users" });
  const graph = html("div", { class: "night-graph" });
  const end = html("div", {});
  let now: Now = opened;

  const terminal = shell({
    tools: opened.tools,
    words: opened.words,
    stop: options.stop,
    async carryOut(line) {
      show(await options.type(line));
      return now.ended === null ? now.answers : [];
    },
  });

  const room = observeWidth(graph, () => drawGraph());
  function drawGraph(): void {
    if (room.width > 0) graph.replaceChildren(usersGraph(now.kept.users, opened.start_s, room.width));
  }

  function show(next: Now): void {
    now = next;
    const { kept, tries, ended } = now;
    clock.textContent = now.clock;
    const left = tries === 1 ? "1 try" : `${tries} tries`;
    standing.textContent = `${kept.spent} ${kept.spent === 1 ? "point" : "points"} spent, ${left} left for the cause`;
    users.textContent = `The users have ${shareInWords(kept.users.at(-1)![1])} of what they had last month.`;
    terminal.prompt(now.clock);
    drawGraph();
    if (ended === null) options.onKept(kept);
    else finish(ended);
  }

  function finish(ended: Ended): void {
    terminal.close();
    const told = debrief(ended, options.link);
    end.replaceChildren(told);
    options.onEnded(ended);
    told.querySelector<HTMLElement>("h2")!.focus();
  }

  const element = html(
    "div",
    { class: "night" },
    html("p", { class: "night-ticket" }, opened.ticket),
    html("p", { class: "night-standing" }, clock, " ", standing),
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
    close: () => room.close(),
  };
}
