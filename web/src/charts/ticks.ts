/** Round positions for the ticks of an axis. */

/** Multiples of a power of two, about `count` of them: for offsets and sizes. */
export function binaryTicks(low: number, high: number, count: number): number[] {
  return multiples(low, high, 2 ** Math.ceil(Math.log2((high - low) / count)));
}

/** Multiples of 1, 2 or 5 times a power of ten, about `count` of them. */
export function decimalTicks(low: number, high: number, count: number): number[] {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const ratio = rough / power;
  return multiples(low, high, power * (ratio > 5 ? 10 : ratio > 2 ? 5 : ratio > 1 ? 2 : 1));
}

function multiples(low: number, high: number, step: number): number[] {
  const list: number[] = [];
  for (let nth = Math.ceil(low / step - 1e-9); nth * step <= high * (1 + 1e-12); nth++)
    list.push(Number((nth * step).toPrecision(12)));
  return list;
}

/** Powers of ten from `low` to `high`; with less than two of them, 1, 2 and 5 times a power of ten. */
export function powerTicks(low: number, high: number): number[] {
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const powers = Array.from({ length: Math.max(0, last - first + 1) }, (_, nth) => 10 ** (first + nth));
  if (powers.length >= 2) return powers;
  const parts = Array.from({ length: last - first + 3 }, (_, nth) => first - 1 + nth);
  return parts
    .flatMap((power) => [1, 2, 5].map((digit) => Number(`${digit}e${power}`)))
    .filter((tick) => tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9));
}
