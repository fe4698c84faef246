//! The write cache of a RAID controller, and the battery that lets it acknowledge early.
//!
//! ```text
//! write --> policy --- write-back ---> memory: acknowledged after its time on the bus and `ack`, if there is room
//!             |                          | destaged in order of address, `depth` at a time
//!             '------ write-through -----+---> layout and devices: acknowledged when they have it
//! ```
//!
//! - Write-back: a write is acknowledged once it is in memory. Without room it waits until something is destaged. FLUSH costs nothing:
//!   the battery keeps what is in memory. A read of what is in memory is answered from there. Data to and from memory cross the bus to the
//!   host, one request after the other.
//! - Destaging begins when something has been dirty for `destage_after`, when the cache is half full, and at once in write-through. What
//!   is written again while it is in progress is destaged again, afterwards.
//! - Write-through: a write goes to the layers below. What they acknowledge is on the devices, so that a FLUSH goes only to devices
//!   that would lose data themselves.
//! - The battery (`battery`) decides between the two, by learn cycles. While the controller takes writes that the battery would not
//!   keep, they are held as unsafe ([`Holder::Controller`]).
//!
//! Sources: "Dell DRAC BBU auto-learn tests kill disk performance", yo61.com (log of a PERC 6/i: a lead of 65 s, 7110 s of discharge,
//! write-through from 5182 s on); Peter Zaitsev, "RAID System performance surprises", Percona, 2008 (a cycle about every three months).
//! Assumed: charge falls and rises linearly, and rises in 4 h; write-back returns with the end of the cycle, of which the stored copy of
//! the log has no line; 4 s until destaging, 256 KiB in a request.
//!
//! Left out: the bus for what passes the cache by, whose devices are slower, a read cache, patrol reads, batteries that age, the time to switch the policy, and the wait of a write for an older one of
//! the same blocks that is being written to the devices.

mod battery;
mod check;
mod dirty;
mod report;
mod servers;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use crate::kernel::{Address, Durable, Event, Holder, Kernel, LayerId, Phase, Request, RequestId, Timer as _};
use crate::layers::device::transfer_ns;
use crate::layers::{Layer, ReportContext};
use crate::result::columns::Tables;
use crate::result::metrics::Metrics;
use crate::setup::Setup;
use crate::shared::Shared;
use crate::timers;
use battery::Battery;
use dirty::Dirty;
use report::{Counts, Rows};
use seeklab_kernel::Stream;
use seeklab_spec::raid_cache::{RaidCacheSpec as Spec, WritePolicy};
use seeklab_spec::{DeviceGroup, Op, Path, Problems, Scenario};

const HERE: Address = Address::of(LayerId::RaidCache);

/// The most that one request destages.
const DESTAGED_BYTES: u64 = 256 << 10;

timers! {
    enum Timer {
        /// Look at the dirty data.
        Look,
    }
}

/// The controller's cache.
pub struct RaidCache {
    size: u64,
    ack_ns: u64,
    bus_rate: u64,
    bus: Shared,
    depth: usize,
    destage_after_ns: u64,
    policy: WritePolicy,
    battery: Option<Battery>,
    /// The share of the time in which one server is in write-through, and in which at least one of all is.
    servers: Option<(f64, f64)>,
    below: Address,
    /// Whether the devices lose what they have acknowledged when the power fails.
    is_volatile_below: bool,
    dirty: Dirty,
    /// Since when something is dirty.
    dirty_ns: u64,
    /// Ranges in flight to the devices, their bytes, and where the last one ended.
    busy: Vec<(u64, u64)>,
    busy_bytes: u64,
    arm: u64,
    is_destaging: bool,
    /// Writes that wait for room.
    waiting: VecDeque<RequestId>,
    /// When the timer is set for; never when it is not.
    look_ns: u64,
    /// Bytes that are held as unsafe.
    held: u64,
    counts: Counts,
    rows: Rows,
}

impl Layer for RaidCache {
    type Spec = Spec;
    const FIELD: &'static str = "raid_cache";
    const LABEL: &'static str = "Controller cache";

    fn spec(scenario: &Scenario) -> Option<&Spec> {
        scenario.raid_cache.as_ref()
    }

    fn check(spec: &Spec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
        check::check(spec, scenario, at, problems);
    }

    fn build(spec: &Spec, setup: &Setup) -> Option<Self> {
        let is_volatile = setup.scenario.devices.iter().any(DeviceGroup::is_volatile);
        Some(Self::new(spec, setup.below(LayerId::RaidCache), is_volatile, setup.interval_ns(), setup.seed))
    }

    fn on(&mut self, kernel: &mut Kernel, _: u16, event: Event) {
        match event {
            Event::Submit(id) => self.submit(kernel, id),
            Event::Done(id) => self.destaged(kernel, id),
            Event::Timer(timer) => {
                let Timer::Look = Timer::unpack(timer);
                if kernel.now_ns() >= self.look_ns {
                    self.look_ns = u64::MAX;
                }
            }
        }
        self.go_on(kernel);
    }

    fn memory_bytes(&self) -> u64 {
        self.dirty.memory_bytes() + self.rows.memory_bytes()
    }

    fn metrics(&self, _: &ReportContext, metrics: &mut Metrics) {
        self.report(metrics);
    }

    fn tables(cache: Option<&Self>, now: &ReportContext, tables: &mut Tables) {
        Self::report_tables(cache, now.now_ns, tables);
    }
}

impl RaidCache {
    /// The cache of a scenario, over the layer `below`, which ends in devices that are volatile or not.
    #[must_use]
    pub fn new(spec: &Spec, below: Address, is_volatile_below: bool, interval_ns: u64, seed: u64) -> Self {
        let battery = spec.battery.as_ref().map(Battery::new);
        let servers = spec.battery.as_ref().zip(battery.as_ref()).and_then(|(spec, battery)| {
            let (window_ns, every_ns) = (battery.write_through_ns(), spec.learn_every.0);
            let mut starts = Stream::new(seed, "raid_cache.starts");
            let each = seeklab_spec::to_f64(window_ns) / seeklab_spec::to_f64(every_ns);
            spec.servers.map(|servers| (each, servers::share_with_any(&servers, window_ns, every_ns, &mut starts)))
        });
        Self {
            size: spec.size.0,
            ack_ns: spec.ack.0,
            bus_rate: spec.bus.0,
            bus: Shared::default(),
            depth: spec.depth as usize,
            destage_after_ns: spec.destage_after.0,
            policy: spec.policy,
            battery,
            servers,
            below,
            is_volatile_below,
            dirty: Dirty::default(),
            dirty_ns: 0,
            busy: Vec::new(),
            busy_bytes: 0,
            arm: 0,
            is_destaging: false,
            waiting: VecDeque::new(),
            look_ns: u64::MAX,
            held: 0,
            counts: Counts::default(),
            rows: Rows::new(interval_ns),
        }
    }

    /// Whether writes are acknowledged by the devices.
    fn is_write_through(&self, now_ns: u64) -> bool {
        match self.policy {
            WritePolicy::WriteBack => self.battery.as_ref().is_some_and(|battery| battery.is_write_through(now_ns)),
            WritePolicy::ForcedWriteBack => false,
            WritePolicy::WriteThrough => true,
        }
    }

    /// Bytes in memory: those to be written out, and those in flight.
    fn used(&self) -> u64 {
        self.dirty.bytes() + self.busy_bytes
    }

    fn submit(&mut self, kernel: &mut Kernel, id: RequestId) {
        let Request { op, offset, bytes, .. } = kernel.requests[id];
        match op {
            Op::Read if bytes > 0 && self.dirty.covers(offset, offset + bytes) => {
                self.counts.read += bytes;
                self.answer(kernel, id);
            }
            Op::Read => kernel.submit(self.below, id),
            Op::Trim => {
                self.dirty.remove(offset, offset + bytes);
                kernel.submit(self.below, id);
            }
            Op::Write if self.is_write_through(kernel.now_ns()) || bytes > self.size => self.write_through(kernel, id),
            Op::Write if bytes == 0 => kernel.complete(id),
            Op::Write if self.waiting.is_empty() && self.used() + bytes <= self.size => self.write_back(kernel, id),
            Op::Write => {
                self.counts.waits += 1;
                self.waiting.push_back(id);
            }
        }
    }

    /// Answers a request from memory.
    fn answer(&mut self, kernel: &mut Kernel, id: RequestId) {
        let crossed_ns = self.bus.take(kernel.now_ns(), transfer_ns(kernel.requests[id].bytes, self.bus_rate));
        let until_ns = crossed_ns.saturating_add(self.ack_ns);
        kernel.requests.charge_until(id, Phase::Memory, until_ns);
        kernel.complete_when_charged(id);
    }

    /// Takes a write into memory.
    fn write_back(&mut self, kernel: &mut Kernel, id: RequestId) {
        let now_ns = kernel.now_ns();
        let Request { offset, bytes, .. } = kernel.requests[id];
        if self.dirty.bytes() == 0 {
            self.dirty_ns = now_ns;
        }
        self.dirty.add(offset, offset + bytes);
        self.counts.cached += bytes;
        self.rows.at(now_ns).cached += bytes;
        self.answer(kernel, id);
    }

    /// Hands a write to the layers below.
    fn write_through(&mut self, kernel: &mut Kernel, id: RequestId) {
        let Request { offset, bytes, durable, .. } = kernel.requests[id];
        if !self.is_volatile_below && durable == Durable::All {
            // What was acknowledged before is on the devices already.
            if bytes == 0 {
                return kernel.complete(id);
            }
            kernel.requests[id].durable = Durable::Itself;
        }
        self.dirty.remove(offset, offset + bytes);
        self.counts.through += bytes;
        self.rows.at(kernel.now_ns()).through += bytes;
        kernel.submit(self.below, id);
    }

    /// A range has reached the devices.
    fn destaged(&mut self, kernel: &mut Kernel, id: RequestId) {
        let Request { offset, bytes, .. } = kernel.requests[id];
        kernel.requests.remove(id);
        if let Some(place) = self.busy.iter().position(|range| *range == (offset, offset + bytes)) {
            self.busy.swap_remove(place);
            self.busy_bytes -= bytes;
        }
        self.counts.destaged += bytes;
    }

    /// Lets waiting writes in, destages what is due, and holds as unsafe what is.
    fn go_on(&mut self, kernel: &mut Kernel) {
        let now_ns = kernel.now_ns();
        let through = self.is_write_through(now_ns);
        while let Some(id) = self.waiting.front().copied() {
            if !through && self.used() + kernel.requests[id].bytes > self.size {
                break;
            }
            self.waiting.pop_front();
            kernel.charge(id, Phase::Queue);
            if through { self.write_through(kernel, id) } else { self.write_back(kernel, id) }
        }
        let due_ns = self.dirty_ns.saturating_add(self.destage_after_ns);
        let is_due = through || !self.waiting.is_empty() || now_ns >= due_ns || self.used() > self.size / 2;
        self.is_destaging |= is_due;
        while self.is_destaging && self.busy.len() < self.depth {
            let Some((start, end)) = self.dirty.next(self.arm, DESTAGED_BYTES, &self.busy) else { break };
            self.dirty.remove(start, end);
            self.busy.push((start, end));
            self.busy_bytes += end - start;
            self.arm = end;
            let id = kernel.open(Request { op: Op::Write, offset: start, bytes: end - start, owner: HERE, ..Request::default() });
            kernel.submit(self.below, id);
        }
        self.is_destaging &= self.dirty.bytes() > 0;
        if self.dirty.bytes() > 0 && !self.is_destaging {
            let change_ns = self.battery.as_ref().map_or(u64::MAX, |battery| battery.next_change_ns(now_ns));
            self.look(kernel, due_ns.min(change_ns));
        }
        let used = self.used();
        self.counts.most = self.counts.most.max(used);
        self.rows.at(now_ns).dirty = used;
        let is_unsafe = !through && self.battery.as_ref().is_some_and(|battery| battery.is_weak(now_ns));
        self.hold(kernel, if is_unsafe { used } else { 0 });
    }

    /// Looks again at `at_ns`, unless it does so sooner.
    fn look(&mut self, kernel: &mut Kernel, at_ns: u64) {
        if at_ns < self.look_ns {
            self.look_ns = at_ns;
            kernel.wake_at(at_ns, HERE, Timer::Look);
        }
    }

    /// Holds so many bytes as unsafe.
    fn hold(&mut self, kernel: &mut Kernel, bytes: u64) {
        if bytes > self.held {
            kernel.hold(Holder::Controller, bytes - self.held);
        } else if bytes < self.held {
            kernel.release(Holder::Controller, self.held - bytes);
        }
        self.held = bytes;
    }
}
