//! Devices: what finally reads and writes the bytes.

pub mod disk;
pub mod hdd;
pub mod lun;
pub mod ssd;

use crate::kernel::{Address, Kernel, NS_PER_S, RequestId, Signal};

/// Time to move `bytes` at `rate` bytes per second, in nanoseconds, rounded up.
#[must_use]
pub fn transfer_ns(bytes: u64, rate: u64) -> u64 {
    let ns = (u128::from(bytes) * u128::from(NS_PER_S)).div_ceil(u128::from(rate.max(1)));
    u64::try_from(ns).unwrap_or(u64::MAX)
}

/// What a device has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Requests completed or in service.
    pub ios: u64,
    /// Bytes of reads.
    pub read_bytes: u64,
    /// Bytes of writes.
    pub write_bytes: u64,
    /// Reads.
    pub reads: u64,
    /// Time during which the device worked on at least one request, in nanoseconds.
    pub busy_ns: u64,
    /// Sum over requests of the time from arrival at the device to completion, in nanoseconds.
    pub response_ns: u64,
}

impl Usage {
    /// Counts a request that arrives at `arrived_ns` and completes at `done_ns`.
    pub fn count(&mut self, request: &crate::kernel::Request, done_ns: u64, arrived_ns: u64) {
        self.ios += 1;
        if request.op == crate::kernel::Op::Read {
            self.reads += 1;
            self.read_bytes += request.bytes;
        } else {
            self.write_bytes += request.bytes;
        }
        self.response_ns += done_ns - arrived_ns;
    }
}

/// A device of the stack.
pub enum Device {
    /// A hard disk drive.
    Disk(Box<disk::Disk>),
    /// A solid-state drive.
    Ssd(ssd::Ssd),
    /// A logical unit with a fixed rate.
    Lun(lun::Lun),
}

impl Device {
    /// Handles a signal to the device.
    pub fn handle(&mut self, kernel: &mut Kernel, signal: Signal, id: u32) {
        let request = RequestId(id);
        match self {
            Self::Disk(disk) => disk.handle(kernel, signal, request),
            Self::Ssd(ssd) => ssd.handle(kernel, signal, request),
            Self::Lun(lun) => lun.submit(kernel, request),
        }
    }

    /// What the device has done so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        match self {
            Self::Disk(disk) => disk.usage,
            Self::Ssd(ssd) => ssd.usage,
            Self::Lun(lun) => lun.usage,
        }
    }

    /// Gives the device its place in the stack.
    #[must_use]
    pub fn at(mut self, here: Address) -> Self {
        match &mut self {
            Self::Disk(disk) => disk.here = here,
            Self::Ssd(ssd) => ssd.here = here,
            Self::Lun(lun) => lun.here = here,
        }
        self
    }
}
