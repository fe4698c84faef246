/** The keys of a slider, for elements that are dragged and are no native slider. */

/** How many steps a key stands for; nothing when it is no key of a slider. */
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
