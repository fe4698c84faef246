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
