//! Devices: what finally reads and writes the bytes.

pub mod check;
pub mod credits;
#[cfg(test)]
mod credits_tests;
pub mod disk;
#[cfg(test)]
mod disk_tests;
#[cfg(test)]
mod durable_tests;
pub mod fluid;
pub mod hdd;
pub mod lun;
pub mod pauses;
pub mod report;
pub mod services;
pub mod shingled;
#[cfg(test)]
mod shingled_tests;
pub mod slc;
#[cfg(test)]
mod slc_tests;
pub mod ssd;
pub mod varying_rate;

use crate::kernel::{Address, Event, Kernel};
use seeklab_kernel::NS_PER_S;
use seeklab_spec::Op;

/// Time to move `bytes` at `rate` bytes per second, in nanoseconds, rounded up.
#[must_use]
#[inline]
pub fn transfer_ns(bytes: u64, rate: u64) -> u64 {
    let rate = rate.max(1);
    if bytes <= u64::MAX / NS_PER_S {
        return (bytes * NS_PER_S).div_ceil(rate); // nearly always, and much faster: WebAssembly has no words of 128 bits
    }
    let ns = (u128::from(bytes) * u128::from(NS_PER_S)).div_ceil(u128::from(rate));
    u64::try_from(ns).unwrap_or(u64::MAX)
}

/// The work of a device, as an operating system counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Requests begun, by direction (reads, writes).
    pub ios: [u64; 2],
    /// Their bytes.
    pub bytes: [u64; 2],
    /// Their times from arrival at the device to completion, in nanoseconds.
    pub response_ns: [u64; 2],
    /// Flushes begun.
    pub flushes: u64,
    /// Trims begun.
    pub trims: u64,
    /// Their bytes.
    pub trimmed_bytes: u64,
    /// Time during which the device worked on at least one request, in nanoseconds.
    pub busy_ns: u64,
}

impl Usage {
    /// Counts a request that takes `response_ns` from arrival to completion; a FLUSH, which moves no bytes, and a TRIM are none of the
    /// writes.
    pub fn count(&mut self, op: Op, bytes: u64, response_ns: u64) {
        if bytes == 0 {
            self.flushes += 1;
            return;
        }
        if op == Op::Trim {
            self.trims += 1;
            self.trimmed_bytes += bytes;
            return;
        }
        self.ios[op as usize] += 1;
        self.bytes[op as usize] += bytes;
        self.response_ns[op as usize] += response_ns;
    }
}

/// A device of the stack.
pub enum Device {
    /// A hard disk drive.
    Disk(Box<disk::Disk>),
    /// A solid-state drive.
    Ssd(ssd::Ssd),
    /// A logical unit.
    Lun(lun::Lun),
}

impl Device {
    /// Handles an event.
    pub fn on(&mut self, kernel: &mut Kernel, event: Event) {
        match self {
            Self::Disk(disk) => disk.on(kernel, event),
            Self::Ssd(ssd) => ssd.on(kernel, event),
            Self::Lun(lun) => lun.on(kernel, event),
        }
    }

    /// Return the work of the device so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        match self {
            Self::Disk(disk) => disk.usage,
            Self::Ssd(ssd) => ssd.usage,
            Self::Lun(lun) => lun.usage,
        }
    }

    /// Return the wear of an SSD with flash translation.
    #[must_use]
    pub fn wear(&self) -> Option<ssd::Wear> {
        match self {
            Self::Ssd(ssd) => ssd.wear(),
            Self::Disk(_) | Self::Lun(_) => None,
        }
    }

    /// The credits of a volume that has them.
    #[must_use]
    pub fn bucket(&self) -> Option<&credits::Bucket> {
        match self {
            Self::Lun(lun) => lun.bucket.as_deref(),
            Self::Disk(_) | Self::Ssd(_) => None,
        }
    }

    /// The SLC cache of a unit that is described by it.
    #[must_use]
    pub fn slc(&self) -> Option<&slc::Cache> {
        match self {
            Self::Lun(lun) => lun.slc.as_deref(),
            Self::Disk(_) | Self::Ssd(_) => None,
        }
    }

    /// The zones of a shingled drive.
    #[must_use]
    pub fn shingled(&self) -> Option<&shingled::Zones> {
        match self {
            Self::Lun(lun) => lun.shingled.as_deref(),
            Self::Disk(_) | Self::Ssd(_) => None,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_takes_as_long_whether_64_bits_hold_its_product_or_not() {
        let most = u64::MAX / NS_PER_S;
        for bytes in [0, 1, 4096, most - 1, most, most + 1, 2 * most] {
            for rate in [1, 3, 117_187_500, u64::MAX] {
                let exact = (u128::from(bytes) * u128::from(NS_PER_S)).div_ceil(u128::from(rate));
                assert_eq!(transfer_ns(bytes, rate), u64::try_from(exact).unwrap_or(u64::MAX), "{bytes} at {rate}");
            }
        }
    }
}
