/** The catalogue of charts, fetched when it is first needed: most pages show charts only below their stage. */
type Catalogue = typeof import("./catalogue.ts");

let catalogue: Catalogue | undefined;

export async function loadCharts(): Promise<Catalogue> {
  return (catalogue ??= await import("./catalogue.ts"));
}

/** The catalogue, if it has been fetched. */
export function loadedCharts(): Catalogue | undefined {
  return catalogue;
}
