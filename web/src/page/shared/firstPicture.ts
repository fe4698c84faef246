/**
 * The picture that a page's file holds: the opening run as the site's build drew it, seen before the engine is there and without
 * JavaScript. It gives way to the live frame, which takes the same room.
 */
import { nextTask } from "../../base/nextTask.ts";
import type { Result } from "../../engine/api.ts";
import { journeysOf } from "../../engine/journeys.ts";
import type { RunRequest } from "../../engine/types.ts";
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

/** Has the engine's runs read in tasks of their own while the first picture is seen, so that the page answers and plays in between. */
export function readApart<Options>(
  engine: { run(request: RunRequest, options: Options): Promise<Result> },
  isSeen: () => boolean,
): { run(request: RunRequest, options: Options): Promise<Result> } {
  return {
    async run(request, options) {
      const result = await engine.run(request, options);
      if (!isSeen()) return result;
      await nextTask();
      journeysOf(result);
      await nextTask();
      return result;
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
