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
//! switches that queue, the cost of frames to CPUs and their interrupts.

mod report;

use std::collections::VecDeque;

use crate::kernel::journeys::Mark;
use crate::kernel::{Address, Event, Kernel, LayerId, Phase, RequestId, Timer as _, Wire};
use crate::layers::Layer;
use crate::layers::device::transfer_ns;
use crate::result::analytics::Served;
use crate::timers;
use seeklab_kernel::Slab;
use seeklab_spec::Op;
use seeklab_spec::network::{ACK_WIRE_BYTES, FRAMES_PER_ACK, NetworkSpec, SEGMENT_BYTES};

const HERE: Address = Address::of(LayerId::Network);

timers! {
    enum Timer {
        /// A flow has acknowledgements: twice the connection, and one more for the way to the client.
        Acknowledged(u32),
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

/// What the network carried in one direction.
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

/// One direction of a link.
#[derive(Clone, Copy, Debug, Default)]
struct Link {
    bits_per_s: u64,
    free_ns: u64,
    busy_ns: u64,
    wire_bytes: u64,
}

impl Link {
    fn work_ns(&self, wire_bytes: u64) -> u64 {
        transfer_ns(wire_bytes.saturating_mul(8), self.bits_per_s)
    }

    /// Time that it was busy. What it has taken and not begun or finished lies without a gap before `free_ns`.
    fn busy_until(&self, now_ns: u64) -> u64 {
        self.busy_ns.saturating_sub(self.free_ns.saturating_sub(now_ns))
    }

    /// Takes the link for `wire_bytes` as soon as it is free. Returns when it begins and ends.
    fn take(&mut self, now_ns: u64, wire_bytes: u64) -> (u64, u64) {
        let work_ns = self.work_ns(wire_bytes);
        let start_ns = self.free_ns.max(now_ns);
        self.free_ns = start_ns + work_ns;
        self.busy_ns += work_ns;
        self.wire_bytes += wire_bytes;
        (start_ns, self.free_ns)
    }
}

/// One direction of a connection.
#[derive(Default)]
struct Flow {
    /// Messages that wait or are under way, by request.
    messages: VecDeque<RequestId>,
    /// Bytes of the first message that have not left.
    unsent_bytes: u64,
    /// Bytes that have left and are not acknowledged.
    unacknowledged_bytes: u64,
    /// Acknowledgements on their way: when, and for how many bytes.
    acknowledgements: VecDeque<(u64, u64)>,
    /// Frames that no acknowledgement has answered.
    frames: u64,
    /// When the sender's link is done with the last segment.
    sent_ns: u64,
    /// Since when the window holds the first message back.
    held_ns: Option<u64>,
    /// Whether a signal for the next acknowledgement is under way.
    called: bool,
}

/// A segment on its way to the second link.
#[derive(Clone, Copy)]
struct Segment {
    request: RequestId,
    flow: u32,
    bytes: u64,
    /// When its last bit is at the second link.
    tail_ns: u64,
    is_last: bool,
}

/// Where a request is on its way.
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
    /// Who is told in the end.
    owner: Address,
    stage: Stage,
    /// The connection.
    connection: u32,
    window_ns: u64,
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
    /// By number of the request.
    messages: Vec<Message>,
    traffic: [Traffic; 2],
    /// What the server did, by client: from a request's last frame to the reply's first.
    pub served: Vec<Served>,
}

impl Layer for Network {
    fn on(&mut self, kernel: &mut Kernel, _: u16, event: Event) {
        match event {
            Event::Submit(id) => self.submit(kernel, id),
            Event::Done(id) => self.reply(kernel, id),
            Event::Timer(timer) => match Timer::unpack(timer) {
                Timer::Acknowledged(flow) => {
                    let way = if flow & 1 == 0 { Way::ToServer } else { Way::ToClient };
                    self.flows[flow as usize / 2][way as usize].called = false;
                    self.pump(kernel, flow / 2, way);
                }
                Timer::AtSecondLink(segment) => self.second_link(kernel, segment),
                Timer::Arrived(id) => self.arrived(kernel, id),
            },
        }
    }
}

impl Network {
    /// The network that a scenario describes; `clients` names the client of each worker, requests of clients go on to `below`,
    /// those of copy engines to `engine`.
    #[must_use]
    pub fn new(spec: &NetworkSpec, clients: Vec<usize>, below: Address, engine: Address) -> Self {
        let count = clients.iter().max().map_or(0, |last| last + 1);
        let link = |bits_per_s| [Link { bits_per_s, ..Link::default() }; 2];
        let server_links = spec.server_links as usize;
        let mut links = vec![link(spec.server_bits_per_s.unwrap_or(spec.bits_per_s)); server_links];
        links.resize(count + server_links, link(spec.bits_per_s));
        let there_ns = spec.round_trip.0 / 2;
        Self {
            clients,
            below: [below, engine],
            one_way_ns: [there_ns, spec.round_trip.0 - there_ns],
            links,
            flows: (0..count * spec.connections as usize).map(|_| <[Flow; 2]>::default()).collect(),
            turns: vec![0; count],
            segments: Slab::default(),
            messages: Vec::new(),
            traffic: <[Traffic; 2]>::default(),
            served: vec![Served::default(); count],
            spec: spec.clone(),
        }
    }

    /// What was carried until now, towards the server and back.
    #[must_use]
    pub fn traffic(&self, now_ns: u64) -> [Traffic; 2] {
        let (server, clients) = self.links.split_at(self.spec.server_links as usize);
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
        let connection = number(client) * self.spec.connections + *turn;
        *turn = (*turn + 1) % self.spec.connections;
        let stage = match request.wire {
            Wire::TokenCommand => Stage::AskToken,
            Wire::Exchange | Wire::Ask | Wire::Look | Wire::Command => Stage::Command,
            Wire::Reply | Wire::Inside => Stage::Below,
        };
        let message = Message { owner: request.owner, stage, connection, window_ns: 0, arrived_ns: 0, work_ns: [0; 2] };
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
        [self.spec.server_link(connection), client + self.spec.server_links as usize]
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
        message.window_ns = 0;
        message.work_ns = [0; 2];
        let connection = message.connection;
        let flow = &mut self.flows[connection as usize][way as usize];
        flow.messages.push_back(id);
        if flow.messages.len() == 1 {
            flow.unsent_bytes = bytes;
            self.pump(kernel, connection, way);
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
        let (connection, way) = (segment.flow / 2, if segment.flow & 1 == 0 { Way::ToServer } else { Way::ToClient });
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
            self.links[link][back as usize].take(kernel.now_ns(), acks * ACK_WIRE_BYTES);
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
        let known =
            [(Phase::RoundTrip, self.one_way_ns[way as usize]), (Phase::Window, message.window_ns), (Phase::NetworkTransfer, work_ns)];
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
