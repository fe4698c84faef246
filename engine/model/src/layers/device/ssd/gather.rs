//! The pages of the write buffer while programs are gathered: a die's page waits until others fill its program.
//!
//! Programming one page takes as long as programming all that share a word line and the planes of a die, so a controller with a
//! protected buffer waits for a full program. It gives up waiting when the oldest page has waited for long, and when the buffer
//! fills up with pages that wait; the places of a program that nobody filled are lost until their block is erased.
//!
//! While a page waits, an overwrite takes its place in the buffer, and reads of it need no flash.

use std::collections::VecDeque;

/// The page waits for its program.
const WAITS: u8 = 1;
/// The page is being programmed.
const IN_PROGRAM: u8 = 2;

/// Waiting pages may take this share of the buffer, in quarters, before the oldest are programmed as they are.
const FULL_AT_QUARTERS: u64 = 3;

/// The pages in the buffer.
#[derive(Clone, Debug)]
pub(super) struct Gathering {
    /// Longest that a page waits.
    pub wait_ns: u64,
    /// Pages of a full program.
    planes: u32,
    /// Logical pages of a die.
    logical: u32,
    /// State of each logical page, die by die.
    states: Vec<u8>,
    /// Pages in the program of each die, and how many there are.
    programs: Vec<u32>,
    filled: Vec<u32>,
    /// Parts that wait, the oldest first: number and die. Some have left.
    order: VecDeque<(u64, u32)>,
    waiting_bytes: u64,
    buffer_bytes: u64,
    /// Pages that were overwritten before they were programmed.
    pub absorbed_pages: u64,
}

impl Gathering {
    pub fn new(dies: usize, logical: u32, planes: u32, wait_ns: u64, buffer_bytes: u64) -> Self {
        Self {
            wait_ns,
            planes,
            logical,
            states: vec![0; dies * logical as usize],
            programs: vec![0; dies * planes as usize],
            filled: vec![0; dies],
            order: VecDeque::new(),
            waiting_bytes: 0,
            buffer_bytes,
            absorbed_pages: 0,
        }
    }

    /// Bytes of memory for so many logical pages.
    pub fn memory_bytes(logical_pages: u64) -> u64 {
        logical_pages
    }

    fn index(&self, die: usize, page: u32) -> usize {
        die * self.logical as usize + (page % self.logical) as usize
    }

    /// Whether the page is in the buffer.
    #[inline]
    pub fn has(&self, die: usize, page: u32) -> bool {
        self.states[self.index(die, page)] != 0
    }

    /// A page comes. Returns whether it takes the place of one that waits.
    pub fn absorbs(&mut self, die: usize, page: u32) -> bool {
        let state = self.index(die, page);
        let absorbs = self.states[state] & WAITS != 0;
        self.states[state] |= WAITS;
        self.absorbed_pages += u64::from(absorbs);
        absorbs
    }

    /// A part that came begins to wait.
    pub fn waits(&mut self, die: usize, number: u64, bytes: u64) {
        self.order.push_back((number, die as u32));
        self.waiting_bytes += bytes;
    }

    /// A part is programmed now.
    pub fn begins(&mut self, die: usize, page: u32, bytes: u64) {
        let state = self.index(die, page);
        self.states[state] = IN_PROGRAM;
        self.waiting_bytes -= bytes;
        self.programs[die * self.planes as usize + self.filled[die] as usize] = page;
        self.filled[die] += 1;
    }

    /// The program of a die is done.
    pub fn ends(&mut self, die: usize) {
        let first = die * self.planes as usize;
        for at in first..first + self.filled[die] as usize {
            let state = self.index(die, self.programs[at]);
            self.states[state] &= !IN_PROGRAM;
        }
        self.filled[die] = 0;
    }

    /// Whether so much waits that the oldest is programmed as it is.
    pub fn is_full(&self) -> bool {
        4 * self.waiting_bytes >= FULL_AT_QUARTERS * self.buffer_bytes
    }

    /// The die that has the oldest page, where `oldest` tells the number of the oldest part that waits for a die.
    pub fn oldest_die(&mut self, oldest: impl Fn(usize) -> Option<u64>) -> Option<usize> {
        while let Some((number, die)) = self.order.front().copied() {
            if oldest(die as usize).is_some_and(|first| first <= number) {
                return Some(die as usize);
            }
            self.order.pop_front();
        }
        None
    }
}
