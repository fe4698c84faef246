//! Where an address lives: striping and concatenation over several devices.
//!
//! A request is cut into one contiguous piece for each device that it touches (with striping, the units of a contiguous range
//! that fall on one device are neighbours there). It completes when its last piece does and inherits that piece's phases.

use crate::kernel::{Address, Kernel, Layer, RequestId, Signal};
use crate::scenario::LayoutKind;

/// One device's contiguous piece of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Device.
    pub device: u16,
    /// Start on the device, in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
}

/// The layout layer.
pub struct Layout {
    kind: LayoutKind,
    unit: u64,
    /// Usable bytes of each device.
    capacities: Vec<u64>,
    pieces: Vec<Piece>,
}

const HERE: Address = Address::of(Layer::Layout);

impl Layout {
    /// A layout over devices with these capacities in bytes.
    #[must_use]
    pub fn new(kind: LayoutKind, unit: u64, capacities: Vec<u64>) -> Self {
        Self { kind, unit, capacities, pieces: Vec::new() }
    }

    /// The size of the address space, in bytes. A stripe uses as much of each device as the smallest one has.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        match self.kind {
            LayoutKind::Concat => self.capacities.iter().sum(),
            LayoutKind::Stripe => {
                let smallest = self.capacities.iter().copied().min().unwrap_or(0);
                if self.capacities.len() == 1 { smallest } else { smallest / self.unit * self.unit * self.capacities.len() as u64 }
            }
        }
    }

    /// Handles a signal to this layer.
    pub fn handle(&mut self, kernel: &mut Kernel, signal: Signal, id: u32) {
        let request = RequestId(id);
        match signal {
            Signal::Submit => self.submit(kernel, request),
            Signal::Done => {
                if let Some(whole) = kernel.join(request) {
                    kernel.complete(whole);
                }
            }
            Signal::Timer => {}
        }
    }

    fn submit(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        let mut pieces = std::mem::take(&mut self.pieces);
        self.map(request.offset, request.bytes, &mut pieces);
        if let [only] = pieces[..] {
            kernel.requests[id].place = only.offset;
            kernel.send(Address { layer: Layer::Device, index: only.device }, Signal::Submit, id.0);
        } else {
            for piece in &pieces {
                let child = kernel.open_child(id, HERE, piece.offset, piece.bytes); // its place is its offset
                kernel.send(Address { layer: Layer::Device, index: piece.device }, Signal::Submit, child.0);
            }
        }
        self.pieces = pieces;
    }

    /// Cuts a range of the address space into pieces, in the order of their first byte.
    #[allow(clippy::cast_possible_truncation)] // at most 65,535 devices
    pub fn map(&self, offset: u64, bytes: u64, pieces: &mut Vec<Piece>) {
        pieces.clear();
        let count = self.capacities.len() as u64;
        if count == 1 {
            return pieces.push(Piece { device: 0, offset, bytes });
        }
        match self.kind {
            LayoutKind::Stripe => {
                let (first, last) = (offset / self.unit, (offset + bytes - 1) / self.unit);
                for unit in first..=last.min(first + count - 1) {
                    let units_here = (last - unit) / count + 1;
                    let skipped = if unit == first { offset % self.unit } else { 0 };
                    let ends_here = unit + (units_here - 1) * count == last;
                    let spare = if ends_here { (last + 1) * self.unit - (offset + bytes) } else { 0 };
                    pieces.push(Piece {
                        device: (unit % count) as u16,
                        offset: unit / count * self.unit + skipped,
                        bytes: units_here * self.unit - skipped - spare,
                    });
                }
            }
            LayoutKind::Concat => {
                let (mut start, end, mut base) = (offset, offset + bytes, 0);
                for (device, capacity) in self.capacities.iter().enumerate() {
                    let limit = base + capacity;
                    if start < limit && start < end {
                        let stop = end.min(limit);
                        pieces.push(Piece { device: device as u16, offset: start - base, bytes: stop - start });
                        start = stop;
                    }
                    base = limit;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pieces(layout: &Layout, offset: u64, bytes: u64) -> Vec<Piece> {
        let mut pieces = Vec::new();
        layout.map(offset, bytes, &mut pieces);
        pieces
    }

    #[test]
    fn a_tail_of_eight_units_touches_eight_disks() {
        let layout = Layout::new(LayoutKind::Stripe, 32 << 10, vec![1 << 30; 16]);
        let tail = pieces(&layout, 8 << 20, 256 << 10);
        assert_eq!(tail.len(), 8);
        assert!(tail.iter().all(|piece| piece.bytes == 32 << 10));
    }

    #[test]
    fn a_long_range_is_one_contiguous_piece_on_each_disk() {
        let layout = Layout::new(LayoutKind::Stripe, 32 << 10, vec![1 << 30; 16]);
        let all = pieces(&layout, 0, 8 << 20);
        assert_eq!(all.len(), 16);
        assert!(all.iter().all(|piece| piece.bytes == 512 << 10 && piece.offset == 0));
    }

    proptest! {
        #[test]
        fn every_byte_has_exactly_one_place(offset in 0u64..5_000, bytes in 1u64..3_000, devices in 1usize..6, unit in 1u64..40, concat: bool) {
            let kind = if concat { LayoutKind::Concat } else { LayoutKind::Stripe };
            let layout = Layout::new(kind, unit, vec![2_000; devices]);
            prop_assume!(offset + bytes <= layout.capacity());
            let whole = pieces(&layout, offset, bytes);
            prop_assert_eq!(whole.iter().map(|piece| piece.bytes).sum::<u64>(), bytes);
            let single: std::collections::BTreeSet<_> = (offset..offset + bytes)
                .flat_map(|byte| pieces(&layout, byte, 1))
                .map(|piece| (piece.device, piece.offset))
                .collect();
            prop_assert_eq!(single.len() as u64, bytes);
            for piece in whole {
                for byte in piece.offset..piece.offset + piece.bytes {
                    prop_assert!(single.contains(&(piece.device, byte)));
                }
            }
        }
    }
}
