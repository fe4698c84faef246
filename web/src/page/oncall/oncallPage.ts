/** The on-call page: choose a shift, play it in a shell, and read the debrief. */
import "../../style/page.css";
import "../../style/shift.css";
import { html } from "../../base/elements.ts";
import { shiftView, type ShiftView } from "../../lab/shift/shiftView.ts";
import type { Ended, Kept, ShiftId } from "../../lab/shift/protocol.ts";
import { buildPage, keepForOffline, preparePage } from "../shared/pageSetup.ts";
import { atOnce, FirstLook, firstShift } from "./firstLook.ts";
import { ShiftClient } from "./shiftClient.ts";
import { takeNote } from "../shared/note.ts";
import { textOfFile } from "../shared/fileText.ts";
import {
  drawnSeed,
  caseHash,
  isSameShift,
  shiftHash,
  unfinishedShift,
  played,
  readShift,
  rememberCase,
  rememberShift,
  rememberPlayed,
  ticketOfTheDay,
  writtenCase,
  type Played,
  type WrittenCase,
} from "./shifts.ts";
import { pythonInWords } from "../shared/pythonSize.ts";

/** What the four levels differ in, as `seeklab oncall --level` has them. */
const levels = ["one cause", "with a harmless oddity", "two causes", "a cause that gets worse"] as const;
/** Of the shifts played, only those of a case file or of a level have no case; the latter have their level. */
const isOwn = ({ case: id, level }: Played) => id === null && level === undefined;

const page = preparePage();
const { root, message } = page;
/** A sealed case has a few kB. The session has its own, exact limit. */
const maxCase_bytes = 2 ** 18;
void buildPage(page, open);

function open(): void {
  const title = html("h2", { id: "shift-title" });
  const begin = html("button", { type: "button", class: "begin" });
  const today = html("button", { type: "button" }, "Ticket of the day");
  const another = html("button", { type: "button" }, "Another shift");
  const source = html("select", { "aria-label": "Kind of the other shift" });
  source.append(
    html(
      "optgroup",
      { label: "One system, several possible causes" },
      ...levels.map((words, at) => html("option", { value: `level ${at + 1}` }, `level ${at + 1}: ${words}`)),
    ),
    html(
      "optgroup",
      { label: "An incident of the course" },
      html("option", { value: "" }, "from all incidents"),
      ...Array.from({ length: 9 }, (_, at) => html("option", { value: `1-${at + 2}` }, `from weeks 1–${at + 2}`)),
    ),
  );
  const copy = html("button", { type: "button" }, "Copy link");
  const file = html("input", { type: "file", id: "shift-case", accept: ".sealed,.toml,text/plain" });
  const status = html("p", { class: "said quiet", role: "status" });
  const place = html("div", {});
  const list = html("section", { class: "shifts-played", "aria-labelledby": "played-title" });
  const section = html(
    "section",
    { class: "shift-section", "aria-labelledby": "shift-title" },
    title,
    html("div", { class: "actions" }, begin, today, copy, another, source),
    html(
      "div",
      { class: "shift-case" },
      html("label", { for: file.id }, "Or a sealed case from someone else (choose the file, or drop it here):"),
      file,
    ),
    status,
    place,
  );
  root.append(section, list);

  const ofTheDay = (): ShiftId => ({ seed: ticketOfTheDay(), weeks: null });
  let current = ofTheDay();
  let own: WrittenCase | undefined;
  let shown: ShiftView | undefined;
  let isLoaded = false;
  const client = new ShiftClient({
    onReady(_, loaded) {
      isLoaded = true;
      keepForOffline(loaded);
    },
  });

  const listeners = {
    onKept: rememberShift,
    onEnded(ended: Ended) {
      rememberShift(undefined);
      if (!ended.hidden) rememberPlayed(ended);
      listPlayed();
    },
    link: (id: string, words: string) => html("a", { href: `${id}.html` }, words),
  };

  const keptOf = (chosen: ShiftId): Kept | undefined => {
    const kept = unfinishedShift();
    if (kept === undefined) return undefined;
    // The session checks that the case is the same, by its digest.
    if (own !== undefined) return (kept.own ?? null) === null ? undefined : kept;
    return (kept.own ?? null) === null && isSameShift(kept, chosen) ? kept : undefined;
  };

  const nameOf = ({ seed, weeks, level }: ShiftId) =>
    level !== undefined
      ? `Ticket ${seed}, level ${level}`
      : weeks === null
        ? `Ticket ${seed}`
        : `Ticket ${seed}, weeks ${weeks.replace("-", "–")}`;

  /** The kind of a shift as an option of the list, and the reverse. */
  const sourceOf = ({ weeks, level }: ShiftId) => (level === undefined ? (weeks ?? "") : `level ${level}`);
  const drawn = (): ShiftId => {
    const level = /^level (\d)$/.exec(source.value)?.[1];
    const weeks = level === undefined && source.value !== "" ? source.value : null;
    return { seed: drawnSeed(), weeks, ...(level === undefined ? {} : { level: Number(level) }) };
  };

  /** Shows a shift before it starts: a drawn one, or the one of a case file. */
  function choose(chosen: ShiftId, written?: WrittenCase): void {
    current = chosen;
    own = written;
    shown?.close();
    shown = undefined;
    place.replaceChildren();
    const kept = keptOf(current);
    title.textContent =
      own !== undefined
        ? `The case in ${own.name}`
        : isSameShift(current, ofTheDay())
          ? `${nameOf(current)}, the ticket of the day`
          : isSameShift(current, firstShift)
            ? `${nameOf(current)}, ready now`
            : nameOf(current);
    copy.hidden = own !== undefined;
    // The first shift that a page shows is an incident; what it offers next is a system with several causes.
    source.value = isSameShift(current, firstShift) ? "level 1" : sourceOf(current);
    begin.textContent = kept === undefined ? "Start the shift" : "Continue the shift";
    begin.hidden = false;
    begin.disabled = false;
    status.textContent = isLoaded ? "" : `A shift runs Python in this page: ${pythonInWords()}`;
    if (own === undefined && kept === undefined && isSameShift(current, firstShift)) lookFirst(chosen);
    listPlayed();
  }

  /** Shows the stored ticket with its shell; Python starts with the first command that has no stored answer. */
  function lookFirst(chosen: ShiftId): void {
    const look = new FirstLook();
    let isInPython = false;
    begin.hidden = true;
    status.textContent = `${atOnce.map((line) => `“${line}”`).join(", ")} answer at once. Other commands first load Python: ${pythonInWords()}`;
    shown = shiftView(look.opened, {
      ...listeners,
      async type(line) {
        const now = isInPython ? undefined : look.answer(line);
        if (now !== undefined) return now;
        if (!isInPython) {
          if (!isLoaded) status.textContent = `Loading Python: ${pythonInWords()}`;
          await client.open(chosen, look.kept);
          isInPython = true;
          if (chosen === current) status.textContent = "";
        }
        return client.type(line);
      },
    });
    place.replaceChildren(shown.element);
    const typed = takeNote("shift-command");
    if (typed !== undefined) shown.type(typed);
  }

  function listPlayed(): void {
    const shifts = played();
    list.hidden = shifts.length === 0;
    list.replaceChildren(
      html("h2", { id: "played-title" }, "Your shifts so far"),
      html(
        "ol",
        {},
        ...shifts.map((one) =>
          html(
            "li",
            {},
            isOwn(one) ? "A sealed case" : html("a", { href: shiftHash(one) }, nameOf(one)),
            `, ${one.total} points: `,
            one.case === null ? one.title : html("a", { href: `${one.case}.html` }, one.title),
          ),
        ),
      ),
    );
  }

  async function start(): Promise<void> {
    const chosen = current;
    begin.disabled = true;
    message.clear();
    status.textContent = isLoaded ? "Starting the shift …" : `Loading Python: ${pythonInWords()}`;
    try {
      const opened = await takeUp(chosen);
      // The reader may have chosen another shift in the meantime.
      if (chosen !== current) return;
      begin.hidden = true;
      status.textContent = "";
      shown = shiftView(opened, { ...listeners, type: (line) => client.type(line), stop: () => client.stop() });
      place.replaceChildren(shown.element);
      shown.focus();
    } catch (error) {
      begin.disabled = false;
      status.textContent = "";
      message.fail(error);
    }
  }

  /** Opens the shift, or continues it if it was saved. A saved shift that cannot be read is dropped. */
  async function takeUp(chosen: ShiftId) {
    const kept = keptOf(chosen);
    const text = own?.text;
    if (kept === undefined) return client.open(chosen, undefined, text);
    try {
      return await client.open(chosen, kept, text);
    } catch (error) {
      if (!isLoaded) throw error;
      rememberShift(undefined);
      message.fail(error);
      return client.open(chosen, undefined, text);
    }
  }

  const go = (chosen: ShiftId) => {
    if (location.hash === shiftHash(chosen)) choose(chosen);
    else location.hash = shiftHash(chosen);
  };
  begin.addEventListener("click", () => void start());
  today.addEventListener("click", () => go(ofTheDay()));
  another.addEventListener("click", () => go(drawn()));
  copy.addEventListener("click", () => {
    const link = new URL(shiftHash(current), location.href).href;
    navigator.clipboard
      .writeText(link)
      .then(() => (status.textContent = "Link copied. It opens exactly this shift."))
      .catch(() =>
        status.replaceChildren("The browser does not allow copying. Copy this link: ", html("code", {}, link)),
      );
  });

  async function take(files: FileList | null | undefined): Promise<void> {
    const [chosen] = files ?? [];
    if (chosen === undefined) return;
    message.clear();
    try {
      const written = { name: chosen.name, text: await textOfFile(chosen, maxCase_bytes) };
      // Only one unfinished shift is kept, so the one of another case is dropped.
      if (unfinishedShift()?.own != null && writtenCase()?.text !== written.text) rememberShift(undefined);
      rememberCase(written);
      // The file stays on this device: the address only says that there is one.
      history.replaceState(null, "", caseHash);
      choose(current, written);
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
    const found = readShift(location.hash);
    message.clear();
    if (found.kind === "problem") message.say(found.message);
    const kept = unfinishedShift();
    const written = writtenCase();
    if (found.kind === "shift") choose(found.name);
    else if (written !== undefined && (found.kind === "case" || (kept?.own ?? null) !== null))
      choose(ofTheDay(), written);
    else {
      if (found.kind === "case")
        message.say("This link needs a case file that is not stored on this device. Open the file.");
      choose((kept?.own ?? null) === null ? (kept ?? firstShift) : ofTheDay());
    }
  }
  addEventListener("hashchange", read);
  read();
}
