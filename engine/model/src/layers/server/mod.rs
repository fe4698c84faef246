//! A server node: what its cores spend on each request between the network and the file system, and back.
//!
//! The life of a request on the node:
//!
//! 1. Its frames arrive on the receive ring of its connection. The card *blanks* interrupts: it raises one when so many frames
//!    have come, or when the first has waited for so long. The request waits for that.
//! 2. The interrupt and each frame cost cycles, on the one core that serves the ring's interrupts at a time.
//! 3. The file protocol works on it, by the request and by the byte, on any core. It goes down, and comes back.
//! 4. TCP/IP cuts the reply into segments, the driver posts them on the transmit ring of the connection, in bursts. Posting on
//!    a ring takes its lock: who finds it held leaves the burst with the holder, who posts it too. Who finds the ring idle takes
//!    it over, and pays for its cache lines, which another core had, and for telling the card.
//! 5. The buffer is freed. A large one is unmapped, and every other core must forget the mapping: a *cross-call* interrupts them
//!    all, and the caller waits for their answers. There is one cross-call at a time.
//!
//! So the cost of transmitting depends on rings and connections together. An interrupt brings acknowledgements, each lets its
//! connection send two frames. With many connections these are small bursts; on few rings somebody is always posting and takes
//! them along, on many rings each finds its ring idle. With one ring the holder is the limit.
//!
//! With n cores, work w of a request on any core, and calls of c (and a for who answers) for each other core, a node that
//! unmaps does at most
//!
//! ```text
//!   min(n / (w + (n - 1)(c + a)), 1 / max((n - 1) c, a))   requests a second
//! ```
//!
//! which rises at first and falls from some number of cores on.
//!
//! Constants are the scenario's. Left out: caches (a copied byte costs the same wherever it is), the choice of a core, threads
//! (there are always enough), spinning for the cross-call's lock (here a thread sleeps, so its core is idle or does something
//! else), acknowledgements that come alone at low load (they raise their interrupt with what comes next), and that a reply's
//! first frames travel while the last are posted.

mod check;
mod nic;
mod report;

use crate::cpu::folded::Frames;
use crate::cpu::lock::Mode;
use crate::cpu::{Cpu, Section, Task};
use crate::kernel::{Address, Event, Kernel, LayerId, NO_DEVICE, Phase, RequestId, Timer as _, Wire};
use crate::layers::{Layer, ReportContext};
use crate::result::metrics::Metrics;
use crate::setup::Setup;
use crate::timers;
use nic::{burst, post_cycles, segments};
use seeklab_kernel::NS_PER_S;
use seeklab_spec::network::{FRAMES_PER_ACK, NetworkSpec};
use seeklab_spec::server::ServerSpec;
use seeklab_spec::{Op, Path, Problems, Scenario, to_f64};

const HERE: Address = Address::of(LayerId::Server);

timers! {
    enum Timer {
        /// The cores have done a piece of work.
        Cpu(u32),
        /// A ring's card has held back interrupts for long enough: the ring, and how many it had raised when it began.
        Blanked((u16, u16)),
    }
}
/// Protocol threads; effectively unlimited.
const THREADS: u32 = 1 << 16;

/// A use of the node's cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Interrupt,
    Receive,
    Send,
    Post,
    TakeOver,
    Protocol,
    Device,
    Call,
    Called,
}

/// Where the parts stand in a flame graph; those of the network come first.
const PARTS: [&[&str]; 9] = [
    &["network", "interrupts"],
    &["network", "receive"],
    &["network", "send"],
    &["network", "post"],
    &["network", "take over a ring"],
    &["protocol", "requests and bytes"],
    &["file system", "bytes of devices"],
    &["memory", "call other cores"],
    &["memory", "answer a call"],
];
const NETWORK_PARTS: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Receive,
    Work,
    Answer,
    Post,
    Free,
}

/// A request on the node.
#[derive(Clone, Copy, Debug)]
struct Visit {
    /// Part that receives the completion in the end.
    owner: Address,
    connection: u32,
    stage: Stage,
    /// Segments that are not yet posted.
    segments: u64,
    /// Those of the burst that is being posted.
    posting: u64,
}

/// A receive ring and its interrupts.
#[derive(Debug, Default)]
struct Ring {
    server: u32,
    /// Requests whose interrupt is held back, with their cycles.
    held: Vec<(RequestId, u64)>,
    /// Frames since the last interrupt.
    frames: u32,
    /// Frames sent that no acknowledgement has answered.
    unanswered: u64,
    /// Timers of this many interrupts ago are void.
    interrupts: u32,
}

/// A transmit ring: its server, and the bursts with it.
#[derive(Debug, Default)]
struct Transmit {
    server: u32,
    bursts: u32,
}

/// The counts of the node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Bytes of files that requests moved over the network.
    pub bytes: u64,
    /// Interrupts of the card.
    pub interrupts: u64,
    /// Frames received.
    pub frames: u64,
    /// Times that an idle transmit ring was taken over.
    pub take_overs: u64,
    /// Buffers that were unmapped.
    pub unmaps: u64,
    /// Cores that were interrupted by cross-calls.
    pub cross_calls: u64,
}

/// The server node.
pub struct Server {
    spec: ServerSpec,
    network: NetworkSpec,
    cpu: Cpu<Timer>,
    /// Below the node: for requests of clients, and for those of copy engines.
    below: [Address; 2],
    /// Server of the file protocol's threads.
    protocol: u32,
    lock: u32,
    receive: Vec<Ring>,
    transmit: Vec<Transmit>,
    /// By number of the request.
    visits: Vec<Visit>,
    /// Requests of each connection on the node, and the connections that have any.
    inside: Vec<u32>,
    active: u64,
    spent: [u64; PARTS.len()],
    /// Counts so far.
    pub counts: Counts,
}

impl Layer for Server {
    type Spec = ServerSpec;
    const FIELD: &'static str = "server";
    const LABEL: &'static str = "Server";

    fn spec(scenario: &Scenario) -> Option<&ServerSpec> {
        scenario.server.as_ref()
    }

    fn check(_: &ServerSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
        check::check(scenario, at, problems);
    }

    fn build(spec: &ServerSpec, setup: &Setup) -> Option<Self> {
        let network = setup.scenario.network.as_ref()?;
        Some(Self::new(spec, network, setup.below(LayerId::Server), setup.below(LayerId::Database)))
    }

    fn on(&mut self, kernel: &mut Kernel, _: u16, event: Event) {
        match event {
            Event::Submit(id) => self.arrive(kernel, id, kernel.requests[id].connection.into()),
            Event::Done(id) => self.answer(kernel, id),
            Event::Timer(timer) => match Timer::unpack(timer) {
                Timer::Cpu(run) => {
                    if let Some((task, _)) = self.cpu.timer(kernel, run) {
                        self.worked(kernel, task.request);
                    }
                }
                Timer::Blanked((ring, interrupts)) => {
                    let ring = usize::from(ring);
                    if blanked(ring, self.receive[ring].interrupts).1 == interrupts {
                        self.raise(kernel, ring);
                    }
                }
            },
        }
    }

    fn metrics(&self, _: &ReportContext, metrics: &mut Metrics) {
        self.report(metrics);
    }
}

impl Server {
    /// The node that a scenario describes behind its network; requests of clients go on to `below`, those of copy engines to
    /// `engine`.
    #[must_use]
    pub fn new(spec: &ServerSpec, network: &NetworkSpec, below: Address, engine: Address) -> Self {
        let mut cpu = Cpu::new(spec.cores, HERE, Timer::Cpu);
        let protocol = cpu.add_server(THREADS);
        let rings = spec.nic.as_ref().map_or([0; 2], |nic| [nic.receive_rings, nic.rings]);
        let receive = (0..rings[0]).map(|_| Ring { server: cpu.add_urgent_server(), ..Ring::default() }).collect();
        let transmit = (0..rings[1]).map(|_| Transmit { server: cpu.add_urgent_server(), bursts: 0 }).collect();
        Self {
            spec: spec.clone(),
            network: network.clone(),
            lock: cpu.add_lock(),
            cpu,
            below: [below, engine],
            protocol,
            receive,
            transmit,
            visits: Vec::new(),
            inside: Vec::new(),
            active: 0,
            spent: [0; PARTS.len()],
            counts: Counts::default(),
        }
    }

    /// Cycles spent until now, all and on the network.
    #[must_use]
    pub fn cycles(&self) -> [u64; 2] {
        [self.spent.iter().sum(), self.spent[..NETWORK_PARTS].iter().sum()]
    }

    /// Cycles that its cores have in a second.
    #[must_use]
    pub fn cycles_per_s(&self) -> f64 {
        f64::from(self.spec.cores) * to_f64(self.spec.hz)
    }

    /// The share of its cores' time that the node has worked, of `elapsed_ns`.
    #[must_use]
    pub fn busy_share(&self, elapsed_ns: u64) -> f64 {
        let all = self.cycles_per_s() * to_f64(elapsed_ns) / to_f64(NS_PER_S);
        if all > 0.0 { to_f64(self.cycles()[0]) / all } else { 0.0 }
    }

    /// Work by stack of functions.
    #[must_use]
    pub fn frames(&self) -> Vec<Frames> {
        let stack = |names: &[&str]| ["server"].iter().chain(names).map(|name| (*name).to_owned()).collect();
        PARTS.iter().zip(self.spent).map(|(names, cycles)| Frames { stack: stack(names), ns: self.ns(cycles) }).collect()
    }

    fn ns(&self, cycles: u64) -> u64 {
        whole(to_f64(cycles) * to_f64(NS_PER_S) / to_f64(self.spec.hz))
    }

    fn spend(&mut self, part: Part, cycles: u64) -> u64 {
        self.spent[part as usize] += cycles;
        cycles
    }

    /// Gives work on a request to a server.
    fn submit(&mut self, kernel: &mut Kernel, id: RequestId, stage: Stage, server: u32, cycles: u64) {
        self.visits[id.0 as usize].stage = stage;
        let task = Task { request: id, ns: self.ns(cycles), phase: Phase::Cpu, section: None, interrupts_ns: 0 };
        self.cpu.submit(kernel, server, task);
    }

    /// Bytes of the message that brings a request, or of the one that answers it; `None` when there is none.
    fn message_bytes(&self, kernel: &Kernel, id: RequestId, is_reply: bool) -> Option<u64> {
        let request = kernel.requests[id];
        let absent = if is_reply { [Wire::TokenCommand, Wire::Command] } else { [Wire::Reply, Wire::Reply] };
        if request.wire == Wire::Inside || absent.contains(&request.wire) {
            return None;
        }
        let carries = request.wire == Wire::Exchange && (request.op == Op::Read) == is_reply;
        Some((self.network.header.0 + if carries { request.bytes } else { 0 }).max(1))
    }

    fn arrive(&mut self, kernel: &mut Kernel, id: RequestId, connection: u32) {
        let request = &mut kernel.requests[id];
        let visit = Visit { owner: request.owner, connection, stage: Stage::Receive, segments: 0, posting: 0 };
        request.owner = HERE;
        let place = id.0 as usize;
        if self.visits.len() <= place {
            self.visits.resize(place + 1, visit);
        }
        self.visits[place] = visit;
        if self.inside.len() <= connection as usize {
            self.inside.resize(connection as usize + 1, 0);
        }
        self.active += u64::from(self.inside[connection as usize] == 0);
        self.inside[connection as usize] += 1;
        match (self.message_bytes(kernel, id, false), &self.spec.nic) {
            (Some(bytes), Some(nic)) => {
                let (frames, cycles) = (self.network.frames(bytes), nic.receive_cycles);
                self.received(kernel, id, frames, cycles);
            }
            _ => self.work(kernel, id),
        }
    }

    /// All frames of a request are on its ring.
    fn received(&mut self, kernel: &mut Kernel, id: RequestId, frames: u64, frame_cycles: u64) {
        let ring = self.visits[id.0 as usize].connection as usize % self.receive.len();
        let mut cycles = self.spend(Part::Receive, frames * frame_cycles);
        let raised = self.count(ring, frames);
        if raised > 0 {
            cycles += self.interrupts(raised);
            self.release(kernel, ring);
        }
        self.receive[ring].held.push((id, cycles));
        if self.receive[ring].frames == 0 {
            self.release(kernel, ring);
        } else if self.receive[ring].held.len() == 1 {
            let blank_ns = self.spec.nic.as_ref().map_or(0, |nic| nic.blank.0);
            kernel.wake_at(kernel.now_ns() + blank_ns, HERE, Timer::Blanked(blanked(ring, self.receive[ring].interrupts)));
        }
    }

    /// Counts frames that come on a ring. Interrupts that they raise.
    fn count(&mut self, ring: usize, frames: u64) -> u64 {
        let most = u64::from(self.spec.nic.as_ref().map_or(1, |nic| nic.blank_frames));
        let ring = &mut self.receive[ring];
        let all = u64::from(ring.frames) + frames;
        ring.frames = u32::try_from(all % most).unwrap_or(0); // below most, which is one
        self.counts.frames += frames;
        all / most
    }

    /// The cycles of so many interrupts.
    fn interrupts(&mut self, count: u64) -> u64 {
        self.counts.interrupts += count;
        let cycles = count * self.spec.nic.as_ref().map_or(0, |nic| nic.interrupt_cycles);
        self.spend(Part::Interrupt, cycles)
    }

    /// Blanking is over on a ring.
    fn raise(&mut self, kernel: &mut Kernel, ring: usize) {
        let cycles = self.interrupts(1);
        self.receive[ring].frames = 0;
        if let Some(first) = self.receive[ring].held.first_mut() {
            first.1 += cycles;
        }
        self.release(kernel, ring);
    }

    /// An interrupt takes what a ring holds.
    fn release(&mut self, kernel: &mut Kernel, ring: usize) {
        let at = &mut self.receive[ring];
        at.interrupts += 1;
        let (held, server) = (std::mem::take(&mut at.held), at.server);
        for (id, cycles) in held {
            kernel.charge(id, Phase::Blanked);
            self.submit(kernel, id, Stage::Receive, server, cycles);
        }
    }

    fn work(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        let bytes = if request.op == Op::Write && request.wire != Wire::Ask { request.bytes } else { 0 };
        let cycles = self.spec.request_cycles + whole(self.spec.byte_cycles * to_f64(bytes));
        let cycles = self.spend(Part::Protocol, cycles);
        self.submit(kernel, id, Stage::Work, self.protocol, cycles);
    }

    /// The layers below are done with a request.
    fn answer(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        if request.wire == Wire::Exchange {
            self.counts.bytes += request.bytes;
        }
        let of_device = if request.device == NO_DEVICE { 0 } else { request.bytes - u64::from(request.cached_bytes).min(request.bytes) };
        let device = whole(self.spec.device_byte_cycles * to_f64(of_device));
        let mut cycles = self.spend(Part::Device, device);
        if request.op == Op::Read && request.wire != Wire::Look {
            let copied = whole(self.spec.byte_cycles * to_f64(request.bytes));
            cycles += self.spend(Part::Protocol, copied);
        }
        if let (Some(bytes), Some(nic)) = (self.message_bytes(kernel, id, true), self.spec.nic.as_ref()) {
            let (count, send, receive) = (segments(nic, &self.network, bytes).count, nic.send_cycles, nic.receive_cycles);
            cycles += self.spend(Part::Send, count * send);
            self.visits[id.0 as usize].segments = count;
            cycles += self.acknowledged(kernel, id, self.network.frames(bytes), receive);
        }
        self.submit(kernel, id, Stage::Answer, self.protocol, cycles);
    }

    /// The cycles of the acknowledgements for so many frames; they raise interrupts like all that comes.
    fn acknowledged(&mut self, kernel: &mut Kernel, id: RequestId, frames: u64, frame_cycles: u64) -> u64 {
        let ring = self.visits[id.0 as usize].connection as usize % self.receive.len();
        let unanswered = self.receive[ring].unanswered + frames;
        self.receive[ring].unanswered = unanswered % FRAMES_PER_ACK;
        let acknowledgements = unanswered / FRAMES_PER_ACK;
        let raised = self.count(ring, acknowledgements);
        if raised > 0 {
            self.release(kernel, ring);
        }
        self.interrupts(raised) + self.spend(Part::Receive, acknowledgements * frame_cycles)
    }

    /// A server has done its work on a request.
    fn worked(&mut self, kernel: &mut Kernel, id: RequestId) {
        match self.visits[id.0 as usize].stage {
            Stage::Receive => self.work(kernel, id),
            // What the node remembers takes nothing below it.
            Stage::Work if kernel.requests[id].wire == Wire::Look => self.answer(kernel, id),
            Stage::Work => kernel.submit(self.below[usize::from(kernel.requests[id].wire != Wire::Exchange)], id),
            Stage::Answer => self.post(kernel, id),
            Stage::Post => {
                let visit = &mut self.visits[id.0 as usize];
                visit.segments -= visit.posting;
                let ring = visit.connection as usize % self.transmit.len();
                self.transmit[ring].bursts -= 1;
                self.post(kernel, id);
            }
            Stage::Free => self.leave(kernel, id),
        }
    }

    /// Posts the next burst of a reply, if there is one.
    fn post(&mut self, kernel: &mut Kernel, id: RequestId) {
        let visit = self.visits[id.0 as usize];
        let (Some(nic), true) = (&self.spec.nic, visit.segments > 0) else {
            return self.free(kernel, id);
        };
        let all = segments(nic, &self.network, self.message_bytes(kernel, id, true).unwrap_or(1));
        let posting = burst(nic, self.active, self.network.frames(all.bytes)).min(visit.segments);
        let is_end = u64::from(posting == visit.segments);
        let posts = (posting - is_end) * post_cycles(nic, all.bytes) + is_end * post_cycles(nic, all.last_bytes);
        let ring = visit.connection as usize % self.transmit.len();
        let take_over = self.transmit[ring].bursts == 0 && self.spec.cores > 1;
        let moved = if take_over { nic.ring_cycles } else { 0 };
        self.counts.take_overs += u64::from(take_over);
        self.transmit[ring].bursts += 1;
        self.visits[id.0 as usize].posting = posting;
        let cycles = self.spend(Part::Post, posts) + self.spend(Part::TakeOver, moved);
        self.submit(kernel, id, Stage::Post, self.transmit[ring].server, cycles);
    }

    /// Frees the buffer of a request.
    fn free(&mut self, kernel: &mut Kernel, id: RequestId) {
        let bytes = kernel.requests[id].bytes;
        let Some(buffers) = self.spec.buffers.as_ref().filter(|buffers| buffers.unmaps(bytes)) else { return self.leave(kernel, id) };
        let others = u64::from(self.spec.cores) - 1;
        let (call, answer) = (others * buffers.call_cycles, buffers.answer_cycles);
        self.counts.unmaps += 1;
        self.counts.cross_calls += others;
        // The caller returns when the last core has answered; cores answer side by side.
        let ns = self.ns(if others > 0 { call.max(answer) } else { 0 });
        self.spend(Part::Call, call);
        self.spend(Part::Called, others * answer);
        self.visits[id.0 as usize].stage = Stage::Free;
        let section = Some(Section { lock: self.lock, mode: Mode::Exclusive, held_ns: ns });
        let interrupts_ns = self.ns(answer);
        self.cpu.submit(kernel, self.protocol, Task { request: id, ns, phase: Phase::CrossCall, section, interrupts_ns });
    }

    fn leave(&mut self, kernel: &mut Kernel, id: RequestId) {
        let visit = self.visits[id.0 as usize];
        self.inside[visit.connection as usize] -= 1;
        self.active -= u64::from(self.inside[visit.connection as usize] == 0);
        kernel.requests[id].owner = visit.owner;
        kernel.complete(id);
    }
}

/// The timer of a ring's blanking after so many interrupts. The count wraps; a stale timer is at most some thousands behind.
#[allow(clippy::cast_possible_truncation)] // at most 256 rings
fn blanked(ring: usize, interrupts: u32) -> (u16, u16) {
    (ring as u16, interrupts as u16)
}

/// The least cycles of a request for `bytes` of a file: without waiting for a ring, and with interrupts that are full.
#[must_use]
pub fn least_cycles(spec: &ServerSpec, network: &NetworkSpec, bytes: u64, reads: bool) -> f64 {
    let work = to_f64(spec.request_cycles) + spec.byte_cycles * to_f64(bytes);
    let Some(nic) = &spec.nic else { return work };
    let [there, back] = if reads { [0, bytes] } else { [bytes, 0] }.map(|payload| (payload + network.header.0).max(1));
    let received = to_f64(network.frames(there)) + to_f64(network.frames(back)) / to_f64(FRAMES_PER_ACK);
    let all = segments(nic, network, back);
    let posts = (all.count - 1) * post_cycles(nic, all.bytes) + post_cycles(nic, all.last_bytes) + all.count * nic.send_cycles;
    work + to_f64(posts) + received * (to_f64(nic.receive_cycles) + to_f64(nic.interrupt_cycles) / f64::from(nic.blank_frames))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // as in to_f64
fn whole(value: f64) -> u64 {
    libm::round(value) as u64
}

#[cfg(test)]
mod tests;
