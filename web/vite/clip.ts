/**
 * Clips: the part of the opening run that a page's first step is about, cut out of the run when the site is built. Pages play it before
 * their engine has loaded.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Column, Result } from "../src/engine/api.ts";
import { pack, unpack } from "../src/engine/packed.ts";
import type { CaseDocument } from "../src/engine/types.ts";
import { loadPlot } from "../src/charts/plot.ts";
import { predictionOf } from "../src/lab/prediction.ts";
import { requestOf } from "../src/lab/runController.ts";
import { fetchFor } from "../src/lab/workbench.ts";
import type { Clip } from "../src/page/shared/clip.ts";
import { openedOn } from "../src/page/shared/openedOn.ts";
import { type Span, spanOf } from "../src/stage/beats.ts";
import { stageOf } from "../src/stage/stages.ts";
import { switchStage } from "../src/stage/switchStage.ts";
import type { CanvasDrawing } from "./canvasDrawing.ts";
import {
  cacheFolder,
  explanationOf,
  inDocument,
  noMemory,
  seeds,
  type SimulatingEngine,
  sourcesHash,
  stageWithoutReader,
  widths,
} from "./firstPicture.ts";

/** The most bytes of a clip, compressed. */
const mostBytes = 40_000;
/** So many moments of the span are compared with the run, the first and the last among them. */
const compared = 7;
/** Columns that are so much larger are not worth trying. */
const hopeless = 5 * mostBytes;
/** Tables with fewer rows are not worth cutting. */
const fewRows = 50;

/**
 * Return the clip of the first step of a case as JSON, or what an earlier build kept of it; undefined if it would be too large.
 *
 * It has the columns that the stage reads, and where these are too large, only the rows that the span needs. At several moments it
 * draws exactly what the whole run draws, on a wide screen and on a phone.
 */
export async function clipOf(
  engine: SimulatingEngine,
  module: Uint8Array,
  document: CaseDocument,
): Promise<string | undefined> {
  const key = createHash("sha256").update(module).update(JSON.stringify(document));
  key.update(JSON.stringify(explanationOf(document))).update(sourcesHash());
  const file = join(cacheFolder, `${document.id}-clip-${key.digest("hex").slice(0, 24)}.json`);
  if (!existsSync(file)) {
    const clip = await cutOut(engine, document);
    mkdirSync(cacheFolder, { recursive: true });
    writeFileSync(file, clip ?? "");
  }
  const text = readFileSync(file, "utf8");
  return text === "" ? undefined : text;
}

async function cutOut(engine: SimulatingEngine, document: CaseDocument): Promise<string | undefined> {
  const doc = openedOn(document);
  await fetchFor(doc);
  await loadPlot();
  const [step] = explanationOf(document).steps;
  const { view, journeys } = inDocument(widths.wide, () => {
    const { isCovered } = predictionOf(doc, noMemory);
    return switchStage(doc, { ...stageWithoutReader, isCovered });
  });
  const set = journeys === undefined ? {} : { "record.journeys": journeys };
  const run = engine.run(requestOf(doc.id, { variant: doc.default_variant, set, seed: seeds[0] }));
  const span = step === undefined ? undefined : spanOf(run, step);
  if (step === undefined || span === undefined) return undefined;
  const of = { view, focus: doc.focus, span, ...(step.look === undefined ? {} : { look: step.look }) };
  const read = new Set<string>();
  const columns = new Proxy(run.columns, {
    get(all, name: string) {
      read.add(name);
      return all[name];
    },
  });
  const whole = framesOf(of, { ...run, columns });
  const isSame = (clip: string) => framesOf(of, unpack((JSON.parse(clip) as Clip).run)) === whole;
  const textOf = (result: Result) => JSON.stringify({ ...of, run: pack(result) } satisfies Clip);

  let kept: Result = {
    ...run,
    columns: mapColumns(run, (name, column) => (read.has(name) ? column : column.subarray(0, 0))),
  };
  let text = textOf(kept);
  if (!isSame(text)) throw new Error(`${doc.id}: the stage reads more of a run than its columns`);
  if (gzipSync(text).length > hopeless) return undefined;
  for (const table of tablesOf(kept)) {
    if (gzipSync(text).length <= mostBytes) break;
    for (const isNeeded of [during, untilEnd]) {
      const cut = cutTable(kept, table, (row) => isNeeded(row, span));
      const shorter = cut === undefined ? undefined : textOf(cut);
      if (cut === undefined || shorter === undefined || !isSame(shorter)) continue;
      [kept, text] = [cut, shorter];
      break;
    }
  }
  return gzipSync(text).length <= mostBytes ? text : undefined;
}

interface RowTimes {
  readonly from_ns: number;
  readonly to_ns: number;
}

const during = (row: RowTimes, { from_ns, to_ns }: Span) => row.from_ns <= to_ns && row.to_ns >= from_ns;
const untilEnd = (row: RowTimes, { to_ns }: Span) => row.from_ns <= to_ns;

/** The tables of a result, the largest first. */
function tablesOf({ columns }: Result): string[] {
  const sizes = new Map<string, number>();
  for (const [name, { length }] of Object.entries(columns)) {
    const table = name.slice(0, name.indexOf("."));
    if (length >= fewRows) sizes.set(table, (sizes.get(table) ?? 0) + length);
  }
  return [...sizes].toSorted(([, a], [, b]) => b - a).map(([table]) => table);
}

/** Names of columns that say from when to when a row is, as far as a table has them. */
const begins = ["from_ns", "begin_ns", "issue_ns", "time_ns"];
const ends = ["to_ns", "end_ns", "done_ns"];

/** A result without the rows of a table that are not needed; undefined if the rows have no times. */
function cutTable(result: Result, table: string, isNeeded: (row: RowTimes) => boolean): Result | undefined {
  const { columns } = result;
  const rows = Math.max(
    ...Object.entries(columns).map(([name, { length }]) => (name.startsWith(`${table}.`) ? length : 0)),
  );
  const timed = (names: readonly string[]) =>
    names.map((name) => columns[`${table}.${name}`]).find((column) => column?.length === rows);
  const from = timed(begins);
  if (from === undefined) return undefined;
  const to = timed(ends);
  const latency = columns[`${table}.latency_ns`];
  const endOf = (row: number) => to?.[row] ?? from[row]! + (latency?.[row] ?? 0);
  // The last stay of a request says when it ended.
  const last = new Map<number, number>();
  if (table === "stays")
    columns["stays.request"]!.forEach((request, row) => {
      const before = last.get(request);
      if (before === undefined || endOf(row) > endOf(before)) last.set(request, row);
    });
  const kept = new Set(last.values());
  const stays = (_: number, row: number) => kept.has(row) || isNeeded({ from_ns: from[row]!, to_ns: endOf(row) });
  return {
    ...result,
    columns: mapColumns(result, (name, column) =>
      name.startsWith(`${table}.`) && column.length === rows ? column.filter(stays) : column,
    ),
  };
}

function mapColumns({ columns }: Result, change: (name: string, column: Column) => Column): Result["columns"] {
  return Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, change(name, column)]));
}

/** What the stage draws of a result at the moments that are compared. */
function framesOf({ view, focus, span, look }: Omit<Clip, "run">, result: Result): string {
  const frames = Object.values(widths).map((width) =>
    inDocument(width, () => {
      const stage = stageOf({ focus, view });
      globalThis.document.body.append(stage.element);
      stage.show(result);
      const seen = Array.from({ length: compared }, (_, nth) => {
        const at_ns = span.from_ns + ((span.to_ns - span.from_ns) * nth) / (compared - 1);
        stage.playSpan?.(at_ns, at_ns, look);
        return seenIn(stage.element);
      });
      stage.dispose();
      return seen.join("\n");
    }),
  );
  return frames.join("\n");
}

/** What a stage shows, without names that count up. */
function seenIn(element: HTMLElement): string {
  const canvases = Array.from(element.querySelectorAll("canvas"), (canvas) =>
    (canvas.getContext("2d") as unknown as CanvasDrawing).toSvg(canvas.width, canvas.height),
  );
  return [element.outerHTML, ...canvases]
    .join("\n")
    .replace(/first-clip-\d+|plot-[\w-]+|seeklab-(?:life|spot)-\d+/g, "");
}
