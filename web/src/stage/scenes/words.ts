/** Requests, places and phases in words. */
import { phases, type Meaning } from "../../base/colours.ts";
import { formatBytes, formatNanos, formatNumber } from "../../base/format.ts";
import { type Journeys, layerLabels, type LayerName, layerNames, type PhaseName } from "../../engine/journeys.ts";
import type { Result } from "../../engine/api.ts";

const byName = new Map<string, (typeof phases)[number]>(phases.map((phase) => [phase.name, phase]));

export function meaningOf(phase: string): Meaning {
  return byName.get(phase)?.meaning ?? "waiting";
}

export function labelOf(phase: string): string {
  return byName.get(phase)?.label ?? "waiting for its parts";
}

/** Phases in which a request waits. In the others it is served, or in flight. */
const waits: ReadonlySet<string> = new Set<PhaseName | "below">([
  "below",
  "scheduler",
  "in_flight",
  "queue",
  "gc",
  "throttle_delay",
  "throttle_wait",
  "link_wait",
  "cpu_wait",
  "lock",
  "network_queue",
  "window_wait",
  "blanked",
  "paused",
  "credit_wait",
  "hedge_wait",
  "retry",
  "log_wait",
  "journal",
  "clean_wait",
  "timer_wait",
]);

export function isWaiting(phase: string): boolean {
  return waits.has(phase);
}

const verbs: Readonly<Record<PhaseName | "below", string>> = {
  below: "waits for its parts",
  scheduler: "waits in the scheduler",
  memory: "is copied in memory",
  in_flight: "waits for data in flight",
  queue: "waits in the queue",
  overhead: "waits for the command overhead",
  seek: "waits for the arm to reach its track",
  rotation: "waits for its sector to pass the head",
  transfer: "transfers its data",
  flash_read: "is read from flash",
  flash_program: "is programmed into flash",
  write_log: "waits for its commit to the log",
  gc: "waits for garbage collection",
  throttle_delay: "is delayed on purpose",
  throttle_wait: "is stopped until there is room",
  lookup: "looks up where its block is",
  remote: "travels between nodes",
  link_wait: "waits for a link",
  cpu_wait: "waits for a thread or a core",
  cpu: "uses a core",
  dispatch: "is handed to the owner of its range",
  lock: "waits for a lock",
  replicate: "is sent to the replicas",
  network_queue: "waits for the network",
  network_transfer: "crosses the wire",
  round_trip: "travels",
  window_wait: "waits for acknowledgements: the window is full",
  blanked: "waits for an interrupt that the card holds back",
  cross_call: "waits while all cores forget a mapping",
  paused: "waits while the device is paused",
  credit_wait: "waits for the volume's credits or rate limit",
  hedge_wait: "waits before a second replica is queried",
  served: "is served",
  retry: "waits for whole revolutions because the head is off its track",
  log_wait: "waits for the flush of its log",
  journal: "waits for a commit of the journal",
  clean_wait: "waits for the drive to clean zones",
  timer_wait: "waits for its sender's timer: its last packets were lost",
};

function verbOf(phase: string): string {
  return (verbs as Readonly<Record<string, string>>)[phase] ?? phase;
}

export function nameOf(layer: LayerName): string {
  return layerLabels[layer];
}

/** A place; devices have names of their own. */
function placeOf(result: Result, layer: LayerName, part: number): string {
  if (layer === "device") return result.summary.devices[part] ?? "the device";
  return layer === "zfs" ? "ZFS" : `the ${layerLabels[layer].toLowerCase()}`;
}

/** A request as a noun: "read of 64 KiB". */
export function requestWords(journeys: Journeys, row: number): string {
  const bytes = journeys.bytes[row]!;
  const kind = journeys.writes[row] === 1 ? "write" : "read";
  if (bytes === 0) return journeys.writes[row] === 1 ? "flush" : "request";
  return `${kind} of ${formatBytes(bytes)}`;
}

/** Where a request is at a moment and what it waits for, in a sentence. */
export function followWords(result: Result, journeys: Journeys, row: number, time_ns: number): string {
  const what = requestWords(journeys, row);
  const name = what[0]!.toUpperCase() + what.slice(1);
  const begin = journeys.begin_ns[row]!;
  const end = journeys.lastOf(row);
  const who = `${name}${journeys.owner[row] === 0 ? ` (job ${result.summary.jobs[journeys.job[row]!] ?? "unknown"})` : ""}`;
  if (time_ns < begin) return `${who} has not started.`;
  if (time_ns >= end) return `${who} took ${formatNanos(end - begin)}.`;
  const stay = journeys.life(row).find(({ from_ns, to_ns }) => from_ns <= time_ns && time_ns < to_ns);
  if (stay === undefined) return `${who}, ${formatNanos(time_ns - begin)} old.`;
  const place = placeOf(result, stay.layer, stay.part);
  const since = formatNanos(time_ns - stay.from_ns);
  return `${who}, ${formatNanos(time_ns - begin)} old, ${verbOf(stay.phase)} at ${place} (for ${since} of ${formatNanos(stay.to_ns - stay.from_ns)}).`;
}

/** The layers in which any request has a stay, from the top down. */
export function layersOf(journeys: Journeys): LayerName[] {
  const seen = new Set(journeys.layer);
  return layerNames.filter((_, number) => seen.has(number));
}

/** A time of a run, in the unit that it is long in. */
export function timeWords(time_s: number): string {
  if (time_s < 120) return `${formatNumber(time_s)} s`;
  return time_s < 7200 ? `${formatNumber(time_s / 60)} min` : `${formatNumber(time_s / 3600)} h`;
}
