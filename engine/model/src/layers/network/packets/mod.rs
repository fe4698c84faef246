//! Servers behind a switch, packet by packet: ports that drop what their buffers cannot hold, and TCP that finds out.
//!
//! A request is spread evenly over the servers, in whole sectors; each piece is a request of its own, and the client has its data when
//! the last piece is there. It asks all servers at once, or some at a time (`at_once`). Each server has a link to the switch, and each
//! client one behind a port with a finite buffer; writes go the other way, each to its server's port. A message with file data is cut
//! into packets and appended to the stream of its connection:
//!
//! 1. A packet is ready a random moment after its sender lets it out ([`sender`]), never before the one ahead of it, and occupies the
//!    sender's link for its bytes on the wire.
//! 2. A quarter of the round trip later it is, whole, at the port ([`port`]): sent on at once, queued, or dropped.
//! 3. After its time on the second link and another quarter it is at the receiver ([`receiver`]), which acknowledges each packet.
//! 4. The acknowledgement is back half a round trip later. It takes no time of a link, and is never lost. Neither are messages without
//!    file data: a request is at its server half a round trip and a random moment after it was sent. Their bytes are counted.
//!
//! So nothing is dropped while n servers with a window of w packets have n w packets in progress at most, as many as port and path hold.
//! Where more come, tails of windows are lost, for which there are no duplicates: the sender waits for its timer, and the client for
//! the sender.
//!
//! Sources: A. Phanishayee et al., "Measurement and Analysis of TCP Throughput Collapse in Cluster-based Storage Systems", FAST 2008,
//! and its authors' simulations (github.com/amarp/incast), for buffer, delays and timer; RFC 5681, 6582 and 6298 for the sender.
//!
//! Left out: selective acknowledgements, limited transmit, delayed acknowledgements, explicit congestion notification, Ethernet's
//! PAUSE, the set-up of connections beyond the round trip that it tells, buffers that ports share.

mod port;
mod receiver;
mod report;
mod sender;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod vectors;

use std::collections::VecDeque;

use hdrhistogram::Histogram;
use port::Port;
use receiver::Receiver;
use seeklab_kernel::Stream;
use seeklab_spec::network::NetworkSpec;
use seeklab_spec::packets::PacketsSpec;
use sender::Sender;

use super::link::Link;
use super::{HERE, Timer, Way};
use crate::kernel::journeys::Mark;
use crate::kernel::{Kernel, RequestId};

/// Sector size of disks.
const SECTOR_BYTES: u64 = 512;

/// The time of a message by phase.
#[allow(clippy::struct_field_names)] // they carry their unit
#[derive(Clone, Copy, Default)]
pub(super) struct Spent {
    /// Wire time on the sender's link, and on the receiver's.
    pub work_ns: [u64; 2],
    /// Until the windows let the next packet out.
    pub window_ns: u64,
    /// Until the sender's timer ran out.
    pub timer_ns: u64,
}

/// A message in the stream of its connection.
struct Message {
    request: RequestId,
    /// The packet after its last one.
    end: u64,
    /// Payload of its last packet; the others are full.
    last_bytes: u64,
    spent: Spent,
}

/// One direction of a connection.
struct Flow {
    sender: Sender,
    receiver: Receiver,
    /// Messages that are not wholly acknowledged.
    messages: VecDeque<Message>,
    /// How many of them are with the receiver.
    delivered: usize,
    /// Packets between the sender's link and the port, and their payloads.
    leaving: VecDeque<(u64, u64)>,
    /// Acknowledgements in flight.
    acks: VecDeque<u64>,
    /// When the last packet was ready to leave.
    ready_ns: u64,
    /// When something last happened to the sender: its link was done with a packet, or an acknowledgement came.
    stirred_ns: u64,
    /// Since when the windows hold packets back.
    held_ns: Option<u64>,
    /// The next look at the sender's timer; looks at other times are void.
    look_ns: Option<u64>,
}

impl Flow {
    /// The place of the message that a packet belongs to, among those not acknowledged.
    fn message_of(&self, packet: u64) -> usize {
        self.messages.partition_point(|message| message.end <= packet)
    }
}

/// The open requests of a client, and the silence of its link.
#[derive(Default)]
struct Client {
    /// Requests that are not complete.
    open: u32,
    /// Since when there are any.
    open_ns: u64,
    /// Pieces that are asked for.
    asked: u32,
    /// Pieces whose turn has not come.
    waiting: VecDeque<RequestId>,
    /// When its link was last silent for long.
    silent_ns: Option<u64>,
}

/// Counts of the packets.
#[derive(Default)]
struct Counts {
    packets: u64,
    resent: u64,
    dropped: u64,
    timeouts: u64,
    requests: u64,
    silent_requests: u64,
    /// Most packets that waited at a port.
    longest: u64,
    payload_bytes: u64,
}

/// All connections, and the ports of the switch.
pub(super) struct Packets {
    spec: PacketsSpec,
    segment_bytes: u64,
    /// Overhead of a packet on the wire besides its payload.
    frame_bytes: u64,
    /// To the switch, and on from it, by way.
    legs_ns: [[u64; 2]; 2],
    /// By connection and way.
    flows: Vec<[Flow; 2]>,
    /// By link: those of servers, then those of clients.
    ports: Vec<Port>,
    clients: Vec<Client>,
    request_jitter: Stream,
    packet_jitter: Stream,
    counts: Counts,
    /// Silences of clients' links for longer than half of the least timer, while the client waited for data, in nanoseconds.
    silences: Histogram<u64>,
    /// Messages that the last packet made complete.
    pub delivered: Vec<(RequestId, u64, Spent)>,
}

impl Packets {
    /// The switch that a network describes, for so many clients.
    pub fn of(network: &NetworkSpec, clients: usize, seed: u64) -> Option<Box<Self>> {
        let spec = network.packets.clone()?;
        let segment_bytes = network.segment_bytes();
        let window = u64::from(spec.window).min(network.window_bytes() / segment_bytes);
        let one_way_ns = network.one_way_ns();
        let flow = || Flow {
            sender: Sender::new(network.round_trip.0, window, spec.rto_min.0),
            receiver: Receiver::default(),
            messages: VecDeque::new(),
            delivered: 0,
            leaving: VecDeque::new(),
            acks: VecDeque::new(),
            ready_ns: 0,
            stirred_ns: 0,
            held_ns: None,
            look_ns: None,
        };
        let servers = spec.servers as usize;
        let connections = clients * network.connections as usize * servers;
        Some(Box::new(Self {
            segment_bytes,
            frame_bytes: network.ack_wire_bytes(),
            legs_ns: one_way_ns.map(|ns| [ns / 2, ns - ns / 2]),
            flows: (0..connections).map(|_| [flow(), flow()]).collect(),
            ports: (0..servers + clients).map(|_| Port::default()).collect(),
            clients: (0..clients).map(|_| Client::default()).collect(),
            request_jitter: Stream::new(seed, "network.requests"),
            packet_jitter: Stream::new(seed, "network.packets"),
            counts: Counts::default(),
            // It resizes itself.
            silences: Histogram::new(3).expect("three digits are a valid precision"),
            delivered: Vec::new(),
            spec,
        }))
    }

    /// Where each server's part of `bytes` begins and ends, in whole sectors.
    pub fn parts(&self, bytes: u64) -> impl Iterator<Item = (u32, u64, u64)> + use<> {
        let (sectors, servers) = (bytes.div_ceil(SECTOR_BYTES), u64::from(self.spec.servers));
        let begin = move |server: u32| (u64::from(server) * sectors / servers * SECTOR_BYTES).min(bytes);
        (0..self.spec.servers).map(move |server| (server, begin(server), begin(server + 1))).filter(|(_, from, to)| from < to)
    }

    /// A client makes a request.
    pub fn open(&mut self, client: usize, now_ns: u64) {
        let client = &mut self.clients[client];
        if client.open == 0 {
            client.open_ns = now_ns;
        }
        client.open += 1;
    }

    /// A request that a client made at `since_ns` is complete.
    pub fn close(&mut self, client: usize, since_ns: u64) {
        let client = &mut self.clients[client];
        client.open -= 1;
        self.counts.requests += 1;
        self.counts.silent_requests += u64::from(client.silent_ns.is_some_and(|silent_ns| silent_ns > since_ns));
    }

    /// Whether a client may ask for a piece now; else it is kept until [`Packets::next`].
    pub fn may_ask(&mut self, client: usize, piece: RequestId) -> bool {
        let client = &mut self.clients[client];
        let may = self.spec.at_once.is_none_or(|most| client.asked < most);
        if may {
            client.asked += 1;
        } else {
            client.waiting.push_back(piece);
        }
        may
    }

    /// A client has a piece. Returns the one that it asks for in its place.
    pub fn next(&mut self, client: usize) -> Option<RequestId> {
        let client = &mut self.clients[client];
        let next = client.waiting.pop_front();
        client.asked -= u32::from(next.is_none());
        next
    }

    /// A random moment by which a request is late.
    pub fn request_jitter_ns(&mut self) -> u64 {
        self.request_jitter.below(self.spec.request_jitter.0 + 1)
    }

    /// The links at the sender's and the receiver's end.
    fn ends(&self, number: u32) -> [usize; 2] {
        let servers = self.spec.servers as usize;
        let connection = number as usize / 2;
        let (server, client) = (connection % servers, servers + connection / (self.flows.len() / self.clients.len()));
        match Way::of(number) {
            Way::ToServer => [client, server],
            Way::ToClient => [server, client],
        }
    }

    fn flow(&mut self, number: u32) -> &mut Flow {
        &mut self.flows[number as usize / 2][number as usize % 2]
    }

    /// Appends the message of a request to the stream of a flow.
    pub fn append(&mut self, kernel: &mut Kernel, links: &mut [[Link; 2]], number: u32, request: RequestId, bytes: u64) {
        let count = bytes.div_ceil(self.segment_bytes);
        let last_bytes = bytes - (count - 1) * self.segment_bytes;
        let flow = self.flow(number);
        flow.sender.end += count;
        let end = flow.sender.end;
        flow.messages.push_back(Message { request, end, last_bytes, spent: Spent::default() });
        self.pump(kernel, links, number);
    }

    /// Sends what the windows of a flow let out.
    fn pump(&mut self, kernel: &mut Kernel, links: &mut [[Link; 2]], number: u32) {
        let now_ns = kernel.now_ns();
        while let Some(packet) = self.flow(number).sender.next() {
            let flow = self.flow(number);
            if let Some(held_ns) = flow.held_ns.take() {
                let message = flow.message_of(packet);
                flow.messages[message].spent.window_ns += now_ns.saturating_sub(held_ns.max(flow.stirred_ns));
            }
            self.transmit(kernel, links, number, packet);
        }
        let flow = self.flow(number);
        if flow.sender.is_held() {
            flow.held_ns.get_or_insert(now_ns);
        }
        look(kernel, flow, number);
    }

    /// Puts a packet on the sender's link.
    fn transmit(&mut self, kernel: &mut Kernel, links: &mut [[Link; 2]], number: u32, packet: u64) {
        let now_ns = kernel.now_ns();
        let late_ns = self.packet_jitter.below(self.spec.jitter.0 + 1);
        let [near, far] = self.ends(number);
        let bytes = self.payload(number, packet);
        let wire_bytes = bytes + self.frame_bytes;
        let leg_ns = self.legs_ns[Way::of(number) as usize][0];
        let flow = self.flow(number);
        flow.ready_ns = flow.ready_ns.max(now_ns + late_ns);
        let way = Way::of(number) as usize;
        let (start_ns, end_ns) = links[near][way].take(flow.ready_ns, wire_bytes);
        let message = flow.message_of(packet);
        let spent = &mut flow.messages[message].spent;
        spent.work_ns[0] += end_ns - start_ns;
        spent.work_ns[1] += links[far][way].work_ns(wire_bytes);
        flow.stirred_ns = end_ns;
        flow.leaving.push_back((packet, bytes));
        let is_again = flow.sender.sent(packet, now_ns);
        kernel.mark(start_ns, Mark::Sent, u64::from(number), bytes);
        kernel.wake_at(end_ns + leg_ns, HERE, Timer::AtPort(number));
        self.counts.packets += 1;
        self.counts.resent += u64::from(is_again);
    }

    /// Payload of a packet, in bytes.
    fn payload(&mut self, number: u32, packet: u64) -> u64 {
        let full_bytes = self.segment_bytes;
        let flow = self.flow(number);
        let message = &flow.messages[flow.message_of(packet)];
        if packet + 1 == message.end { message.last_bytes } else { full_bytes }
    }

    /// A packet is at the port of its receiver.
    pub fn at_port(&mut self, kernel: &mut Kernel, links: &mut [[Link; 2]], number: u32) {
        let now_ns = kernel.now_ns();
        let [near, far] = self.ends(number);
        let (way, back) = (Way::of(number) as usize, Way::of(number ^ 1) as usize);
        let Some((packet, bytes)) = self.flow(number).leaving.pop_front() else { return };
        let wire_bytes = bytes + self.frame_bytes;
        let idle_since_ns = links[far][way].free_ns;
        let Some((end_ns, waiting)) = self.ports[far].take(&mut links[far][way], now_ns, wire_bytes, self.spec.buffer as usize) else {
            self.counts.dropped += 1;
            kernel.mark(now_ns, Mark::Dropped, u64::from(number), bytes);
            return;
        };
        kernel.mark(now_ns, Mark::AtPort, u64::from(number), waiting);
        self.counts.longest = self.counts.longest.max(waiting);
        if way == Way::ToClient as usize {
            self.hear(far - self.spec.servers as usize, idle_since_ns, now_ns);
        }
        let arrival_ns = end_ns + self.legs_ns[way][1];
        let acknowledged_ns = arrival_ns + self.legs_ns[back].iter().sum::<u64>();
        let frame_bytes = self.frame_bytes;
        for link in [near, far] {
            links[link][back].wire_bytes += frame_bytes;
        }
        let flow = &mut self.flows[number as usize / 2][number as usize % 2];
        let ack = flow.receiver.take(packet);
        flow.acks.push_back(ack);
        while let Some(message) = flow.messages.get(flow.delivered).filter(|message| message.end <= ack) {
            self.delivered.push((message.request, arrival_ns, message.spent));
            flow.delivered += 1;
        }
        kernel.mark(arrival_ns, Mark::Received, u64::from(number), bytes);
        kernel.mark(acknowledged_ns, Mark::Acknowledged, u64::from(number), bytes);
        kernel.wake_at(acknowledged_ns, HERE, Timer::Acknowledged(number));
    }

    /// A packet for a client comes to a link that has been idle since some time; was that a silence, while the client waited?
    fn hear(&mut self, client: usize, idle_since_ns: u64, now_ns: u64) {
        let client = &mut self.clients[client];
        let silence_ns = now_ns.saturating_sub(idle_since_ns.max(client.open_ns));
        if client.open > 0 && silence_ns > self.spec.rto_min.0 / 2 {
            client.silent_ns = Some(now_ns);
            let _ = self.silences.record(silence_ns); // a histogram that resizes itself refuses only values beyond u64
        }
    }

    /// An acknowledgement is at the sender.
    pub fn acknowledged(&mut self, kernel: &mut Kernel, links: &mut [[Link; 2]], number: u32) {
        let now_ns = kernel.now_ns();
        let flow = self.flow(number);
        let Some(ack) = flow.acks.pop_front() else { return };
        let again = flow.sender.acknowledged(ack, now_ns);
        flow.stirred_ns = flow.stirred_ns.max(now_ns);
        while flow.messages.front().is_some_and(|message| message.end <= flow.sender.first_open()) {
            flow.messages.pop_front();
            flow.delivered -= 1;
        }
        if let Some(packet) = again {
            self.transmit(kernel, links, number, packet);
        }
        self.pump(kernel, links, number);
    }

    /// A look at the timer of a sender.
    pub fn look(&mut self, kernel: &mut Kernel, links: &mut [[Link; 2]], number: u32) {
        let now_ns = kernel.now_ns();
        let flow = self.flow(number);
        if flow.look_ns != Some(now_ns) {
            return;
        }
        flow.look_ns = None;
        if flow.sender.deadline_ns.is_none_or(|deadline_ns| deadline_ns > now_ns) {
            return look(kernel, flow, number);
        }
        let waited_ns = now_ns.saturating_sub(flow.stirred_ns);
        let message = flow.message_of(flow.sender.first_open());
        flow.messages[message].spent.timer_ns += waited_ns;
        flow.held_ns = None;
        flow.sender.expire();
        self.counts.timeouts += 1;
        kernel.mark(now_ns, Mark::Expired, u64::from(number), waited_ns);
        self.pump(kernel, links, number);
    }

    /// Bytes of files that a message had.
    pub fn carried(&mut self, payload_bytes: u64) {
        self.counts.payload_bytes += payload_bytes;
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> u64 {
        let each = |flow: &Flow| flow.messages.capacity() * size_of::<Message>() + (2 * flow.leaving.capacity() + flow.acks.capacity()) * 8;
        let lists: usize = self.flows.iter().flatten().map(each).sum();
        (self.flows.len() * size_of::<[Flow; 2]>() + lists) as u64
    }
}

/// Has the timer of a sender looked at when it may have run out.
fn look(kernel: &mut Kernel, flow: &mut Flow, number: u32) {
    if let Some(deadline_ns) = flow.sender.deadline_ns.filter(|deadline_ns| flow.look_ns.is_none_or(|look_ns| look_ns > *deadline_ns)) {
        flow.look_ns = Some(deadline_ns);
        kernel.wake_at(deadline_ns, HERE, Timer::Expire(number));
    }
}
