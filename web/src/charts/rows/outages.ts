/** The outages of a fleet that a run kept: which nodes were dark, and the sets of nodes that were dark as a whole. */
import { column, type Result } from "../../engine/api.ts";

export interface Outage {
  /** Its number, from 0. */
  readonly number: number;
  readonly dark: readonly number[];
  /** Nodes of each set that lost all its copies. */
  readonly lost: readonly (readonly number[])[];
}

/** Those that were kept, in their order: the first of the run, and some later ones that lost something. */
export function outagesOf(result: Result): Outage[] {
  const found = new Map<number, { number: number; dark: number[]; lost: number[][] }>();
  const [outages, nodes] = [column(result, "dark.outage"), column(result, "dark.node")];
  for (let row = 0; row < outages.length; row++) {
    const number = outages[row]!;
    const outage = found.get(number) ?? { number, dark: [], lost: [] };
    found.set(number, outage);
    outage.dark.push(nodes[row]!);
  }
  const of = column(result, "lost_sets.outage");
  const sets = column(result, "lost_sets.set");
  const members = column(result, "lost_sets.node");
  for (let row = 0; row < of.length; row++) {
    const lost = found.get(of[row]!)?.lost;
    if (lost !== undefined) (lost[sets[row]!] ??= []).push(members[row]!);
  }
  return [...found.values()];
}
