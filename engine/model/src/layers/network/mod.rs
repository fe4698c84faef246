//! The network between clients and a server: links, connections, windows.
//!
//! A request becomes messages (see [`crate::kernel::Wire`]): a read sends a small one and gets its data back, a write sends its
//! data and gets a small one back. Messages of a connection travel one after the other in each direction, cut into segments.
//!
//! 1. A segment may leave when the connection's unacknowledged bytes and its own fit in the window, which is the smaller of the
//!    two socket buffers. So a connection moves one window per round trip at most.
//! 2. It occupies the sender's link for its bytes on the wire, first in first out with those of other connections.
//! 3. Half a round trip later its head reaches the receiver's link, which it occupies likewise; both links work at once.
//! 4. The acknowledgement returns half a round trip after that. It takes its bytes from the links' other direction, one frame for
//!    two frames of data, but does not wait there.
//!
//! Each client has a link of its own, the server has one or several, of which a connection uses one; each link carries both directions at once. Segments are at most 64 KiB:
//! a model that moves single frames gives the same times but for one frame's, at forty times the cost. Frame sizes and where they
//! come from: [`seeklab_spec::network`].
//!
//! Left out: slow start and congestion control (connections are long open, and there is no loss), lost and reordered frames,
//! switches that queue, the cost of frames to CPUs and their interrupts. With `packets` there are several servers behind a switch
//! that drops, and connections that find out: see `packets`.

mod link;
mod packets;
mod report;

use std::collections::VecDeque;

use crate::kernel::journeys::Mark;
use crate::kernel::{Address, Event, Kernel, LayerId, Phase, RequestId, Timer as _, Wire};
use crate::layers::{Layer, ReportContext};
use crate::result::analytics::Served;
use crate::result::metrics::Metrics;
use crate::setup::Setup;
use crate::timers;
use seeklab_kernel::Slab;
use seeklab_spec::network::{FRAMES_PER_ACK, NetworkSpec, SEGMENT_BYTES};
use seeklab_spec::{Op, Path, Problems, Scenario};

use link::Link;
use packets::Packets;

const HERE: Address = Address::of(LayerId::Network);
/// Where the pieces of a request go that is spread over several servers.
const PIECES: Address = Address { layer: LayerId::Network, index: 1 };

timers! {
    enum Timer {
        /// A flow has acknowledgements: twice the connection, and one more for the way to the client.
        Acknowledged(u32),
        /// A packet of a flow is at the switch.
        AtPort(u32),
        /// The retransmission timer of a flow may have run out.
        Expire(u32),
        /// The head of a segment is at the receiver's link.
        AtSecondLink(u32),
        /// All of a message is at its end.
        Arrived(RequestId),
    }
}

/// Towards the server, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    ToServer,
    ToClient,
}

impl Way {
    /// The way of a flow: twice the connection, and one more for the way to the client.
    fn of(flow: u32) -> Self {
        if flow & 1 == 0 { Self::ToServer } else { Self::ToClient }
    }
}

/// The traffic of the network in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Messages.
    pub messages: u64,
    /// Bytes of files.
    pub payload_bytes: u64,
    /// Bytes on the wire, with all headers and acknowledgements.
    pub wire_bytes: u64,
    /// Time that the server's busiest link was busy, in nanoseconds.
    pub server_busy_ns: u64,
    /// Time that the busiest client's link was busy, in nanoseconds.
    pub client_busy_ns: u64,
}

/// One direction of a connection.
#[derive(Default)]
struct Flow {
    /// Messages that wait or are in progress, by request.
    messages: VecDeque<RequestId>,
    /// Bytes of the first message that have not left.
    unsent_bytes: u64,
    /// Bytes that have left and are not acknowledged.
    unacknowledged_bytes: u64,
    /// Acknowledgements in flight: when, and for how many bytes.
    acknowledgements: VecDeque<(u64, u64)>,
    /// Frames that no acknowledgement has answered.
    frames: u64,
    /// When the sender's link is done with the last segment.
    sent_ns: u64,
    /// Since when the window holds the first message back.
    held_ns: Option<u64>,
    /// Whether a signal for the next acknowledgement is in progress.
    called: bool,
}

/// A segment in flight to the second link.
#[derive(Clone, Copy)]
struct Segment {
    request: RequestId,
    flow: u32,
    bytes: u64,
    /// When its last bit is at the second link.
    tail_ns: u64,
    is_last: bool,
}

/// The position of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    AskToken,
    GetToken,
    Command,
    Below,
    Reply,
}

/// The message of a request that is on the network.
#[derive(Clone, Copy)]
struct Message {
    /// Part that receives the completion in the end.
    owner: Address,
    stage: Stage,
    /// The connection.
    connection: u32,
    window_ns: u64,
    timer_ns: u64,
    /// When the server had all of it.
    arrived_ns: u64,
    /// Work of the two links.
    work_ns: [u64; 2],
}

/// All clients, their connections, and the server's links.
pub struct Network {
    spec: NetworkSpec,
    /// The client of each worker.
    clients: Vec<usize>,
    /// Below the network: for requests of clients, and for those of copy engines.
    below: [Address; 2],
    one_way_ns: [u64; 2],
    /// Links of the server, then of each client, by way.
    links: Vec<[Link; 2]>,
    flows: Vec<[Flow; 2]>,
    /// The next connection of each client.
    turns: Vec<u32>,
    segments: Slab<Segment>,
    packets: Option<Box<Packets>>,
    /// By number of the request.
    messages: Vec<Message>,
    traffic: [Traffic; 2],
    /// Work of the server by client, from a request's last frame to the reply's first.
    pub served: Vec<Served>,
}

impl Layer for Network {
    type Spec = NetworkSpec;
    const FIELD: &'static str = "network";
    const LABEL: &'static str = "Network";

    fn spec(scenario: &Scenario) -> Option<&NetworkSpec> {
        scenario.network.as_ref()
    }

    fn check(spec: &NetworkSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
        let workers = scenario.jobs.iter().map(|job| u64::from(job.numjobs)).sum();
        let writes = scenario.jobs.iter().any(|job| job.rw.writes());
        spec.check(scenario.jobs.len() as u64, workers, writes, at, problems);
    }

    fn build(spec: &NetworkSpec, setup: &Setup) -> Option<Self> {
        // Copy engines are on the server, and below its protocol.
        let engine = if setup.scenario.server.is_some() { LayerId::Network } else { LayerId::Database };
        Some(Self::new(spec, setup.clients(), setup.below(LayerId::Network), setup.below(engine), setup.seed))
    }

    fn on(&mut self, kernel: &mut Kernel, part: u16, event: Event) {
        match (event, &mut self.packets) {
            (Event::Submit(id), _) => self.submit(kernel, id),
            (Event::Done(id), _) if part == PIECES.index => self.piece_done(kernel, id),
            (Event::Done(id), _) => self.reply(kernel, id),
            (Event::Timer(timer), packets) => match (Timer::unpack(timer), packets) {
                (Timer::Arrived(id), _) => self.arrived(kernel, id),
                (Timer::AtSecondLink(segment), _) => self.second_link(kernel, segment),
                (Timer::AtPort(flow), Some(packets)) => {
                    packets.at_port(kernel, &mut self.links, flow);
                    self.deliver(kernel);
                }
                (Timer::Acknowledged(flow), Some(packets)) => packets.acknowledged(kernel, &mut self.links, flow),
                (Timer::Expire(flow), Some(packets)) => packets.look(kernel, &mut self.links, flow),
                (Timer::Acknowledged(flow), None) => {
                    let way = Way::of(flow);
                    self.flows[flow as usize / 2][way as usize].called = false;
                    self.pump(kernel, flow / 2, way);
                }
                (Timer::AtPort(_) | Timer::Expire(_), None) => {} // without packets nobody sets them
            },
        }
    }

    fn memory_bytes(&self) -> u64 {
        self.packets.as_ref().map_or(0, |packets| packets.memory_bytes())
    }

    fn metrics(&self, _: &ReportContext, metrics: &mut Metrics) {
        self.report(metrics);
    }
}

impl Network {
    /// The network that a scenario describes; `clients` names the client of each worker, requests of clients go on to `below`,
    /// those of copy engines to `engine`.
    #[must_use]
    pub fn new(spec: &NetworkSpec, clients: Vec<usize>, below: Address, engine: Address, seed: u64) -> Self {
        let count = clients.iter().max().map_or(0, |last| last + 1);
        let link = |bits_per_s| [Link::new(bits_per_s); 2];
        let server_links = spec.links_of_servers() as usize;
        let mut links = vec![link(spec.server_bits_per_s.unwrap_or(spec.bits_per_s)); server_links];
        links.resize(count + server_links, link(spec.bits_per_s));
        let packets = Packets::of(spec, count, seed);
        let flows = if packets.is_some() { 0 } else { count * spec.connections as usize };
        Self {
            clients,
            below: [below, engine],
            one_way_ns: spec.one_way_ns(),
            links,
            flows: (0..flows).map(|_| <[Flow; 2]>::default()).collect(),
            turns: vec![0; count],
            segments: Slab::default(),
            packets,
            messages: Vec::new(),
            traffic: <[Traffic; 2]>::default(),
            served: vec![Served::default(); count],
            spec: spec.clone(),
        }
    }

    /// Return the traffic until now, towards the server and back.
    #[must_use]
    pub fn traffic(&self, now_ns: u64) -> [Traffic; 2] {
        let (server, clients) = self.links.split_at(self.spec.links_of_servers() as usize);
        let busiest = |links: &[[Link; 2]], way: Way| links.iter().map(|link| link[way as usize].busy_until(now_ns)).max().unwrap_or(0);
        [Way::ToServer, Way::ToClient].map(|way| Traffic {
            wire_bytes: server.iter().map(|link| link[way as usize].wire_bytes).sum(),
            server_busy_ns: busiest(server, way),
            client_busy_ns: busiest(clients, way),
            ..self.traffic[way as usize]
        })
    }

    /// Time that each link was busy until a time, both ways one after the other, in nanoseconds.
    #[must_use]
    pub fn links_busy_ns(&self, now_ns: u64) -> Vec<u64> {
        self.links.iter().flatten().map(|link| link.busy_until(now_ns)).collect()
    }

    fn submit(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        let client = self.clients[request.worker as usize];
        let turn = &mut self.turns[client];
        let connection = (number(client) * self.spec.connections + *turn) * self.spec.connections_of_one();
        *turn = (*turn + 1) % self.spec.connections;
        if self.packets.is_some() && request.wire == Wire::Exchange && request.bytes > 0 {
            return self.spread(kernel, id, connection);
        }
        self.begin(kernel, id, connection);
    }

    /// Spreads a request over the servers that a connection leads to.
    fn spread(&mut self, kernel: &mut Kernel, id: RequestId, connection: u32) {
        let whole = kernel.requests[id];
        let client = self.clients[whole.worker as usize];
        let Some(packets) = &mut self.packets else { return };
        packets.open(client, kernel.now_ns());
        for (server, from, to) in packets.parts(whole.bytes) {
            let piece = kernel.open_child(id, PIECES, whole.offset + from, to - from);
            kernel.requests[piece].tag = connection + server;
            if self.packets.as_mut().is_some_and(|packets| packets.may_ask(client, piece)) {
                self.begin(kernel, piece, connection + server);
            }
        }
    }

    /// A piece of a request is with the client, or written.
    fn piece_done(&mut self, kernel: &mut Kernel, id: RequestId) {
        let piece = kernel.requests[id];
        let client = self.clients[piece.worker as usize];
        let next = self.packets.as_mut().and_then(|packets| packets.next(client));
        if let Some(next) = next {
            let connection = kernel.requests[next].tag;
            kernel.charge(next, Phase::NetworkQueue);
            self.begin(kernel, next, connection);
        }
        if let Some(whole) = piece.parent {
            let request = &mut kernel.requests[whole];
            request.cached_bytes = request.cached_bytes.saturating_add(piece.cached_bytes);
            request.missed_bytes = request.missed_bytes.saturating_add(piece.missed_bytes);
        }
        if let Some(whole) = kernel.join(id) {
            if let Some(packets) = &mut self.packets {
                packets.close(client, kernel.requests[whole].submitted_ns);
            }
            kernel.complete(whole);
        }
    }

    /// Sends the first message of a request.
    fn begin(&mut self, kernel: &mut Kernel, id: RequestId, connection: u32) {
        let request = kernel.requests[id];
        let stage = match request.wire {
            Wire::TokenCommand => Stage::AskToken,
            Wire::Exchange | Wire::Ask | Wire::Look | Wire::Command => Stage::Command,
            Wire::Reply | Wire::Inside => Stage::Below,
        };
        let message = Message { owner: request.owner, stage, connection, window_ns: 0, timer_ns: 0, arrived_ns: 0, work_ns: [0; 2] };
        let place = id.0 as usize;
        if self.messages.len() <= place {
            self.messages.resize(place + 1, message);
        }
        self.messages[place] = message;
        kernel.requests[id].connection = u16::try_from(connection).unwrap_or(u16::MAX); // checked to be fewer
        if stage == Stage::Below { self.descend(kernel, id) } else { self.send(kernel, id, Way::ToServer) }
    }

    /// The links of a request's connection: the server's, and the client's.
    fn ends(&self, kernel: &Kernel, id: RequestId, connection: u32) -> [usize; 2] {
        let client = self.clients[kernel.requests[id].worker as usize];
        [self.spec.server_link(connection), client + self.spec.links_of_servers() as usize]
    }

    /// Hands a request to the layers of the server.
    fn descend(&mut self, kernel: &mut Kernel, id: RequestId) {
        let message = &mut self.messages[id.0 as usize];
        (message.stage, message.arrived_ns) = (Stage::Below, kernel.now_ns());
        let request = &mut kernel.requests[id];
        if matches!(request.wire, Wire::Exchange | Wire::Ask | Wire::Look | Wire::Reply) {
            request.owner = HERE;
        }
        let below = self.below[usize::from(request.wire != Wire::Exchange)];
        kernel.submit(below, id);
    }

    /// The server is done with a request that the client waits for.
    fn reply(&mut self, kernel: &mut Kernel, id: RequestId) {
        let message = &mut self.messages[id.0 as usize];
        message.stage = Stage::Reply;
        let request = kernel.requests[id];
        self.served[self.clients[request.worker as usize]].add(request.bytes, kernel.now_ns() - message.arrived_ns);
        self.send(kernel, id, Way::ToClient);
    }

    /// Bytes of files in the present message of a request.
    fn payload_bytes(&self, kernel: &Kernel, id: RequestId) -> u64 {
        let request = kernel.requests[id];
        let carries = matches!((self.messages[id.0 as usize].stage, request.op), (Stage::Command, Op::Write) | (Stage::Reply, Op::Read));
        if carries && request.wire == Wire::Exchange { request.bytes } else { 0 }
    }

    /// All bytes of the present message of a request; at least one.
    fn message_bytes(&self, kernel: &Kernel, id: RequestId) -> u64 {
        (self.payload_bytes(kernel, id) + self.spec.header.0).max(1)
    }

    /// Puts the present message of a request on its connection.
    fn send(&mut self, kernel: &mut Kernel, id: RequestId, way: Way) {
        let bytes = self.message_bytes(kernel, id);
        let message = &mut self.messages[id.0 as usize];
        (message.window_ns, message.timer_ns, message.work_ns) = (0, 0, [0; 2]);
        let connection = message.connection;
        if self.packets.is_some() {
            return self.send_packets(kernel, id, way, bytes);
        }
        let flow = &mut self.flows[connection as usize][way as usize];
        flow.messages.push_back(id);
        if flow.messages.len() == 1 {
            flow.unsent_bytes = bytes;
            self.pump(kernel, connection, way);
        }
    }

    /// Sends a message over the switch: as packets when it has data of files, else as a signal that takes no time of a link.
    fn send_packets(&mut self, kernel: &mut Kernel, id: RequestId, way: Way, bytes: u64) {
        let (payload, connection) = (self.payload_bytes(kernel, id), self.messages[id.0 as usize].connection);
        let ends = self.ends(kernel, id, connection);
        let wire_bytes = self.spec.wire_bytes(bytes);
        let Some(packets) = &mut self.packets else { return };
        self.traffic[way as usize].messages += 1;
        self.traffic[way as usize].payload_bytes += payload;
        packets.carried(payload);
        if payload > 0 {
            return packets.append(kernel, &mut self.links, connection * 2 + way as u32, id, bytes);
        }
        for link in ends {
            self.links[link][way as usize].wire_bytes += wire_bytes;
        }
        let late_ns = if way == Way::ToServer { packets.request_jitter_ns() } else { 0 };
        kernel.wake_at(kernel.now_ns() + self.one_way_ns[way as usize] + late_ns, HERE, Timer::Arrived(id));
    }

    /// Has those messages arrive whose last packet is in flight to the receiver.
    fn deliver(&mut self, kernel: &mut Kernel) {
        let Some(packets) = &mut self.packets else { return };
        for (id, arrival_ns, spent) in packets.delivered.drain(..) {
            let message = &mut self.messages[id.0 as usize];
            (message.window_ns, message.timer_ns, message.work_ns) = (spent.window_ns, spent.timer_ns, spent.work_ns);
            kernel.wake_at(arrival_ns, HERE, Timer::Arrived(id));
        }
    }

    /// Sends what the window of a flow allows.
    fn pump(&mut self, kernel: &mut Kernel, connection: u32, way: Way) {
        let window = self.spec.window_bytes();
        let now_ns = kernel.now_ns();
        loop {
            let flow = &mut self.flows[connection as usize][way as usize];
            let Some(id) = flow.messages.front().copied() else { return };
            while let Some((_, bytes)) = flow.acknowledgements.front().copied().filter(|ack| ack.0 <= now_ns) {
                flow.unacknowledged_bytes -= bytes;
                flow.acknowledgements.pop_front();
            }
            let wanted = flow.unsent_bytes.min(SEGMENT_BYTES);
            let bytes = wanted.min(window - flow.unacknowledged_bytes);
            if bytes < wanted.min(self.spec.segment_bytes()) {
                flow.held_ns.get_or_insert(now_ns);
                return call(kernel, flow, connection, way);
            }
            let [server, client] = self.ends(kernel, id, connection);
            let message = &mut self.messages[id.0 as usize];
            let flow = &mut self.flows[connection as usize][way as usize];
            if let Some(held_ns) = flow.held_ns.take() {
                message.window_ns += now_ns.saturating_sub(held_ns.max(flow.sent_ns));
            }
            let first = if way == Way::ToServer { client } else { server };
            let wire_bytes = self.spec.wire_bytes(bytes);
            let link = &mut self.links[first][way as usize];
            let (start_ns, end_ns) = link.take(now_ns, wire_bytes);
            message.work_ns[0] += end_ns - start_ns;
            flow.sent_ns = end_ns;
            kernel.mark(start_ns, Mark::Sent, u64::from(connection * 2 + way as u32), bytes);
            flow.unacknowledged_bytes += bytes;
            flow.unsent_bytes -= bytes;
            let one_way_ns = self.one_way_ns[way as usize];
            let is_last = flow.unsent_bytes == 0;
            let flow_number = connection * 2 + way as u32;
            let segment = Segment { request: id, flow: flow_number, bytes, tail_ns: end_ns + one_way_ns, is_last };
            if is_last {
                flow.messages.pop_front();
            }
            let place = self.segments.insert(segment);
            kernel.wake_at(start_ns + one_way_ns, HERE, Timer::AtSecondLink(place));
            if is_last {
                self.traffic[way as usize].messages += 1;
                self.traffic[way as usize].payload_bytes += self.payload_bytes(kernel, id);
                let next = self.flows[connection as usize][way as usize].messages.front().copied();
                if let Some(next) = next {
                    self.flows[connection as usize][way as usize].unsent_bytes = self.message_bytes(kernel, next);
                }
            }
        }
    }

    /// The head of a segment is at the receiver's link.
    fn second_link(&mut self, kernel: &mut Kernel, place: u32) {
        let segment = self.segments[place];
        self.segments.release(place);
        let (connection, way) = (segment.flow / 2, Way::of(segment.flow));
        let [server, client] = self.ends(kernel, segment.request, connection);
        let (second, back) = match way {
            Way::ToServer => (server, Way::ToClient),
            Way::ToClient => (client, Way::ToServer),
        };
        let (start_ns, end_ns) = self.links[second][way as usize].take(kernel.now_ns(), self.spec.wire_bytes(segment.bytes));
        self.messages[segment.request.0 as usize].work_ns[1] += end_ns - start_ns;
        let flow = &mut self.flows[connection as usize][way as usize];
        let acknowledged_ns = start_ns + self.one_way_ns[back as usize];
        flow.acknowledgements.push_back((acknowledged_ns, segment.bytes));
        kernel.mark(end_ns.max(segment.tail_ns), Mark::Received, u64::from(segment.flow), segment.bytes);
        kernel.mark(acknowledged_ns, Mark::Acknowledged, u64::from(segment.flow), segment.bytes);
        if flow.held_ns.is_some() {
            call(kernel, flow, connection, way);
        }
        flow.frames += self.spec.frames(segment.bytes);
        let acks = flow.frames / FRAMES_PER_ACK;
        flow.frames %= FRAMES_PER_ACK;
        for link in [server, client] {
            self.links[link][back as usize].take(kernel.now_ns(), acks * self.spec.ack_wire_bytes());
        }
        if segment.is_last {
            kernel.wake_at(end_ns.max(segment.tail_ns), HERE, Timer::Arrived(segment.request));
        }
    }

    /// All of a message is at its end.
    fn arrived(&mut self, kernel: &mut Kernel, id: RequestId) {
        let message = self.messages[id.0 as usize];
        let way = if matches!(message.stage, Stage::GetToken | Stage::Reply) { Way::ToClient } else { Way::ToServer };
        let mut left_ns = kernel.now_ns() - kernel.requests[id].charged_ns;
        let work_ns = message.work_ns[0].max(message.work_ns[1]);
        let known = [
            (Phase::RoundTrip, self.one_way_ns[way as usize]),
            (Phase::Timer, message.timer_ns),
            (Phase::Window, message.window_ns),
            (Phase::NetworkTransfer, work_ns),
        ];
        for (phase, ns) in known {
            kernel.requests.charge_ns(id, phase, ns.min(left_ns));
            left_ns -= ns.min(left_ns);
        }
        kernel.charge(id, Phase::NetworkQueue);
        match message.stage {
            Stage::AskToken => {
                self.messages[id.0 as usize].stage = Stage::GetToken;
                self.send(kernel, id, Way::ToClient);
            }
            Stage::GetToken => {
                self.messages[id.0 as usize].stage = Stage::Command;
                self.send(kernel, id, Way::ToServer);
            }
            Stage::Command if kernel.requests[id].wire == Wire::Look && self.below[1].layer != LayerId::Server => {
                self.messages[id.0 as usize].arrived_ns = kernel.now_ns();
                self.reply(kernel, id);
            }
            Stage::Command | Stage::Below => self.descend(kernel, id),
            Stage::Reply => {
                kernel.requests[id].owner = message.owner;
                kernel.complete(id);
            }
        }
    }
}

/// Lets a held flow look again when its next acknowledgement is there.
fn call(kernel: &mut Kernel, flow: &mut Flow, connection: u32, way: Way) {
    if let Some((due_ns, _)) = flow.acknowledgements.front().copied().filter(|_| !flow.called) {
        flow.called = true;
        kernel.wake_at(due_ns, HERE, Timer::Acknowledged(connection * 2 + way as u32));
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX) // clients, connections and segments are checked to stay far below
}

#[cfg(test)]
mod tests;
