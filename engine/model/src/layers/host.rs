//! The machine that issues I/O to devices: what a request costs its processors, the link to the devices, and tags.
//!
//! ```text
//! layers above --> tag of the device --> submit on a core --> link (writes) --> device --> link (reads) --> complete on a core
//! ```
//!
//! - **Cores.** Each request takes a core for its submission and for its completion: system call, block layer, driver, interrupt. Requests of
//!   a job that addresses devices directly are submitted and completed by the job's own thread, so a lone job is as fast as one core.
//! - **Link.** All devices share one host adapter or root port: in each direction one request after the other.
//! - **Tags.** A device takes so many requests at a time (32 for SATA). Further ones wait in the host and get tags in order of arrival.
//!
//! Costs are off without `host`. What is answered from memory is in [`crate::shared::Machine`].
//!
//! Left out: scheduling of threads, interrupts for several completions, polling, an I/O scheduler that reorders requests, the order in
//! which several queues get tags, and sleep states of cores.

use std::collections::VecDeque;

use crate::kernel::{Address, Event, Kernel, LayerId, Phase, Request, RequestId};
use crate::layers::Layer;
use crate::layers::device::transfer_ns;
use crate::setup::Setup;
use crate::shared::{Cores, Shared};
use seeklab_kernel::NS_PER_S;
use seeklab_spec::host::HostSpec;
use seeklab_spec::{Op, Scenario};

/// The requests of a device.
#[derive(Default)]
struct Queue {
    in_flight: u32,
    waiting: VecDeque<RequestId>,
}

/// The host layer.
pub struct Host {
    cores: Cores,
    submit_ns: u64,
    complete_ns: u64,
    link_rate: Option<u64>,
    tags: u32,
    /// By worker, where jobs address devices directly.
    threads: Vec<Shared>,
    /// By direction.
    links: [Shared; 2],
    queues: Vec<Queue>,
}

impl Layer for Host {
    type Spec = HostSpec;
    const FIELD: &'static str = "host";
    const LABEL: &'static str = "Host";
    const IS_BETWEEN: bool = false;

    fn spec(scenario: &Scenario) -> Option<&HostSpec> {
        scenario.host.as_ref()
    }

    /// Requests are for the devices, and pass through [`Host::submit`].
    fn is_passed(_: &Scenario) -> bool {
        false
    }

    fn build(spec: &HostSpec, setup: &Setup) -> Option<Self> {
        let is_direct = setup.io_path.iter().all(|layer| matches!(layer, LayerId::Workload | LayerId::Layout | LayerId::Device));
        let ns = |cycles: u64| cycles.saturating_mul(NS_PER_S) / spec.hz.max(1);
        let is_free = spec.submit_cycles == 0 && spec.complete_cycles == 0 && spec.link.is_none() && spec.tags.is_none();
        (!is_free).then(|| Self {
            cores: Cores::new(spec.cores),
            submit_ns: ns(spec.submit_cycles),
            complete_ns: ns(spec.complete_cycles),
            link_rate: spec.link.map(|rate| rate.0),
            tags: spec.tags.unwrap_or(u32::MAX),
            threads: vec![Shared::default(); if is_direct { setup.plan.workers.len() } else { 0 }],
            links: [Shared::default(); 2],
            queues: setup.plan.device_names.iter().map(|_| Queue::default()).collect(),
        })
    }

    fn on(&mut self, kernel: &mut Kernel, device: u16, event: Event) {
        if let Event::Done(child) = event
            && let Some(id) = kernel.join(child)
        {
            self.complete(kernel, device, id);
        }
    }

    fn memory_bytes(&self) -> u64 {
        self.queues.iter().map(|queue| (queue.waiting.capacity() * size_of::<RequestId>()) as u64).sum()
    }
}

impl Host {
    /// Takes a request for a device. Whether it may go on as it is, because it passed before.
    pub fn submit(&mut self, kernel: &mut Kernel, device: u16, id: RequestId) -> bool {
        if kernel.requests[id].owner.layer == LayerId::Host {
            return true;
        }
        let queue = &mut self.queues[usize::from(device)];
        if queue.in_flight >= self.tags {
            queue.waiting.push_back(id);
        } else {
            queue.in_flight += 1;
            self.send(kernel, device, id);
        }
        false
    }

    /// Takes a core; returns the end of that time.
    fn work(&mut self, now_ns: u64, worker: u32, ns: u64) -> u64 {
        let done_ns = self.cores.take(now_ns, ns);
        self.threads.get_mut(worker as usize).map_or(done_ns, |thread| thread.take(now_ns, ns).max(done_ns))
    }

    /// Moves a request's data over the link, if they go this way; returns the end of that time.
    fn cross(&mut self, from_ns: u64, request: &Request, way: Op) -> u64 {
        match self.link_rate.filter(|_| request.op == way) {
            Some(rate) => self.links[usize::from(way == Op::Write)].take(from_ns, transfer_ns(request.bytes, rate)),
            None => from_ns,
        }
    }

    fn send(&mut self, kernel: &mut Kernel, device: u16, id: RequestId) {
        kernel.charge(id, Phase::Queue);
        let request = kernel.requests[id];
        let submitted_ns = self.work(kernel.now_ns(), request.worker, self.submit_ns);
        let sent_ns = self.cross(submitted_ns, &request, Op::Write);
        kernel.requests.charge_until(id, Phase::Cpu, submitted_ns);
        kernel.requests.charge_until(id, Phase::Transfer, sent_ns);
        let child = kernel.open_child(id, Address { layer: LayerId::Host, index: device }, request.place, request.bytes);
        let slot = &mut kernel.requests[child];
        (slot.submitted_ns, slot.charged_ns) = (sent_ns, sent_ns);
        kernel.submit_at(sent_ns, Address { layer: LayerId::Device, index: device }, child);
    }

    fn complete(&mut self, kernel: &mut Kernel, device: u16, id: RequestId) {
        let request = kernel.requests[id];
        let received_ns = self.cross(kernel.now_ns(), &request, Op::Read);
        let done_ns = self.work(received_ns, request.worker, self.complete_ns);
        kernel.requests.charge_until(id, Phase::Transfer, received_ns);
        kernel.requests.charge_until(id, Phase::Cpu, done_ns);
        kernel.complete_when_charged(id);
        let queue = &mut self.queues[usize::from(device)];
        match queue.waiting.pop_front() {
            Some(next) => self.send(kernel, device, next),
            None => queue.in_flight -= 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::{assert_within, metric, run};

    /// Reads of 4 KiB a second from units that take 10 us for each, with jobs and a host.
    fn reads(host: &Value, job: &Value, units: u32) -> (f64, f64) {
        let mut document = json!({
            "jobs": [{"name": "j", "rw": "randread", "bs": "4KiB", "size": "1GiB", "norandommap": true, "time_based": true, "runtime": "20ms", "iodepth": 64}],
            "layout": {"kind": "stripe", "unit": "4KiB"},
            "devices": [{"count": units, "lun": {"rate": "1TB", "latency": "10us", "capacity": "1TB"}}],
            "host": {"hz": 3_000_000_000_u64, "cores": 8, "submit_cycles": 0, "complete_cycles": 0},
            "record": {"log": false},
        });
        let fields = |value: &Value| value.as_object().expect("fields").clone();
        document["host"].as_object_mut().expect("a host").extend(fields(host));
        document["jobs"][0].as_object_mut().expect("a job").extend(fields(job));
        let stack = run(&document);
        (metric(&stack, "j.read_iops"), metric(&stack, "j.read_latency_mean_ms"))
    }

    #[test]
    fn a_job_is_as_fast_as_one_core_and_many_are_as_fast_as_all() {
        let host = json!({"submit_cycles": 3000, "complete_cycles": 3000});
        assert_within(reads(&host, &json!({}), 16).0, 0.5e6, 0.01);
        assert_within(reads(&host, &json!({"numjobs": 4}), 16).0, 2e6, 0.01);
        assert_within(reads(&host, &json!({"numjobs": 32}), 16).0, 4e6, 0.02);
        assert_within(reads(&host, &json!({"iodepth": 1}), 1).1, 0.012, 1e-2);
    }

    #[test]
    fn all_devices_share_the_link() {
        let (iops, _) = reads(&json!({"link": "2GB"}), &json!({"bs": "128KiB"}), 4);
        assert_within(iops * 131_072.0, 2e9, 0.02);
    }

    #[test]
    fn a_device_has_as_many_requests_as_tags() {
        let (iops, mean_ms) = reads(&json!({"tags": 4}), &json!({}), 1);
        let (without, _) = reads(&json!({}), &json!({}), 1);
        assert!(iops <= without && iops <= 4.0 / 10e-6, "{iops} of {without}");
        assert_within(mean_ms, 64e3 / iops, 0.02);
    }
}
