//! The contents of the page registers.
//!
//! A plane senses a whole physical page into its register, and bytes are read out of that: for more of the same page nothing is
//! sensed again, until the register takes another page, or data to be programmed or moved. ONFI's *change read column* (Open NAND
//! Flash Interface Specification 4.0, 5.12) reads another part of a page so. Without it a stream of small reads would sense a page
//! as often as it is asked for. Pages in a cache of one-bit cells count one by one, as it is not known which of them lie together.
//! Left out: the second register of a plane, and a controller that keeps pages in its memory.

use super::Drive;

/// A page in a register: which one, in one number.
type Row = u64;

/// No page.
const NOTHING: Row = u64::MAX;
const IS_PLACE: Row = 1 << 62;
const IS_CACHED: Row = 1 << 61;

/// Registers of all planes of a drive.
#[derive(Clone, Debug)]
pub(super) struct Registers {
    rows: Vec<Row>,
    /// Planes of a die that read by themselves.
    planes: usize,
}

impl Registers {
    pub fn new(dies: usize, planes: u32) -> Self {
        Self { rows: vec![NOTHING; dies * planes as usize], planes: planes as usize }
    }

    /// Whether a plane need not sense these rows, from the first to the last; it holds the last afterwards.
    fn senses(&mut self, plane: usize, first: Row, last: Row) -> bool {
        let held = std::mem::replace(&mut self.rows[plane], last);
        held != first || first != last
    }

    /// A die's registers take data to program or to move.
    pub fn forget(&mut self, die: usize) {
        self.rows[die * self.planes..][..self.planes].fill(NOTHING);
    }
}

impl Drive {
    /// The physical page of a die that holds a logical one.
    fn row(&self, die: usize, page: u32) -> Row {
        if self.cache.as_ref().is_some_and(|cache| cache.has(die, page)) {
            return Row::from(page) | IS_CACHED;
        }
        if self.stripe == 1 {
            return Row::from(page); // its place does not change while it is in the register
        }
        let spot = self.spot(die, page);
        Row::from(spot.page / self.stripe) | if spot.is_place { IS_PLACE } else { 0 }
    }

    /// Whether a plane must sense for these pages.
    pub(super) fn senses(&mut self, die: usize, plane: usize, page: u32, pages: u32) -> bool {
        let (first, last) = (self.row(die, page), self.row(die, page + pages - 1));
        self.registers.senses(plane, first, last)
    }
}
