//! Parts of requests inside the drive, and the lists that they stand in.

use super::ftl::NONE;
use seeklab_kernel::Slab;

/// The share of a request that one die has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    pub request: u32,
    pub next: u32,
    /// Next logical page of the die.
    pub page: u32,
    /// Pages that the die has not begun.
    pub pages: u32,
    /// Pages that have not left the channel, of a read.
    pub to_move: u32,
    /// Bytes that the interface has not moved, of a read; room in the buffer, of a write.
    pub bytes: u64,
    /// Pages that must be read before they are written.
    pub to_read: u32,
    pub buffered: bool,
    /// When a write's part came, and its number among them.
    pub came_ns: u64,
    pub number: u64,
    /// The die's time in collection when the part came.
    pub collected_ns: u64,
    pub collect_ns: u64,
    pub read_ns: u64,
    pub program_ns: u64,
    pub channel_ns: u64,
}

/// A first-in first-out list of parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    pub first: u32,
    last: u32,
}

pub(super) const EMPTY: List = List { first: NONE, last: NONE };

impl List {
    pub fn is_empty(self) -> bool {
        self.first == NONE
    }
}

/// All parts.
#[derive(Debug, Default)]
pub(super) struct Parts(pub Slab<Part>);

impl Parts {
    /// A part of a list, if there is one.
    pub fn get(&self, part: u32) -> Option<Part> {
        (part != NONE).then(|| self.0[part])
    }

    pub fn push(&mut self, list: &mut List, part: u32) {
        self.0[part].next = NONE;
        if list.last == NONE {
            list.first = part;
        } else {
            self.0[list.last].next = part;
        }
        list.last = part;
    }

    pub fn pop(&mut self, list: &mut List) -> Option<u32> {
        let first = list.first;
        if first == NONE {
            return None;
        }
        list.first = self.0[first].next;
        if list.first == NONE {
            list.last = NONE;
        }
        Some(first)
    }
}
