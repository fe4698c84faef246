/**
 * The packets that came to the port of one client, as the engine's marks tell them: when each began to leave its server, came to the
 * port, was dropped there or was at the client. Packets of a connection stay in order, so the nth of each kind belong together.
 */
import type { Result } from "../../engine/api.ts";
import type { Journeys, MarkName } from "../../engine/journeys.ts";

/** A packet in flight to the client. */
export interface PortPacket {
  readonly server: number;
  readonly sent_ns: number;
  readonly port_ns: number;
  /** When it begins to leave the port, has left it, and is at the client; none of these when it was dropped. */
  readonly leaves_ns?: number;
  readonly left_ns?: number;
  readonly received_ns?: number;
}

/** A sender that heard nothing until its timer ran out. */
export interface Wait {
  readonly server: number;
  readonly from_ns: number;
  readonly to_ns: number;
}

export interface PortRecord {
  readonly servers: number;
  readonly buffer: number;
  /** In order of their coming to the port. */
  readonly packets: readonly PortPacket[];
  /** Those of them that were not dropped, in the same order, in which they leave as well. */
  readonly taken: readonly Required<PortPacket>[];
  readonly dropped: readonly PortPacket[];
  readonly waits: readonly Wait[];
}

/**
 * Overhead of a frame on the wire besides its data, without and with time stamps: as in `engine/spec/src/network.rs`.
 */
const [ethernetAndTcpBytes, timeStampsBytes] = [78, 12];

interface Moment {
  readonly time: number;
  readonly value: number;
}

export function portRecordOf(result: Result, journeys: Journeys): PortRecord {
  const known = records.get(journeys) ?? recordOf(result, journeys);
  records.set(journeys, known);
  return known;
}

/** A narrow picture is laid out twice, and a pair asks for both runs each time. */
const records = new WeakMap<Journeys, PortRecord>();

function recordOf(result: Result, journeys: Journeys): PortRecord {
  const network = result.scenario.network;
  const servers = network?.packets?.servers ?? 1;
  const quarter_ns = Number(network?.round_trip ?? 0) / 4;
  const byFlow = (name: MarkName) => flowsOf(journeys, name, servers);
  const [sent, received, dropped] = [byFlow("sent"), byFlow("received"), byFlow("dropped")];
  const [atPort, expired] = [byFlow("at_port"), byFlow("expired")];
  const frameBytes = ethernetAndTcpBytes + (network?.time_stamps === false ? 0 : timeStampsBytes);
  const wireNs = (bytes: number) => ((bytes + frameBytes) * 8e9) / (network?.bits_per_s ?? 1e9);
  const packets: PortPacket[] = [];
  for (const [server, moments] of sent) {
    const ends = received.get(server) ?? [];
    const taken = (atPort.get(server) ?? []).map(({ time }, nth) => ({ time, end: ends[nth] }));
    const lost = (dropped.get(server) ?? []).map(({ time }) => ({ time, end: undefined }));
    [...taken, ...lost]
      .toSorted((a, b) => a.time - b.time)
      .forEach(({ time, end }, nth) => {
        const begin = moments[nth];
        if (begin === undefined) return;
        const start = { server, sent_ns: begin.time, port_ns: time };
        if (end === undefined) packets.push(start);
        else {
          const left_ns = end.time - quarter_ns;
          packets.push({ ...start, leaves_ns: left_ns - wireNs(end.value), left_ns, received_ns: end.time });
        }
      });
  }
  packets.sort((a, b) => a.port_ns - b.port_ns);
  return {
    servers,
    buffer: network?.packets?.buffer ?? 1,
    packets,
    taken: packets.filter((packet): packet is Required<PortPacket> => packet.received_ns !== undefined),
    dropped: packets.filter(({ received_ns }) => received_ns === undefined),
    waits: [...expired]
      .flatMap(([server, moments]) =>
        moments.map(({ time, value }) => ({ server, from_ns: time - value, to_ns: time })),
      )
      .toSorted((a, b) => a.to_ns - b.to_ns),
  };
}

/** Marks of the first client's connections with its servers, towards the client, by server. */
function flowsOf(journeys: Journeys, name: MarkName, servers: number): Map<number, Moment[]> {
  const { time_ns, object, value } = journeys.marks(name);
  const found = new Map<number, Moment[]>();
  object.forEach((flow, nth) => {
    const connection = Math.floor(flow / 2);
    if (flow % 2 === 0 || connection >= servers) return;
    const of = found.get(connection) ?? [];
    found.set(connection, of);
    of.push({ time: time_ns[nth]!, value: value[nth]! });
  });
  return found;
}
