//! Cuts requests into the parts that the dies have, and lines them up.

use super::{Drive, Turn};
use crate::kernel::{Holder, RequestId};
use crate::layers::device::ssd::cells::Spot;
use crate::layers::device::ssd::parts::Part;
use seeklab_spec::{Op, Precondition};

/// Neighbouring pages of a request on one die.
#[derive(Clone, Copy, Debug)]
struct Piece {
    id: RequestId,
    die: usize,
    /// First page of the die, of all that the drive has.
    at: u32,
    pages: u32,
    /// Bytes of the first and the last page that the request does not cover.
    head: u64,
    tail: u64,
}

impl Piece {
    fn bytes(&self, page: u64) -> u64 {
        u64::from(self.pages) * page - self.head - self.tail
    }

    /// One of its pages.
    fn page(&self, number: u32) -> Self {
        let head = if number == 0 { self.head } else { 0 };
        let tail = if number + 1 == self.pages { self.tail } else { 0 };
        Self { at: self.at + number, pages: 1, head, tail, ..*self }
    }
}

impl Drive {
    /// Splits a request into parts. Returns how many, and the bytes that no die has to deliver.
    pub(super) fn split(&mut self, turn: &mut Turn, id: RequestId, buffered: bool) -> (u32, u64) {
        let request = turn.kernel.requests[id];
        let (shape, stripe) = (self.recipe.shape, u64::from(self.stripe));
        let (is_read, gathers) = (request.op == Op::Read, buffered && self.gathering.is_some());
        let end = request.place + request.bytes.max(1);
        let (first, last) = (request.place / self.page, (end - 1) / self.page);
        let (head, tail) = (request.place % self.page, (last + 1) * self.page - end);
        let dies = shape.dies as u64;
        // One part for each die, or for each physical page, or for each page.
        let (first_row, last_row) = (first / stripe, last / stripe);
        let by_row = gathers || is_read && self.read_planes > 1;
        let rows = if by_row { last_row - first_row + 1 } else { dies.min(last_row - first_row + 1) };
        let (mut parts, mut loose) = (0, 0);
        for row in first_row..first_row + rows {
            let die = (row % dies) as usize;
            let start = first.max(row * stripe);
            let final_row = if by_row { row } else { last_row - (last_row - row) % dies };
            let stop = last.min(final_row * stripe + stripe - 1);
            // Pages of the die count on from row to row.
            let local = |page: u64| page / stripe / dies * stripe + page % stripe;
            let pages = local(stop) - local(start) + 1;
            let at = local(start) as u32; // beyond 16 TiB on one die the numbers begin again
            let piece = Piece {
                id,
                die,
                at,
                pages: pages as u32,
                head: if start == first { head } else { 0 },
                tail: if stop == last { tail } else { 0 },
            };
            if is_read {
                let bytes = self.line_up_read(turn, piece);
                loose += bytes;
                parts += u32::from(bytes == 0);
            } else if gathers {
                parts += (0..piece.pages).filter(|page| self.line_up_page(turn, piece.page(*page))).count() as u32;
            } else {
                self.line_up_write(turn, piece, buffered);
                parts += 1;
            }
        }
        self.requests[id.0 as usize].parts = parts;
        for row in first_row..first_row + rows.min(dies) {
            self.work(turn, (row % dies) as usize);
        }
        (parts, loose)
    }

    /// Lines a part of a read up. Returns the bytes that need no flash: all or none.
    fn line_up_read(&mut self, turn: &mut Turn, piece: Piece) -> u64 {
        let Piece { die, at, .. } = piece;
        let mut pages = piece.pages;
        if self.gathering.is_some() || self.recipe.precondition == Precondition::None || self.trims.were_any() {
            pages = (at..at + pages).filter(|page| self.is_on_flash(die, *page)).count() as u32;
        }
        let bytes = piece.bytes(self.page);
        if pages == 0 {
            return bytes;
        }
        let plane = if self.read_planes > 1 { self.cells.plane(self.spot(die, at)) } else { 0 };
        let part = Part { pages, to_move: pages, bytes, ..self.part(turn, piece) };
        let part = self.parts.0.insert(part);
        self.parts.push(&mut self.reads[die * self.read_planes as usize + plane as usize], part);
        self.lines[die].reads |= 1 << plane;
        0
    }

    /// Whether the page must be read from flash.
    fn is_on_flash(&self, die: usize, page: u32) -> bool {
        self.is_mapped(die, page) && !self.gathering.as_ref().is_some_and(|gathering| gathering.has(die, page))
    }

    /// Whether the page holds data on flash.
    fn is_mapped(&self, die: usize, page: u32) -> bool {
        let filled = self.recipe.precondition != Precondition::None;
        let simulated = page % self.recipe.shape.logical;
        // A simulated page stands for all that share it, and so does one that has left its place for the cache.
        self.ftl.as_ref().map_or(filled, |ftl| ftl.is_mapped(die, simulated))
            || self.cache.as_ref().is_some_and(|cache| cache.has(die, page) || cache.has(die, cache.owner(simulated)))
    }

    /// Where a page is, for its cells.
    pub(super) fn spot(&self, die: usize, page: u32) -> Spot {
        let page = page % self.recipe.shape.logical;
        match self.ftl.as_ref().and_then(|ftl| ftl.place(die, page)) {
            Some((place, erases)) => Spot { die, page: place, is_place: true, erases },
            None => Spot { die, page, is_place: false, erases: 0 },
        }
    }

    fn part(&self, turn: &Turn, piece: Piece) -> Part {
        let now_ns = turn.kernel.now_ns();
        Part {
            request: piece.id.0,
            page: piece.at,
            pages: piece.pages,
            bytes: piece.bytes(self.page),
            came_ns: now_ns,
            collected_ns: self.dies[piece.die].collected_ns(now_ns),
            ..Part::default()
        }
    }

    /// Pages of which the write covers a part, and which hold data.
    fn to_read(&self, piece: Piece) -> u32 {
        let Piece { die, at, pages, head, tail, .. } = piece;
        let (first, last) = (head > 0 || pages == 1 && tail > 0, pages > 1 && tail > 0);
        u32::from(first && self.is_mapped(die, at)) + u32::from(last && self.is_mapped(die, at + pages - 1))
    }

    fn line_up_write(&mut self, turn: &mut Turn, piece: Piece, buffered: bool) {
        let part = Part { to_read: self.to_read(piece), buffered, ..self.part(turn, piece) };
        self.push_write(piece.die, part);
    }

    /// Lines a page of a gathered program up, unless it takes the place of one that waits. Returns whether it did.
    fn line_up_page(&mut self, turn: &mut Turn, piece: Piece) -> bool {
        let bytes = piece.bytes(self.page);
        let Some(gathering) = &mut self.gathering else { return false };
        if gathering.absorbs(piece.die, piece.at) {
            self.trims.is_written(piece.die, piece.at % self.recipe.shape.logical);
            self.buffered_bytes -= bytes;
            if self.buffer_is.is_volatile() {
                turn.kernel.release(Holder::Device, bytes);
            }
            return false;
        }
        gathering.waits(piece.die, self.written_parts, bytes);
        self.line_up_write(turn, piece, true);
        true
    }

    fn push_write(&mut self, die: usize, part: Part) {
        let line = &mut self.lines[die];
        line.pages += part.pages;
        line.unbuffered += u32::from(!part.buffered);
        if part.buffered {
            self.flushes.add();
        }
        let part = self.parts.0.insert(Part { number: self.written_parts, ..part });
        self.written_parts += 1;
        self.parts.push(&mut line.writes, part);
    }
}
