//! The network in a scenario, and the arithmetic of its frames.
//!
//! Overhead of a frame on the wire in bytes: Ethernet preamble 8, header 14, check sequence 4 and gap 12
//! (IEEE 802.3); IPv4 header 20 (RFC 791); TCP header 20 (RFC 9293) with time stamps 12 (RFC 7323). So a frame of 1500 bytes
//! carries 1448 and occupies 1538. An NFS read of 32 KiB with its 140 bytes of headers takes 23 frames and 34,978 bytes:
//! 1 Gbit/s moves 117.1 MB/s of file data. Frames of 9000 bytes make it 123.1 MB/s, 5.1% more.

use schemars::JsonSchema;
use serde::Serialize;

use crate::packets::PacketsSpec;
use crate::reader::FromJson;
use crate::{AddProblem, Bytes, Nanos, Path, Problems};

/// Ethernet preamble, header, check sequence and gap.
const ETHERNET_BYTES: u64 = 8 + 14 + 4 + 12;
/// IPv4 header and TCP header.
const TCP_IP_BYTES: u64 = 20 + 20;
/// The TCP option with time stamps.
const TIME_STAMPS_BYTES: u64 = 12;
/// Frames that one acknowledgement covers (RFC 9293, 3.8.6.3).
pub const FRAMES_PER_ACK: u64 = 2;
/// Maximum payload of a segment.
pub const SEGMENT_BYTES: u64 = 64 << 10;
const MAX_CONNECTIONS: u64 = 65_536;
/// Maximum connections of a switch whose packets are simulated one by one.
const MAX_FOLLOWED: u64 = 8192;

/// Length of the retransmission timer after the handshake, in round trips: the round trip plus four times its deviation, which is assumed
/// to be half of it (RFC 6298, 2.2).
const TIMER_ROUND_TRIPS: u64 = 3;
/// Maximum retransmission timer, unless the minimum is longer (RFC 6298, 2.5).
pub const MAX_TIMER_NS: u64 = 60_000_000_000;
/// Maximum back-off of the retransmission timer, as a multiple of its length.
pub const MAX_BACKOFF: u64 = 64;

/// Which workers share a network link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Clients {
    /// One link for each job.
    #[default]
    Job,
    /// One link for each worker of each job.
    Worker,
    /// One link for all jobs, on one client.
    One,
}

/// The network between the clients and the server.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkSpec {
    /// Rate of each client's link, in each direction.
    #[schemars(title = "Client's link", range(min = 1000, max = 1_000_000_000_000_u64), extend("x-unit" = "bit/s", "x-scale" = "log2"))]
    pub bits_per_s: u64,
    /// Rate of the server's link. Default: the rate of a client's link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Server's link", range(min = 1000, max = 1_000_000_000_000_u64), extend("x-unit" = "bit/s", "x-scale" = "log2"))]
    pub server_bits_per_s: Option<u64>,
    /// Links of the server. A connection's number selects its link.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Server's links", range(min = 1, max = 64))]
    pub server_links: u32,
    /// Round-trip time of a signal.
    #[schemars(title = "Round trip", extend("minimum" = 0, "maximum" = 10_000_000_000_u64))]
    pub round_trip: Nanos,
    /// Maximum frame size without the Ethernet parts.
    #[serde(default = "default_mtu")]
    #[schemars(title = "MTU", range(min = 576, max = 9216), extend("x-unit" = "B"))]
    pub mtu: u32,
    /// Whether each frame carries TCP time stamps. Without them it holds 12 bytes more of data.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    #[schemars(title = "TCP time stamps")]
    pub time_stamps: bool,
    /// Size of the file protocol's header in each message.
    #[serde(default = "default_header")]
    #[schemars(title = "Header of a message", extend("minimum" = 0, "maximum" = 65536))]
    pub header: Bytes,
    /// TCP connections per client. Requests use them in turn.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Connections per client", range(min = 1, max = 256))]
    pub connections: u32,
    /// Socket buffer of the client. The window is the smaller of the two buffers.
    #[serde(default = "default_buffer")]
    #[schemars(title = "Client's socket buffer", extend("minimum" = 1, "maximum" = 4_294_967_296_u64, "x-scale" = "log2"))]
    pub client_buffer: Bytes,
    /// Socket buffer of the server. The window is the smaller of the two buffers.
    #[serde(default = "default_buffer")]
    #[schemars(title = "Server's socket buffer", extend("minimum" = 1, "maximum" = 4_294_967_296_u64, "x-scale" = "log2"))]
    pub server_buffer: Bytes,
    /// Which workers share a network link.
    #[serde(default)]
    #[schemars(title = "Clients")]
    pub clients: Clients,
    /// Several servers behind a switch, simulated packet by packet. The switch drops packets when a port is full. Default: one server and
    /// no loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<PacketsSpec>,
}

fn yes() -> bool {
    true
}
#[allow(clippy::trivially_copy_pass_by_ref)] // as serde asks
fn is_yes(value: &bool) -> bool {
    *value
}
fn default_mtu() -> u32 {
    1500
}
/// Headers of an NFS reply with data and file attributes: record mark, RPC header, status, attributes, counts.
fn default_header() -> Bytes {
    Bytes(140)
}
fn default_buffer() -> Bytes {
    Bytes(1 << 20)
}

impl NetworkSpec {
    fn tcp_ip_bytes(&self) -> u64 {
        TCP_IP_BYTES + if self.time_stamps { TIME_STAMPS_BYTES } else { 0 }
    }

    /// Return the size on the wire of a frame that only acknowledges. It has no payload, but is longer than the shortest frame.
    #[must_use]
    pub fn ack_wire_bytes(&self) -> u64 {
        ETHERNET_BYTES + self.tcp_ip_bytes()
    }

    /// Return the payload of a full frame, in bytes.
    #[must_use]
    pub fn segment_bytes(&self) -> u64 {
        u64::from(self.mtu) - self.tcp_ip_bytes()
    }

    /// Return the number of frames for `payload` bytes.
    #[must_use]
    pub fn frames(&self, payload: u64) -> u64 {
        payload.div_ceil(self.segment_bytes())
    }

    /// Return the bytes on the wire for `payload` bytes.
    #[must_use]
    pub fn wire_bytes(&self, payload: u64) -> u64 {
        payload + self.frames(payload) * self.ack_wire_bytes()
    }

    /// Return the bytes on the wire of a message with `payload` bytes of file data, after segmentation.
    #[must_use]
    pub fn message_bytes(&self, payload: u64) -> u64 {
        let bytes = (payload + self.header.0).max(1);
        bytes / SEGMENT_BYTES * self.wire_bytes(SEGMENT_BYTES) + self.wire_bytes(bytes % SEGMENT_BYTES)
    }

    /// Return the maximum unacknowledged bytes of a connection in one direction.
    #[must_use]
    pub fn window_bytes(&self) -> u64 {
        self.client_buffer.0.min(self.server_buffer.0)
    }

    /// Return the time of a signal to the server, and back, in nanoseconds.
    #[must_use]
    pub fn one_way_ns(&self) -> [u64; 2] {
        let there_ns = self.round_trip.0 / 2;
        [there_ns, self.round_trip.0 - there_ns]
    }

    /// Return the number of links of all servers.
    #[must_use]
    pub fn links_of_servers(&self) -> u32 {
        self.packets.as_ref().map_or(self.server_links, |packets| packets.servers)
    }

    /// Return the number of TCP connections for one of a client's `connections`: one to each server.
    #[must_use]
    pub fn connections_of_one(&self) -> u32 {
        self.packets.as_ref().map_or(1, |packets| packets.servers)
    }

    /// Return the server's link of a connection. Like a switch that hashes addresses and ports, the choice is even on average but ignores
    /// the load. With several servers, each has one link.
    #[must_use]
    pub fn server_link(&self, connection: u32) -> usize {
        if let Some(packets) = &self.packets {
            return (connection % packets.servers) as usize;
        }
        let hash = u64::from(connection.wrapping_mul(0x9E37_79B9)); // Knuth's multiplicative hash
        ((hash * u64::from(self.server_links)) >> 32) as usize
    }

    /// Return the client that a worker runs on.
    #[must_use]
    pub fn client_of(&self, worker: usize, job: usize) -> usize {
        match self.clients {
            Clients::Job => job,
            Clients::Worker => worker,
            Clients::One => 0,
        }
    }

    /// Return the time of a packet through full queues. If the timer expires earlier even at its maximum back-off, the sender repeats
    /// everything for ever:
    /// it never measures a round trip, so the next timer is just as short.
    ///
    /// A client that writes also waits for the queue of its own link.
    fn full_path_ns(&self, packets: &PacketsSpec, writes: bool) -> u64 {
        let window = u64::from(packets.window).min(self.window_bytes() / self.segment_bytes());
        let of_a_client = if writes { u64::from(self.connections) * u64::from(packets.servers) } else { 0 };
        let queued = of_a_client * window + u64::from(packets.buffer) + 2; // one is on each of the two links
        let bits_per_s = self.server_bits_per_s.map_or(self.bits_per_s, |rate| rate.min(self.bits_per_s));
        let bits = queued * (self.segment_bytes() + self.ack_wire_bytes()) * 8;
        let queued_ns = u128::from(bits) * 1_000_000_000 / u128::from(bits_per_s);
        u64::try_from(queued_ns).unwrap_or(u64::MAX)
    }

    /// Check the network at `at`, for a scenario with this many jobs and workers. `writes`: whether it has writes.
    pub fn check(&self, jobs: u64, workers: u64, writes: bool, at: &Path, problems: &mut Problems) {
        let segment = self.segment_bytes();
        for (field, buffer) in [("client_buffer", self.client_buffer), ("server_buffer", self.server_buffer)] {
            if buffer.0 < segment {
                let message = format!("{buffer} is smaller than a segment of {segment} bytes; write at least that, or a smaller mtu");
                problems.add(at.field(field), message);
            }
        }
        let clients = match self.clients {
            Clients::Job => jobs,
            Clients::Worker => workers,
            Clients::One => 1,
        };
        let connections = clients * u64::from(self.connections);
        if connections > MAX_CONNECTIONS {
            let message = format!(
                "{clients} clients with {} connections each make {connections}; a server has at most {MAX_CONNECTIONS} ports for them",
                self.connections
            );
            problems.add(at.field("connections"), message);
        }
        let Some(packets) = &self.packets else { return };
        let followed = connections * u64::from(packets.servers);
        if followed > MAX_FOLLOWED {
            let message = format!(
                "{} servers make {followed} connections with the clients; packets are followed on at most {MAX_FOLLOWED}",
                packets.servers
            );
            problems.add(at.field("packets").field("servers"), message);
        }
        let path_ns = self.full_path_ns(packets, writes);
        let timer_ns = packets.rto_min.0.max(TIMER_ROUND_TRIPS * self.round_trip.0);
        if (timer_ns * MAX_BACKOFF).min(MAX_TIMER_NS.max(packets.rto_min.0)) < path_ns {
            let advice = if path_ns > MAX_TIMER_NS {
                "no timer is that long; write smaller windows and buffers, or faster links".to_owned()
            } else {
                let min_ms = path_ns.div_ceil(MAX_BACKOFF * 1_000_000);
                format!("the maximum back-off is {MAX_BACKOFF} times the timer; write at least {min_ms} ms, or smaller windows and buffers")
            };
            let message = format!(
                "{} is too short, so everything would be sent again for ever: full queues delay a packet by {} ms, and {advice}",
                packets.rto_min,
                path_ns.div_ceil(1_000_000)
            );
            problems.add(at.field("packets").field("rto_min"), message);
        }
        if self.server_links > 1 {
            let message =
                format!("{} does not fit `packets`, which gives each server one link; write 1, or remove `packets`", self.server_links);
            problems.add(at.field("server_links"), message);
        }
    }
}
