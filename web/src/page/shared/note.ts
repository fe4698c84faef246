/** A note from one page to the next in the same tab: what a reader typed at a door of the front page. */
const prefix = "seeklab.note.";

export type NoteName = "shift-command" | "pasted-report";

/** Leaves a note; false where the browser keeps none. */
export function leaveNote(name: NoteName, text: string): boolean {
  try {
    sessionStorage.setItem(prefix + name, text);
    return true;
  } catch {
    return false;
  }
}

/** Takes a note away, if there is one. */
export function takeNote(name: NoteName): string | undefined {
  try {
    const text = sessionStorage.getItem(prefix + name) ?? undefined;
    sessionStorage.removeItem(prefix + name);
    return text;
  } catch {
    return undefined;
  }
}
