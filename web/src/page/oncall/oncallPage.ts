/** The incident room: a night on call, chosen by its number, played in a shell, with the truth at its end. */
import "../../style/page.css";
import "../../style/night.css";
import { html } from "../../base/elements.ts";
import { nightView, type NightView } from "../../lab/night/nightView.ts";
import type { Kept, NightName } from "../../lab/night/protocol.ts";
import { buildPage, keepForOffline, preparePage } from "../shared/pageSetup.ts";
import { NightDesk } from "./nightDesk.ts";
import { textOfFile } from "../shared/fileText.ts";
import {
  anotherNight,
  caseHash,
  isSameNight,
  nightHash,
  nightUnderWay,
  played,
  readNight,
  rememberCase,
  rememberNight,
  rememberPlayed,
  ticketOfTheDay,
  writtenCase,
  type WrittenCase,
} from "./nights.ts";
import { pythonInWords } from "../shared/pythonSize.ts";

const page = preparePage();
const { root, message } = page;
/** A sealed case has a few kB; what one may have, the room says. */
const mostCase_bytes = 2 ** 18;
void buildPage(page, open);

function open(): void {
  const title = html("h2", { id: "night-title" });
  const begin = html("button", { type: "button", class: "begin" });
  const today = html("button", { type: "button" }, "Ticket of the day");
  const another = html("button", { type: "button" }, "Another night");
  const weeks = html("select", { "aria-label": "Incidents that another night is drawn from" });
  weeks.append(
    html("option", { value: "" }, "of all incidents"),
    ...Array.from({ length: 9 }, (_, at) => html("option", { value: `1-${at + 2}` }, `of weeks 1 to ${at + 2}`)),
  );
  const copy = html("button", { type: "button" }, "Copy link");
  const file = html("input", { type: "file", id: "night-case", accept: ".sealed,.toml,text/plain" });
  const status = html("p", { class: "said quiet", role: "status" });
  const place = html("div", {});
  const list = html("section", { class: "nights-played", "aria-labelledby": "played-title" });
  const section = html(
    "section",
    { class: "night-section", "aria-labelledby": "night-title" },
    title,
    html("div", { class: "actions" }, begin, today, copy, another, weeks),
    html(
      "div",
      { class: "night-case" },
      html("label", { for: file.id }, "Or a case that somebody sealed (choose it, or drop it here):"),
      file,
    ),
    status,
    place,
  );
  root.append(section, list);

  const ofTheDay = (): NightName => ({ seed: ticketOfTheDay(), weeks: null });
  let night = ofTheDay();
  let own: WrittenCase | undefined;
  let shown: NightView | undefined;
  let isLoaded = false;
  const desk = new NightDesk({
    onReady(_, loaded) {
      isLoaded = true;
      keepForOffline(loaded);
    },
  });

  const keptOf = (chosen: NightName): Kept | undefined => {
    const kept = nightUnderWay();
    if (kept === undefined) return undefined;
    // Whether it is of this very case, the room says, which knows its digest.
    if (own !== undefined) return (kept.own ?? null) === null ? undefined : kept;
    return (kept.own ?? null) === null && isSameNight(kept, chosen) ? kept : undefined;
  };

  const nameOf = (named: NightName) =>
    named.weeks === null ? `Ticket ${named.seed}` : `Ticket ${named.seed}, of weeks ${named.weeks}`;

  /** Shows a night before it begins: one that is drawn, or that of a case. */
  function choose(chosen: NightName, written?: WrittenCase): void {
    night = chosen;
    own = written;
    shown?.close();
    shown = undefined;
    place.replaceChildren();
    const kept = keptOf(night);
    title.textContent =
      own !== undefined
        ? `The case in ${own.name}`
        : isSameNight(night, ofTheDay())
          ? `${nameOf(night)}, the ticket of the day`
          : nameOf(night);
    copy.hidden = own !== undefined;
    weeks.value = night.weeks ?? "";
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
        ...nights.map((one) =>
          html(
            "li",
            {},
            one.case === null ? "A case that somebody wrote" : html("a", { href: nightHash(one) }, nameOf(one)),
            `, ${one.total} points: `,
            one.case === null ? one.title : html("a", { href: `${one.case}.html` }, one.title),
          ),
        ),
      ),
    );
  }

  async function start(): Promise<void> {
    const chosen = night;
    begin.disabled = true;
    message.clear();
    status.textContent = isLoaded ? "The shift begins …" : `Loading Python: ${pythonInWords()}`;
    try {
      const opened = await takeUp(chosen);
      // Another night may have been chosen meanwhile.
      if (chosen !== night) return;
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
  async function takeUp(chosen: NightName) {
    const kept = keptOf(chosen);
    const text = own?.text;
    if (kept === undefined) return desk.open(chosen, undefined, text);
    try {
      return await desk.open(chosen, kept, text);
    } catch (error) {
      if (!isLoaded) throw error;
      rememberNight(undefined);
      message.fail(error);
      return desk.open(chosen, undefined, text);
    }
  }

  const go = (chosen: NightName) => {
    if (location.hash === nightHash(chosen)) choose(chosen);
    else location.hash = nightHash(chosen);
  };
  begin.addEventListener("click", () => void start());
  today.addEventListener("click", () => go(ofTheDay()));
  another.addEventListener("click", () => go({ seed: anotherNight(), weeks: weeks.value === "" ? null : weeks.value }));
  copy.addEventListener("click", () => {
    const link = new URL(nightHash(night), location.href).href;
    navigator.clipboard
      .writeText(link)
      .then(() => (status.textContent = "The link is on the clipboard. Whoever opens it gets this very night."))
      .catch(() => status.replaceChildren("The browser does not allow copying. Here it is: ", html("code", {}, link)));
  });

  async function take(files: FileList | null | undefined): Promise<void> {
    const [chosen] = files ?? [];
    if (chosen === undefined) return;
    message.clear();
    try {
      const written = { name: chosen.name, text: await textOfFile(chosen, mostCase_bytes) };
      // One night is kept: that of another case is over.
      if (nightUnderWay()?.own != null && writtenCase()?.text !== written.text) rememberNight(undefined);
      rememberCase(written);
      // The file stays here: the address says no more than that there is one.
      history.replaceState(null, "", caseHash);
      choose(night, written);
    } catch (error) {
      message.fail(error);
    }
  }
  file.addEventListener("change", () => void take(file.files).finally(() => (file.value = "")));
  section.addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files") === true) event.preventDefault();
  });
  section.addEventListener("drop", (event) => {
    if (event.dataTransfer?.types.includes("Files") !== true) return;
    event.preventDefault();
    void take(event.dataTransfer.files);
  });

  function read(): void {
    const found = readNight(location.hash);
    message.clear();
    if (found.kind === "problem") message.say(found.message);
    const kept = nightUnderWay();
    const written = writtenCase();
    if (found.kind === "night") choose(found.name);
    else if (written !== undefined && (found.kind === "case" || (kept?.own ?? null) !== null))
      choose(ofTheDay(), written);
    else {
      if (found.kind === "case") message.say("The case that was open here is not kept on this device: open its file.");
      choose((kept?.own ?? null) === null ? (kept ?? ofTheDay()) : ofTheDay());
    }
  }
  addEventListener("hashchange", read);
  read();
}
