/** The keys of a slider, for elements that are dragged and are no native slider. */

/** Return the number of steps of a key; nothing if it is not a key of a slider. */
export function stepsOfKey(key: string, page = 10): number | undefined {
  switch (key) {
    case "ArrowRight":
    case "ArrowUp":
      return 1;
    case "ArrowLeft":
    case "ArrowDown":
      return -1;
    case "PageUp":
      return page;
    case "PageDown":
      return -page;
    default:
      return undefined;
  }
}
