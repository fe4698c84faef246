/** Names that somebody may have meant. */

const most = 3;

/** The names nearest to what was asked for, the nearest first; none where nothing is near. */
export function nearestNames(asked: string, names: readonly string[]): string[] {
  const wanted = asked.toLowerCase();
  if (wanted === "") return [];
  return names
    .map((name) => ({ name, away: distanceOf(wanted, name) }))
    .filter(({ name, away }) => away <= Math.max(2, name.length / 3) || (wanted.length >= 4 && name.includes(wanted)))
    .sort((a, b) => a.away - b.away)
    .slice(0, most)
    .map(({ name }) => name);
}

/** Letters to be changed, added or left out to make one word of the other (Levenshtein's distance). */
export function distanceOf(a: string, b: string): number {
  // No name is as long as what somebody may write into an address.
  if (a.length > 100) return Number.POSITIVE_INFINITY;
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length]!;
}
