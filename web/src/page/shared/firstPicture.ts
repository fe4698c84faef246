/**
 * The picture that a page's file holds: the opening run as the site's build drew it, seen before the engine is there and without
 * JavaScript. It gives way to the live frame, which takes the same room.
 */
import type { PlayingClip } from "./clip.ts";

export interface FirstPicture {
  /** Shows the live frame, once there is something to show. */
  giveWay(): void;
  /** Whether it is seen in place of the live frame. */
  readonly isSeen: boolean;
  /** The moment that the clip had come to by then. */
  readonly moment_ns: number | undefined;
}

/** Puts the live frame over the first picture, not seen at first. */
export function inPlaceOfFirstPicture(section: HTMLElement, frame: HTMLElement, clip?: PlayingClip): FirstPicture {
  const pictures = section.querySelectorAll(".first-picture");
  if (pictures.length > 0) frame.classList.add("not-yet");
  section.append(frame);
  tellHeight(frame);
  let moment_ns: number | undefined;
  let isShown = false;
  return {
    giveWay() {
      if (isShown) return;
      isShown = true;
      moment_ns = clip?.stop();
      for (const picture of pictures) picture.remove();
      frame.classList.remove("not-yet");
    },
    get isSeen() {
      return pictures.length > 0 && !isShown;
    },
    get moment_ns() {
      return moment_ns;
    },
  };
}

/** Tells the style sheet how much of a phone's screen the frame covers while the page scrolls below it. */
function tellHeight(whole: HTMLElement): void {
  new ResizeObserver(([entry]) => {
    // On the whole frame, not on the document: all that is below would be styled again.
    whole.style.setProperty("--frame-height", `${Math.floor(entry!.borderBoxSize[0]!.blockSize)}px`);
  }).observe(whole.querySelector(".frame")!);
}
