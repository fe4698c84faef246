/** The controllers of a virtual disk as its views need them: who owns which range, since when, and how busy each server was. */
import { column, type Result } from "../../engine/api.ts";
import { counted, formatBytes, formatNumber } from "../../base/format.ts";

/** A server of a disk; number 0 is the primary, 1 the first shard. */
export interface Server {
  readonly disk: number;
  readonly number: number;
  readonly requests: number;
  readonly busy_ns: number;
  readonly response_ns: number;
}

/** A number of shards, and since when the disk has it. */
export interface Epoch {
  readonly from_s: number;
  readonly shards: number;
}

/** The servers of one disk that had anything to do, or could have. */
export function serversOf(result: Result, disk: number): readonly Server[] {
  const [disks, numbers, requests, busy, response] = ["disk", "number", "requests", "busy_ns", "response_ns"].map(
    (name) => column(result, `cpu.${name}`),
  );
  const most = Math.max(1, ...epochsOf(result, disk).map(({ shards }) => shards));
  const servers: Server[] = [];
  disks!.forEach((of, at) => {
    const number = numbers![at]!;
    if (of !== disk || (most === 1 ? number > 0 : number > most)) return;
    servers.push({
      disk,
      number,
      requests: requests![at]!,
      busy_ns: busy![at]!,
      response_ns: response![at]!,
    });
  });
  return servers;
}

export function epochsOf(result: Result, disk: number): readonly Epoch[] {
  const disks = column(result, "shards.disk");
  const from = column(result, "shards.from_ns");
  const shards = column(result, "shards.shards");
  return Array.from(disks, (of, at) => ({ of, from_s: from[at]! / 1e9, shards: shards[at]! }))
    .filter(({ of }) => of === disk)
    .map(({ from_s, shards: count }) => ({ from_s, shards: count }));
}

/** Return the number of disks with their own controllers. */
export function disksOf(result: Result): number {
  return new Set(column(result, "cpu.disk")).size;
}

/** The shard that owns a range, by the map of the scenario. */
export function ownerOf(result: Result, range: number, shards: number): number {
  const owners = result.scenario.controller?.owners ?? [];
  return (owners.length === 0 ? range : owners[range % owners.length]!) % shards;
}

/** Bytes of a range. */
export function rangeOf(result: Result): number {
  return Number(result.scenario.controller?.range ?? 0);
}

/** Seconds during which the jobs of the first stage ran: what a server's busy time is a share of. */
export function activeSeconds(result: Result, job: string, op: string): number {
  const { metrics } = result.summary;
  const ios = metrics[`${job}.${op}_ios`] ?? 0;
  const iops = metrics[`${job}.${op}_iops`] ?? 0;
  return iops > 0 ? ios / iops : 0;
}

/** Return the name of a server. */
export function nameOf(server: Server, servers: readonly Server[]): string {
  if (servers.length === 1) return "controller";
  return server.number === 0 ? "primary" : `shard ${server.number - 1}`;
}

export function busyPercent(server: Server, seconds: number): number {
  return seconds > 0 ? Math.min(100, server.busy_ns / 1e7 / seconds) : 0;
}

/** The part that limits the rate. */
export const limitSentences = { primary: "The primary is the limit.", shards: "The shards are the limit." } as const;

/** The result in a sentence. */
export function describeShards(result: Result, job: string, op: string): string {
  const servers = serversOf(result, 0);
  if (servers.length === 0) return "This run has no controllers.";
  const seconds = activeSeconds(result, job, op);
  const busy = (server: Server) => `${formatNumber(busyPercent(server, seconds))}%`;
  const disks = disksOf(result);
  const of = disks > 1 ? ` of the first of ${disks} disks` : "";
  if (servers.length === 1) return `One controller${of}: its thread is busy for ${busy(servers[0]!)} of the time.`;
  const [primary, ...shards] = servers;
  const busiest = shards.reduce((most, shard) => (shard.busy_ns > most.busy_ns ? shard : most));
  const limit =
    busyPercent(primary!, seconds) >= 97
      ? ` ${limitSentences.primary}`
      : busyPercent(busiest, seconds) >= 97
        ? ` ${limitSentences.shards}`
        : "";
  const changes = epochsOf(result, 0).map(({ shards: count }) => count);
  const count = changes.length > 1 ? changes.join(", then ") : String(shards.length);
  return `${count} shards${of}, ranges of ${formatBytes(rangeOf(result))}. The primary is busy for ${busy(primary!)} of the time, ${nameOf(busiest, servers)} for ${busy(busiest)}.${limit}`;
}

/** A count of requests as people read it. */
export function said(server: Server): string {
  return counted(server.requests, "request");
}
