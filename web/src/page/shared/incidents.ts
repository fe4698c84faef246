/** The incidents as the site knows them without its engine: a file that is written when the site is built. */
import type { Op } from "../../generated/answers.ts";

export interface Incident {
  readonly id: string;
  readonly code: string;
  readonly title: string;
  readonly symptom: string;
  readonly family: string;
  readonly year: number;
  /** Whom it comes from. */
  readonly source: string;
  /** How long the requests took in the run that the page opens on. */
  readonly place: {
    readonly op: Op;
    readonly median_ns: number;
    readonly mean_ns: number;
    readonly longest_ns: number;
  };
  /** Caption of the picture of that run. */
  readonly caption: string;
  /** The notebook and the exercises that go on with it. */
  readonly notebook?: string | undefined;
  readonly exercises: readonly string[];
}

let asked: Promise<readonly Incident[]> | undefined;

export function incidents(): Promise<readonly Incident[]> {
  asked ??= fetch("incidents.json").then((response) => {
    if (!response.ok) throw new Error("The list of incidents is missing on this site.");
    return response.json() as Promise<readonly Incident[]>;
  });
  return asked;
}

/** Where the picture of an incident's run lies. */
export function pictureFile(id: string): string {
  return `pictures/${id}.svg`;
}

/** Where the card of an incident lies, which shared links show. */
export function cardFile(id: string): string {
  return `cards/${id}.png`;
}
