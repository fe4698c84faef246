/** Where one is in the slides, as the address has it, and which incidents a week is about. */
import type { Incident } from "../shared/incidents.ts";

export interface SlidePlace {
  readonly week: number;
  /** From 1. */
  readonly slide: number;
}

/** Reads `#week=5&slide=3`; returns nothing without a week. An invalid slide number means the first slide. */
export function readPlace(hash: string): SlidePlace | undefined {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const week = Number(parts.get("week") ?? "");
  if (!Number.isInteger(week) || week < 1) return undefined;
  const slide = Number(parts.get("slide") ?? "1");
  return { week, slide: Number.isInteger(slide) && slide >= 1 ? slide : 1 };
}

export function placeOf({ week, slide }: SlidePlace): string {
  return `#week=${week}&slide=${slide}`;
}

/** Exercises on any incident: they place none in a week. */
const onAll = new Set(["blind-diagnosis"]);

/** The incidents whose own exercise is the week's; those without one are placed by their notebook. */
export function incidentsOf<One extends Pick<Incident, "notebook" | "exercises">>(
  week: { readonly notebooks: readonly string[]; readonly exercises: readonly string[] },
  known: readonly One[],
): readonly One[] {
  return known.filter(({ notebook, exercises }) => {
    const own = exercises.filter((exercise) => !onAll.has(exercise));
    if (own.length > 0) return own.some((exercise) => week.exercises.includes(exercise));
    return notebook !== undefined && week.notebooks.includes(notebook.slice(0, 2));
  });
}
