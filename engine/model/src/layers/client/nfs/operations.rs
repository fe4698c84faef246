//! Operations in flight: who does them, what they cost, who waits for them.

use super::{Client, HERE, file_of, work_ns};
use crate::cpu::Task;
use crate::kernel::{Durable, Holder, Kernel, Phase, Request, RequestId, Wire};
use seeklab_kernel::Slab;
use seeklab_spec::Op;
use seeklab_spec::nfs::Call;

/// An operation, or several on a name one after the other.
#[derive(Default)]
pub struct Operation {
    /// The process that it is done for.
    pub worker: u32,
    /// First byte.
    pub start: u64,
    /// Length.
    pub bytes: u64,
    /// Direction.
    pub op: Op,
    /// How durable a write is to be.
    pub durable: Durable,
    /// Whether it is about a name: no data on the wire.
    pub is_meta: bool,
    /// Whether an async thread does it.
    pub is_async: bool,
    /// Operations that follow it.
    pub left: u32,
    /// Calls that wait for it.
    pub waiters: Vec<RequestId>,
}

impl Operation {
    /// The last operation of a call on a name.
    #[must_use]
    pub fn of(call: &Request) -> Self {
        Self { worker: call.worker, start: call.offset, bytes: call.bytes, op: call.op, is_meta: true, ..Self::default() }
    }
}

/// Operations by number.
#[derive(Default)]
pub struct Operations(Slab<Operation>);

impl Operations {
    /// Adds an operation. O(1).
    pub fn add(&mut self, mut operation: Operation) -> u32 {
        let place = self.0.claim(Operation::default);
        operation.waiters = std::mem::take(&mut self.0[place].waiters); // keeps its memory
        self.0[place] = operation;
        place
    }

    /// Lets the number of an operation be used again.
    pub fn release(&mut self, place: u32) {
        self.0.release(place);
    }

    /// An operation by its number.
    pub fn at(&mut self, place: u32) -> &mut Operation {
        &mut self.0[place]
    }
}

impl Client {
    /// Does an operation that `call` waits for at once, by the calling process.
    pub(super) fn now(&mut self, kernel: &mut Kernel, call: RequestId, operation: Operation) -> u32 {
        let place = self.operations.add(operation);
        self.wait(kernel, call, place);
        self.start(kernel, place);
        place
    }

    /// Gives an operation to the async threads of a process's machine.
    pub(super) fn later(&mut self, kernel: &mut Kernel, operation: Operation) -> u32 {
        let on = self.processes[operation.worker as usize].machine;
        let place = self.operations.add(Operation { is_async: true, ..operation });
        let machine = &mut self.machines[on];
        if machine.idle_threads == 0 {
            machine.queue.push_back(place);
        } else {
            machine.idle_threads -= 1;
            self.start(kernel, place);
        }
        place
    }

    /// Lets a call wait for an operation.
    pub(super) fn wait(&mut self, kernel: &mut Kernel, call: RequestId, place: u32) {
        self.operations.at(place).waiters.push(call);
        kernel.requests[call].pending += 1;
    }

    fn start(&mut self, kernel: &mut Kernel, place: u32) {
        let Operation { worker, start, bytes, op, durable, is_meta, left, .. } = *self.operations.at(place);
        let process = &self.processes[worker as usize];
        let wire = match (is_meta, process.call.commits() && left == 0) {
            (false, _) => Wire::Exchange,
            (true, true) => Wire::Ask,
            (true, false) => Wire::Look,
        };
        let durable = if wire == Wire::Ask { Durable::Itself } else { durable };
        let id = kernel.open(Request { offset: start, bytes, op, durable, wire, worker, owner: HERE, tag: place, ..Request::default() });
        if op == Op::Write && !is_meta { self.protocol(kernel, id) } else { kernel.submit(self.below, id) }
    }

    /// Lets a protocol thread work on the data of an operation.
    fn protocol(&mut self, kernel: &mut Kernel, id: RequestId) {
        let Request { worker, bytes, .. } = kernel.requests[id];
        let ns = work_ns(self.spec.per_operation.0, bytes, self.spec.per_wire_byte, self.spec.cpu_speed);
        let machine = &mut self.machines[self.processes[worker as usize].machine];
        machine.cpu.submit(kernel, machine.protocol, Task { request: id, ns, phase: Phase::Cpu, section: None, interrupts_ns: 0 });
    }

    /// The server's answer has come.
    pub(super) fn answered(&mut self, kernel: &mut Kernel, id: RequestId) {
        let place = kernel.requests[id].tag;
        let operation = self.operations.at(place);
        if operation.left > 0 {
            operation.left -= 1;
            for call in &operation.waiters {
                kernel.requests.inherit(*call, id);
            }
            kernel.requests.remove(id);
            return self.start(kernel, place);
        }
        if operation.op == Op::Read && !operation.is_meta {
            return self.protocol(kernel, id);
        }
        self.finished(kernel, id);
    }

    /// An operation is done.
    pub(super) fn finished(&mut self, kernel: &mut Kernel, id: RequestId) {
        let place = kernel.requests[id].tag;
        let Operation { worker, start, bytes, op, is_meta, is_async, .. } = *self.operations.at(place);
        let process = &mut self.processes[worker as usize];
        let on = process.machine;
        let machine = &mut self.machines[on];
        match op {
            _ if is_meta => {
                let file = file_of(&kernel.requests[id]);
                if process.call == Call::Delete { machine.attributes.forget(file) } else { machine.attributes.keep(file, kernel.now_ns()) }
            }
            Op::Read => machine.pages.arrive(start / self.spec.transfer.0, place),
            Op::Write | Op::Trim => {
                machine.dirty_bytes -= bytes;
                process.outstanding -= u32::from(is_async);
            }
        }
        let mut waiters = std::mem::take(&mut self.operations.at(place).waiters);
        self.operations.release(place);
        for call in waiters.drain(..) {
            let device = kernel.requests[id].device;
            let request = &mut kernel.requests[call];
            request.pending -= 1;
            if request.pending == 0 {
                request.device = device;
                let is_data_read = request.op == Op::Read && !is_meta;
                kernel.requests.inherit(call, id);
                if is_data_read { self.compute(kernel, call) } else { kernel.complete(call) }
            }
        }
        self.operations.at(place).waiters = waiters;
        kernel.requests.remove(id);
        if is_async {
            let machine = &mut self.machines[on];
            match machine.queue.pop_front() {
                Some(next) => self.start(kernel, next),
                None => machine.idle_threads += 1,
            }
        }
        if op == Op::Write && !is_meta {
            if is_async {
                kernel.release(Holder::Client, bytes);
            }
            self.written(kernel, worker);
        }
    }
}
