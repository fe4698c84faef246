/** The drawings of mechanisms: the curve of a law, and where a run lies on it. Loaded when the first is shown. */
import type { EngineClient } from "../../engine/client.ts";
import type { Result } from "../../engine/api.ts";
import type { CaseDocument, CurveRequest } from "../../engine/types.ts";
import type { Scenario, ZfsSpec } from "../../generated/scenario.ts";
import { coreLimit } from "../../charts/coreLimit.ts";
import { coverage } from "../../charts/coverage.ts";
import { commitSizes } from "../../charts/commitSizes.ts";
import { curvePoints, delayCurve, type CurveAt } from "../../charts/delayCurve.ts";
import { feedRate } from "../../charts/feedRate.ts";
import { groupLimit } from "../../charts/groupLimit.ts";
import { shardLimit } from "../../charts/shardLimit.ts";
import { clientsEndOf, coarser, intervalAt, intervalsOf, targetOf, throttleOf } from "../../charts/rows/writePath.ts";
import type { RunState } from "../../lab/runController.ts";

interface Drawn {
  readonly drawing: Element;
  readonly caption: string;
}

export interface Asked {
  readonly result: Result;
  readonly state: RunState;
  readonly moment_ns: number;
}

const visitedDots = 120;

/** The drawing of a mechanism, and the runs and cases that it belongs to: `view` is the first of a case's evidence. */
interface Drawing {
  readonly suits: (scenario: Partial<Scenario>, view: string) => boolean;
  readonly draw: (
    asked: Asked,
    doc: CaseDocument,
    width: number,
    engine: EngineClient,
  ) => Drawn | undefined | Promise<Drawn | undefined>;
}

/** The first that suits a run is drawn. */
const drawings: readonly Drawing[] = [
  {
    suits: ({ zfs }, view) => zfs != null && view === "log-devices",
    draw: ({ result }, _, width) =>
      captioned(
        commitSizes(result, { width }),
        "Each dot is one commit of the run above. Small commits cost a fixed amount; large ones cost per byte. Dots above the line waited.",
      ),
  },
  {
    suits: ({ zfs }, view) => zfs != null && view === "warmth",
    draw: ({ result }, _, width) =>
      captioned(
        feedRate(result, { width }),
        "Fill rate of the cache device, by how full it is. Each dot is a part of the run above. At first, the feed's limit sets the rate. Later the rate falls, because only data that are not yet on the device are written.",
      ),
  },
  {
    suits: ({ zfs }) => zfs != null,
    draw: ({ result, moment_ns }, _, width, engine) =>
      writePath(engine, result, result.scenario.zfs!, moment_ns, width),
  },
  {
    suits: ({ controller }, view) => controller != null && view === "shard-map",
    draw: ({ result }, { focus }, width) =>
      captioned(
        shardLimit(result, {
          ...focus,
          op: focus.op === "write" ? "write" : "read", // no controller takes trims
          width,
          controller: result.scenario.controller!,
        }),
        "Limits of one disk. Each shard adds as much as the first, until the primary or the cores are busy. The lines are computed from the costs; the dot is the measured run above.",
      ),
  },
  {
    // Where requests are not spread over shards, their number explains nothing.
    suits: ({ controller }) => controller != null,
    draw: () => undefined,
  },
  {
    suits: ({ server, network }) => server != null && network != null,
    draw: ({ result }, { focus }, width) =>
      captioned(
        coreLimit(result, { ...focus, width, server: result.scenario.server!, network: result.scenario.network! }),
        "Limits of the server by its number of cores: CPU cycles, cross-calls that run one at a time, and the link. The lines are computed from the costs of the run above; the dot is that run, measured.",
      ),
  },
  {
    suits: () => true,
    async draw({ result, state }, doc, width, engine) {
      const { volume } = await engine.call("scenario", { case: doc.id, variant: state.variant, set: state.set });
      const prefetch = volume?.prefetch;
      if (prefetch == null) return undefined;
      return captioned(
        coverage(result, {
          job: doc.focus.job,
          width,
          chunk_bytes: Number(prefetch.chunk),
          per_request: prefetch.per_request ?? 0,
        }),
        "Coverage of a prefetch. It covers a read up to a certain size, and none of the bytes beyond. The dot is the run above.",
      );
    },
  },
];

function captioned(drawing: Element | undefined, caption: string): Drawn | undefined {
  return drawing === undefined ? undefined : { drawing, caption };
}

export async function drawingOf(
  engine: EngineClient,
  doc: CaseDocument,
  asked: Asked,
  width: number,
): Promise<Drawn | undefined> {
  const { scenario } = asked.result;
  return drawings.find(({ suits }) => suits(scenario, doc.views[0] ?? doc.view))?.draw(asked, doc, width, engine);
}

async function writePath(
  engine: EngineClient,
  result: Result,
  zfs: ZfsSpec,
  moment_ns: number,
  width: number,
): Promise<Drawn | undefined> {
  const { kind } = throttleOf(zfs);
  if (kind === "zfs2008" || kind === "zfs2010") {
    return captioned(
      groupLimit(result, { width, target_ns: targetOf(zfs) }),
      "The limit that each sync set for the next groups, and the amount that this sync could have written in the target time. Where line and dots differ, groups are too large or too small for the backend.",
    );
  }
  const now = intervalAt(result, moment_ns / 1e9);
  if (kind !== "openzfs" || now === undefined || now.limit_bytes === 0) return undefined;
  const most_bytes = now.limit_bytes;
  const at = curvePoints(most_bytes);
  const [delay_ns, in_flight] = await Promise.all([
    curve(engine, { name: "openzfs-delay", at, set: delaySettings(zfs, most_bytes) }),
    curve(engine, { name: "openzfs-async-writes", at, set: rampSettings(zfs, most_bytes) }),
  ]);
  const end = clientsEndOf(result);
  const visited = coarser(
    intervalsOf(result).filter(({ to_s }) => to_s <= end),
    visitedDots,
  );
  return {
    drawing: delayCurve({
      width,
      most_bytes,
      delay_ns,
      in_flight,
      now_bytes: Math.min(now.dirty_mean_bytes, most_bytes - 1),
      visited_bytes: visited.map(({ dirty_mean_bytes }) => Math.min(dirty_mean_bytes, most_bytes - 1)),
    }),
    caption:
      "Both responses to a filling buffer: writers are delayed, and more writes go to each device at once. The large dot is the moment on the stage; the faint dots are the rest of the run. The delay applies to all writers together: during each delay, at most one write enters.",
  };
}

async function curve(engine: EngineClient, request: CurveRequest): Promise<readonly CurveAt[]> {
  const points = await engine.call("curve", request);
  return points.map(({ x, y }) => ({ dirty_bytes: x, value: y }));
}

type Settings = Record<string, string | number>;

/** Return the settings of a curve that the scenario replaces. */
function given(settings: Readonly<Record<string, string | number | null | undefined>>): Settings {
  return Object.fromEntries(
    Object.entries(settings).filter((entry): entry is [string, string | number] => entry[1] != null),
  );
}

function delaySettings(zfs: ZfsSpec, dirty_data_max: number): Settings {
  return given({
    dirty_data_max,
    delay_min_dirty_percent: zfs.delay === false ? 100 : zfs.delay_min_dirty_percent,
    delay_scale: zfs.delay_scale,
    delay_max: zfs.delay_max,
  });
}

function rampSettings(zfs: ZfsSpec, dirty_data_max: number): Settings {
  const isNew = zfs.era === undefined || zfs.era.startsWith("openzfs");
  return given({
    era: isNew ? zfs.era : "openzfs-2013",
    dirty_data_max,
    min_active: zfs.ramp === false ? (zfs.async_write_max_active ?? 10) : zfs.async_write_min_active,
    max_active: zfs.async_write_max_active,
    min_dirty_percent: zfs.async_write_min_dirty_percent,
    max_dirty_percent: zfs.async_write_max_dirty_percent,
  });
}
