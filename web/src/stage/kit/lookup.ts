/** Finding a place in times that rise. */

/** The first of so many that is not below a value. */
export function firstFrom(count: number, at: (nth: number) => number, value: number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(middle) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first of so many that is above a value. */
export function firstAfter(count: number, at: (nth: number) => number, value: number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(middle) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
