//! A solid-state drive: flash dies on channels behind one interface.
//!
//! Two models of the same drive:
//! - `no_ftl`: without [`spec::Flash`] a drive has no past and no future: reads and programs take their turns on the units,
//!   times of the units follow in closed form, a request costs two events;
//! - `drive`: with it, dies, channels and interface are servers with events of their own, and the dies collect garbage between
//!   the host's requests.
//!
//! Parts of the second:
//! - `die`: what a die does, and how programs and erases are suspended for reads;
//! - `cells`: how long a page takes to read, and `drive::register`: when it need not be sensed again;
//! - `channel`: who moves pages first; `gather`: pages that wait to fill a program;
//! - `slc`: a cache of cells that hold one bit;
//! - `ftl`: the map of pages, valid counts, victims, erases; no time;
//! - `precondition`: what the drive holds at the start, built in bulk;
//! - [`closed_form`]: the write amplification that uniform random writes must have; it places the preconditioned pages, and the
//!   tests hold the translation layer against it.
//!
//! A drive of terabytes is simulated by a part of it, `mapped`, with the same dies and the same over-provisioning: write
//! amplification depends on the ratio of physical to logical pages, not on their number, once a die has some tens of blocks.
//! Addresses beyond the part fold back onto it. What that changes: a hot region larger than the part, and how long a drive takes
//! to fill.

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "pages of a drive are checked to fit 32 bits, with one number to spare; shares of them are between 0 and their number"
)]

mod cells;
mod channel;
pub mod closed_form;
mod die;
mod drive;
mod ftl;
mod gather;
mod no_ftl;
mod parts;
mod precondition;
mod slc;
#[cfg(test)]
mod tests;

pub use ftl::Wear;

use super::Usage;
use crate::kernel::{Address, Event, Kernel, LayerId};
use seeklab_kernel::Stream;
use seeklab_spec::{self as spec, AddProblem, Bytes, Gather, Nanos, Path, Problems};

/// Fewest simulated blocks of logical pages that a die may have: with fewer a block is too large a part of its die for
/// over-provisioning to mean anything.
const MIN_BLOCKS: u64 = 8;

/// Fewest blocks of over-provisioning that a die may have, so that there always is a block with a stale page to collect.
const MIN_SPARE_BLOCKS: f64 = 2.0;

enum Model {
    NoFtl(Box<no_ftl::NoFtl>),
    Flash(Box<drive::Drive>),
}

/// A solid-state drive.
pub struct Ssd {
    model: Model,
    /// Its place in the stack.
    pub here: Address,
    /// Its work so far.
    pub usage: Usage,
}

impl Ssd {
    /// The drive that a checked scenario describes; `seed` and `name` draw its preconditioning and its stalls.
    #[must_use]
    pub fn new(spec: &spec::Ssd, seed: u64, name: &str) -> Self {
        // A checked scenario has a shape: see `check`.
        let flash = spec.flash.as_ref().and_then(|flash| Some((flash, ftl::Shape::of(spec, flash).ok()?)));
        let model = match flash {
            Some((flash, shape)) => {
                let streams = [Stream::new(seed, name), Stream::new(seed, &format!("{name}.stalls"))];
                Model::Flash(Box::new(drive::Drive::new(spec, flash, shape, streams)))
            }
            None => Model::NoFtl(Box::new(no_ftl::NoFtl::new(spec))),
        };
        Self { model, here: Address::of(LayerId::Device), usage: Usage::default() }
    }

    /// Handles an event of the drive.
    pub fn on(&mut self, kernel: &mut Kernel, event: Event) {
        match &mut self.model {
            Model::NoFtl(drive) => drive.on(kernel, self.here, &mut self.usage, event),
            Model::Flash(drive) => drive.on(kernel, self.here, &mut self.usage, event),
        }
    }

    /// Return the wear of its flash; None for a drive without flash translation.
    #[must_use]
    pub fn wear(&self) -> Option<Wear> {
        match &self.model {
            Model::NoFtl(_) => None,
            Model::Flash(drive) => Some(drive.wear()),
        }
    }

    /// Bytes of memory that the drive holds, or will when it is first written.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        match &self.model {
            Model::NoFtl(_) => 0,
            Model::Flash(drive) => drive.memory_bytes(),
        }
    }
}

/// Bytes of the part of a drive that is simulated; all of it without flash translation.
#[must_use]
pub fn simulated_bytes(spec: &spec::Ssd) -> u64 {
    let shape = spec.flash.as_ref().and_then(|flash| ftl::Shape::of(spec, flash).ok());
    shape.map_or(spec.capacity.0, |shape| shape.logical_pages() * spec.page.0)
}

/// Bytes of memory that a drive's translation layer needs; 0 without one.
#[must_use]
pub fn memory_bytes(spec: &spec::Ssd) -> u64 {
    let Some((flash, shape)) = spec.flash.as_ref().and_then(|flash| Some((flash, ftl::Shape::of(spec, flash).ok()?))) else { return 0 };
    let gathered = if flash.gather == Gather::Full { gather::Gathering::memory_bytes(shape.logical_pages()) } else { 0 };
    let cached = flash.slc_cache.as_ref().map_or(0, |_| slc::Cache::memory_bytes_of(spec, flash, shape.dies));
    shape.memory_bytes() + gathered + cached
}

/// Adds what contradicts itself in the drive at `at`, whose fields are each in their range.
pub fn check(spec: &spec::Ssd, at: &Path, problems: &mut Problems) {
    if spec.write_buffer.0 > spec.capacity.0 {
        problems.add(at.field("write_buffer"), format!("{} is more than the capacity of {}", spec.write_buffer, spec.capacity));
    }
    let Some(flash) = &spec.flash else { return };
    let at = at.field("flash");
    check_operations(spec, flash, &at, problems);
    if let (Some(cache), Ok(shape)) = (&flash.slc_cache, ftl::Shape::of(spec, flash)) {
        check_cache(spec, flash, cache, shape, &at.field("slc_cache"), problems);
    }
    if !spec.units.is_multiple_of(flash.channels) {
        problems.add(
            at.field("channels"),
            format!("{} units do not spread evenly over {} channels; write a divisor of {0}", spec.units, flash.channels),
        );
    }
    let block = u64::from(flash.pages_per_block) * spec.page.0;
    let least = MIN_BLOCKS * block * u64::from(spec.units);
    if let Some(mapped) = flash.mapped.filter(|mapped| mapped.0 > spec.capacity.0) {
        problems.add(at.field("mapped"), format!("{mapped} is more than the capacity of {}", spec.capacity));
    } else if spec.capacity.0 < least {
        problems.add(
            at.field("pages_per_block"),
            format!(
                "makes blocks of {}, and {MIN_BLOCKS} of them for each of {} units need {}; the capacity is {}. Write fewer pages or units",
                Bytes(block),
                spec.units,
                Bytes(least),
                spec.capacity
            ),
        );
    } else if let Some(mapped) = flash.mapped.filter(|mapped| mapped.0 < least) {
        problems.add(
            at.field("mapped"),
            format!(
                "{mapped} is less than {MIN_BLOCKS} blocks of {} for each of {} units; write at least {}",
                Bytes(block),
                spec.units,
                Bytes(least)
            ),
        );
    } else {
        match ftl::Shape::of(spec, flash) {
            Err(pages) => {
                problems.add(at.field("mapped"), format!("gives the drive {pages} flash pages; write less, so that there are fewer than {}", ftl::NONE));
            }
            Ok(shape) if shape.spare_blocks() < MIN_SPARE_BLOCKS => problems.add(at.field("overprovision"),
                format!(
                    "{}% of the {} simulated blocks of a die are {:.1} spare blocks, fewer than {MIN_SPARE_BLOCKS}; write more, or a larger mapped",
                    flash.overprovision,
                    shape.logical.div_ceil(shape.pages),
                    shape.spare_blocks()
                ),
            ),
            Ok(_) => {}
        }
    }
}

/// Check an SLC cache for contradictions.
fn check_cache(spec: &spec::Ssd, flash: &spec::Flash, cache: &spec::SlcCache, shape: ftl::Shape, at: &Path, problems: &mut Problems) {
    let bits = cache.bits;
    if !flash.planes.is_multiple_of(bits) {
        let message = format!("a program of {} pages does not divide into {bits} of the cache; write planes or bits that do", flash.planes);
        problems.add(at.field("bits"), message);
    }
    for (name, found, whole) in [("read", cache.read, spec.read), ("program", cache.program, spec.program)] {
        if found > whole {
            let message = format!("{found} is longer than the {whole} of cells with {bits} bits; write less");
            problems.add(at.field(name), message);
        }
    }
    let taken = cache.dynamic.0.saturating_mul(u64::from(bits));
    if taken > spec.capacity.0 {
        let message =
            format!("takes {} of flash with one bit in a cell, more than the capacity of {}; write less", Bytes(taken), spec.capacity);
        problems.add(at.field("dynamic"), message);
    }
    if cache.fixed > spec.capacity {
        problems.add(at.field("fixed"), format!("{} is more than the capacity of {}", cache.fixed, spec.capacity));
    }
    let block = flash.pages_per_block / bits;
    let [fixed, dynamic] = slc::pages(spec, cache, shape.dies);
    if fixed + dynamic < block {
        let message = format!("leaves each die {} pages, fewer than the {block} of a block; write more", fixed + dynamic);
        problems.add(at.field("fixed"), message);
    }
}

/// Check reads, programs and erases for contradictions.
fn check_operations(spec: &spec::Ssd, flash: &spec::Flash, at: &Path, problems: &mut Problems) {
    if let Some(spec::Suspend { program, erase }) = &flash.suspend {
        let at = at.field("suspend");
        for (name, kind, cost_ns, whole) in [
            ("program", "a program", program.suspend.0 + program.resume.0, spec.program),
            ("erase", "an erase", erase.suspend.0 + erase.resume.0, flash.erase),
        ] {
            if cost_ns >= whole.0 {
                problems.add(
                    at.field(name),
                    format!("suspending and resuming take {}, and {kind} takes {whole}; write less, or leave suspend out", Nanos(cost_ns)),
                );
            }
        }
    }
    let mean = flash.read_factors.iter().sum::<f64>() / flash.read_factors.len().max(1) as f64;
    if !flash.read_factors.is_empty() && (mean - 1.0).abs() > 0.01 {
        problems.add(
            at.field("read_factors"),
            format!("have a mean of {mean:.3}; `read` is the mean of all pages, so write factors with a mean of 1"),
        );
    }
    if flash.stripe > flash.pages_per_block {
        problems.add(at.field("stripe"), format!("{} pages are more than the {} of a block", flash.stripe, flash.pages_per_block));
    }
    let programs = u64::from(spec.units) * u64::from(flash.planes) * spec.page.0;
    if flash.gather == Gather::Full && spec.write_buffer.0 < programs {
        problems.add(
            at.field("gather"),
            format!(
                "\"full\" gathers a program of {} for each of {} units, which is {}; the write buffer has {}. Write a larger buffer, or \"now\"",
                Bytes(u64::from(flash.planes) * spec.page.0),
                spec.units,
                Bytes(programs),
                spec.write_buffer
            ),
        );
    }
}
