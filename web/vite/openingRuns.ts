/**
 * The runs that pages open on, made when the site is built: where each incident lies on the ladder of latencies, and its picture.
 *
 * A run is the case's own, by the engine that the site ships; nothing is typed here. What came is kept in `.cache/openings/` by a
 * hash of the engine and of the case, so that a build after a change of words runs nothing.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { JSDOM } from "jsdom";
import { type Result, unwrap } from "../src/engine/api.ts";
import { readResult, type Engine, open } from "../src/engine/simulate.ts";
import type { CaseDocument } from "../src/engine/types.ts";
import type { Scenario } from "../src/generated/scenario.ts";
import { overviewFor, pictureOf } from "./picture.ts";
import type { Incident } from "../src/page/shared/incidents.ts";

const cacheFolder = resolve(import.meta.dirname, "../../.cache/openings");
/** Goes up when what is kept of a run changes. */
const shape = 1;
const eventsAtOnce = 1_000_000;

export interface Opening {
  readonly place: Incident["place"];
  /** The run as a picture: SVG with the colours of both themes inside. */
  readonly picture: string;
  /** Caption of the picture, with its scale. */
  readonly caption: string;
}

/** The run that a case's page opens on, or what an earlier build kept of it. */
export function openingOf(engine: Engine, module: Uint8Array, document: CaseDocument): Opening {
  const key = createHash("sha256")
    .update(`${shape}`)
    .update(readFileSync(join(import.meta.dirname, "picture.ts")))
    .update(module)
    .update(JSON.stringify(document))
    .digest("hex")
    .slice(0, 24);
  const file = join(cacheFolder, `${document.id}-${key}.json`);
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")) as Opening;
  const opening = make(engine, document);
  mkdirSync(cacheFolder, { recursive: true });
  writeFileSync(file, JSON.stringify(opening));
  return opening;
}

function make(engine: Engine, document: CaseDocument): Opening {
  const { id, opens = document.default_variant } = document;
  const run = open(engine, { case: id, variant: opens });
  while (run.step(eventsAtOnce) < 1);
  const scenario = unwrap<Scenario>(engine.call("scenario", JSON.stringify({ case: id, variant: opens })));
  const result = readResult(run, scenario);
  run.free();
  return { place: placeOf(result, document), ...withDocument(() => pictureOf(result, overviewFor(result, document))) };
}

/** How long the requests took that the case looks at; where it has none of those, the ones that there are most of. */
export function placeOf(
  { summary }: Pick<Result, "summary">,
  { focus }: Pick<CaseDocument, "focus">,
): Incident["place"] {
  const { metrics, jobs } = summary;
  const kinds = jobs.flatMap((job) => (["read", "write"] as const).map((op) => ({ job, op })));
  const many = ({ job, op }: { job: string; op: string }) => metrics[`${job}.${op}_ios`] ?? 0;
  const most = kinds.toSorted((a, b) => many(b) - many(a))[0];
  const chosen = many(focus) > 0 || most === undefined ? focus : most;
  const nanos = (name: string) => {
    const ms = metrics[`${chosen.job}.${chosen.op}_latency_${name}_ms`];
    if (ms === undefined) throw new Error(`${summary.case ?? ""}: no ${chosen.job}.${chosen.op}_latency_${name}_ms`);
    return Math.round(ms * 1e6);
  };
  return {
    op: chosen.op,
    median_ns: nanos("p50"),
    mean_ns: nanos("mean"),
    longest_ns: nanos("max"),
  };
}

/** Charts are built of elements; here is a document for them. */
function withDocument<T>(draw: () => T): T {
  const { window } = new JSDOM("<!doctype html>");
  const before = globalThis.document;
  globalThis.document = window.document;
  try {
    return draw();
  } finally {
    globalThis.document = before;
  }
}
