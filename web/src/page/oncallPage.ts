/** The incident room: a night on call, chosen by its number, played in a shell, with the truth at its end. */
import "../style/page.css";
import "../style/night.css";
import { html } from "../base/elements.ts";
import { nightView, type NightView } from "../lab/night/nightView.ts";
import type { Kept } from "../lab/night/protocol.ts";
import { buildPage, keepForOffline, preparePage } from "./document.ts";
import { NightDesk } from "./nightDesk.ts";
import {
  anotherNight,
  nightHash,
  nightUnderWay,
  played,
  readNight,
  rememberNight,
  rememberPlayed,
  ticketOfTheDay,
} from "./nights.ts";
import { pythonInWords } from "./pythonSize.ts";

const page = preparePage();
const { root, message } = page;
void buildPage(page, open);

function open(): void {
  const title = html("h2", { id: "night-title" });
  const begin = html("button", { type: "button", class: "begin" });
  const today = html("button", { type: "button" }, "Ticket of the day");
  const another = html("button", { type: "button" }, "Another night");
  const copy = html("button", { type: "button" }, "Copy link");
  const status = html("p", { class: "said quiet", role: "status" });
  const place = html("div", {});
  const list = html("section", { class: "nights-played", "aria-labelledby": "played-title" });
  root.append(
    html(
      "section",
      { class: "night-section", "aria-labelledby": "night-title" },
      title,
      html("div", { class: "actions" }, begin, today, another, copy),
      status,
      place,
    ),
    list,
  );

  let seed = ticketOfTheDay();
  let shown: NightView | undefined;
  let isLoaded = false;
  const desk = new NightDesk({
    onReady(_, loaded) {
      isLoaded = true;
      keepForOffline(loaded);
    },
  });

  const keptOf = (chosen: number): Kept | undefined => {
    const kept = nightUnderWay();
    return kept?.seed === chosen ? kept : undefined;
  };

  /** Shows a night before it begins. */
  function choose(chosen: number): void {
    seed = chosen;
    shown?.close();
    shown = undefined;
    place.replaceChildren();
    const kept = keptOf(seed);
    title.textContent = seed === ticketOfTheDay() ? `Ticket ${seed}, the ticket of the day` : `Ticket ${seed}`;
    begin.textContent = kept === undefined ? "Begin the shift" : "Go on with the shift";
    begin.hidden = false;
    begin.disabled = false;
    status.textContent = isLoaded ? "" : `The room runs Python in this page: ${pythonInWords()}`;
    listPlayed();
  }

  function listPlayed(): void {
    const nights = played();
    list.hidden = nights.length === 0;
    list.replaceChildren(
      html("h2", { id: "played-title" }, "Your nights so far"),
      html(
        "ol",
        {},
        ...nights.map((night) =>
          html(
            "li",
            {},
            html("a", { href: nightHash(night.seed) }, `Ticket ${night.seed}`),
            `, ${night.total} points: `,
            html("a", { href: `${night.case}.html` }, night.title),
          ),
        ),
      ),
    );
  }

  async function start(): Promise<void> {
    const chosen = seed;
    begin.disabled = true;
    message.clear();
    status.textContent = isLoaded ? "The shift begins …" : `Loading Python: ${pythonInWords()}`;
    try {
      const opened = await takeUp(chosen);
      // Another night may have been chosen meanwhile.
      if (chosen !== seed) return;
      begin.hidden = true;
      status.textContent = "";
      shown = nightView(opened, {
        type: (line) => desk.type(line),
        stop: () => desk.stop(),
        onKept: rememberNight,
        onEnded(ended) {
          rememberNight(undefined);
          rememberPlayed(ended);
          listPlayed();
        },
        link: (id, words) => html("a", { href: `${id}.html` }, words),
      });
      place.replaceChildren(shown.element);
      shown.focus();
    } catch (error) {
      begin.disabled = false;
      status.textContent = "";
      message.fail(error);
    }
  }

  /** Opens the night, where it stood if it was under way; what was kept and cannot be read is let go. */
  async function takeUp(chosen: number) {
    const kept = keptOf(chosen);
    if (kept === undefined) return desk.open(chosen);
    try {
      return await desk.open(chosen, kept);
    } catch (error) {
      if (!isLoaded) throw error;
      rememberNight(undefined);
      message.fail(error);
      return desk.open(chosen);
    }
  }

  const go = (chosen: number) => {
    if (location.hash === nightHash(chosen)) choose(chosen);
    else location.hash = nightHash(chosen);
  };
  begin.addEventListener("click", () => void start());
  today.addEventListener("click", () => go(ticketOfTheDay()));
  another.addEventListener("click", () => go(anotherNight()));
  copy.addEventListener("click", () => {
    const link = new URL(nightHash(seed), location.href).href;
    navigator.clipboard
      .writeText(link)
      .then(() => (status.textContent = "The link is on the clipboard. Whoever opens it gets this very night."))
      .catch(() => status.replaceChildren("The browser does not allow copying. Here it is: ", html("code", {}, link)));
  });

  function read(): void {
    const found = readNight(location.hash);
    message.clear();
    if (found.kind === "problem") message.say(found.message);
    choose(found.kind === "night" ? found.seed : (nightUnderWay()?.seed ?? ticketOfTheDay()));
  }
  addEventListener("hashchange", read);
  read();
}
