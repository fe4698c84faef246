/**
 * The picture that a page's file holds: the opening run as the site's build drew it, seen before the engine is there and without
 * JavaScript. It gives way to the live frame, which takes the same room.
 */

/** Puts the live frame over the first picture, not seen at first. Returns what shows it, once there is something to show. */
export function inPlaceOfFirstPicture(section: HTMLElement, frame: HTMLElement): () => void {
  const pictures = section.querySelectorAll(".first-picture");
  if (pictures.length > 0) frame.classList.add("not-yet");
  section.append(frame);
  return () => {
    for (const picture of pictures) picture.remove();
    frame.classList.remove("not-yet");
  };
}
