//! Three ways to copy a file within one server, as sequences of commands.
//!
//! | copy | one command | messages on the network | reads and writes |
//! |---|---|---|---|
//! | through the client | one block | a read with its data, a write with its data | the client's |
//! | server-side | a list of chunks | one there with the list, one back | the server's, chunk by chunk |
//! | ODX | a range | two for the token, one there with the command, one back | the server's, transaction by transaction |
//!
//! So a block costs two round trips, a list one and a range two, and only the first kind moves data. All three read and write
//! through the same layers below; none has a cost of its own there. Each read is followed by the write of the same bytes to the
//! region after the source before the next read of the command begins. The first read of a command waits for the message that
//! brings the command, the last write for the message that brings the result.
//!
//! A request takes one of the session's credits for each 64 KiB, as SMB 2.1 charges them (MS-SMB2 3.1.5.2).
//!
//! Without a network the engine of ODX is driven transaction by transaction. Left out: opening and closing files, the query for
//! the resume key, tokens that expire, copies between servers, credits that the server takes back.

use crate::kernel::{Request, Wire};
use crate::layers::protocol::transaction_bytes;
use seeklab_spec::Op;
use seeklab_spec::{Job, Rw, Scenario};

/// Bytes that one credit pays for.
const CREDIT_BYTES: u64 = 64 << 10;

/// The credits that a request of the job takes.
fn charge(job: &Job) -> u64 {
    job.max_request_bytes().div_ceil(CREDIT_BYTES)
}

/// Requests that a worker may have in flight: its own depth, and what the session's credits allow.
#[must_use]
pub fn in_flight(scenario: &Scenario, job: &Job) -> u32 {
    let credits = scenario.protocol.as_ref().and_then(|protocol| protocol.credits).filter(|_| !job.rw.is_offloaded());
    let allowed = credits.map_or(u64::from(u32::MAX), |credits| (u64::from(credits) / charge(job)).max(1));
    u32::try_from(allowed).unwrap_or(u32::MAX).min(job.iodepth)
}

/// The credits granted and the credits that one request takes, where the first are too few.
#[must_use]
pub fn too_few_credits(scenario: &Scenario, job: &Job) -> Option<(u32, u64)> {
    let credits = scenario.protocol.as_ref()?.credits?;
    (!job.rw.is_offloaded() && charge(job) > u64::from(credits)).then(|| (credits, charge(job)))
}

/// The commands of one worker's copy. Offsets count from the start of the source.
#[derive(Clone, Copy, Debug)]
pub struct Copy {
    method: Rw,
    /// Bytes of one read, and of the write that follows it.
    chunk_bytes: u64,
    /// Bytes of one command.
    command_bytes: u64,
    /// Bytes of the file.
    length: u64,
}

impl Copy {
    /// The copy that a job makes of a region of `length` bytes; `None` when it makes none.
    #[must_use]
    pub fn of(scenario: &Scenario, job: &Job, length: u64) -> Option<Self> {
        let spec = job.copy.clone().unwrap_or_default();
        let (chunk_bytes, command_bytes) = match job.rw {
            Rw::ClientCopy => (job.bs.0, job.bs.0),
            Rw::ServerCopy => (job.bs.0, job.bs.0 * u64::from(spec.chunks_per_request)),
            Rw::OdxCopy => {
                let transaction = scenario.protocol.as_ref().map_or(job.bs.0, transaction_bytes);
                (transaction, if scenario.network.is_some() { spec.range.0 } else { transaction })
            }
            _ => return None,
        };
        Some(Self { method: job.rw, chunk_bytes, command_bytes, length })
    }

    /// Bytes of the command that begins at `offset`.
    #[must_use]
    pub fn command_bytes_at(&self, offset: u64) -> u64 {
        self.command_bytes.min(self.length - offset)
    }

    /// Bytes of the read at `offset`: a chunk, cut at the end of its command and of the file.
    #[must_use]
    pub fn chunk_bytes_at(&self, offset: u64) -> u64 {
        let left_of_command = self.command_bytes - offset % self.command_bytes;
        self.chunk_bytes.min(left_of_command).min(self.length - offset)
    }

    fn is_end(&self, end: u64) -> bool {
        end == self.length || end.is_multiple_of(self.command_bytes)
    }

    /// The messages that the read or write of `bytes` from `offset` of the source needs.
    #[must_use]
    pub fn wire(&self, op: Op, offset: u64, bytes: u64) -> Wire {
        let begins = offset.is_multiple_of(self.command_bytes);
        match (self.method, op) {
            (Rw::OdxCopy, Op::Read) if begins => Wire::TokenCommand,
            (Rw::ServerCopy, Op::Read) if begins => Wire::Command,
            (Rw::OdxCopy | Rw::ServerCopy, Op::Write) if self.is_end(offset + bytes) => Wire::Reply,
            (Rw::OdxCopy | Rw::ServerCopy, _) => Wire::Inside,
            _ => Wire::Exchange,
        }
    }

    /// Return the next request of a command after `done`, for a worker whose region starts at `start`: direction, offset in the region,
    /// bytes, messages. `None` after the last write.
    #[must_use]
    pub fn next(&self, done: &Request, start: u64) -> Option<(Op, u64, u64, Wire)> {
        let at = done.offset - start;
        if done.op == Op::Read {
            return Some((Op::Write, at + self.length, done.bytes, self.wire(Op::Write, at, done.bytes)));
        }
        let end = at - self.length + done.bytes;
        if self.is_end(end) {
            return None;
        }
        let bytes = self.chunk_bytes_at(end);
        Some((Op::Read, end, bytes, self.wire(Op::Read, end, bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// The requests of a whole command that begins at `offset`: direction, offset and size in MiB, messages.
    fn command(copy: &Copy, offset: u64) -> Vec<(Op, u64, u64, Wire)> {
        let bytes = copy.chunk_bytes_at(offset);
        let mut next = Some((Op::Read, offset, bytes, copy.wire(Op::Read, offset, bytes)));
        let mut all = Vec::new();
        while let Some((op, offset, bytes, wire)) = next {
            all.push((op, offset / MIB, bytes / MIB, wire));
            next = copy.next(&Request { op, offset: offset + 7 * MIB, bytes, ..Request::default() }, 7 * MIB);
        }
        all
    }

    #[test]
    fn a_client_copy_reads_and_writes_each_block_over_the_network() {
        let copy = Copy { method: Rw::ClientCopy, chunk_bytes: MIB, command_bytes: MIB, length: 10 * MIB };
        assert_eq!(command(&copy, 3 * MIB), [(Op::Read, 3, 1, Wire::Exchange), (Op::Write, 13, 1, Wire::Exchange)]);
    }

    #[test]
    fn a_list_of_chunks_needs_one_message_there_and_one_back() {
        let copy = Copy { method: Rw::ServerCopy, chunk_bytes: MIB, command_bytes: 2 * MIB, length: 10 * MIB };
        let expected = [
            (Op::Read, 2, 1, Wire::Command),
            (Op::Write, 12, 1, Wire::Inside),
            (Op::Read, 3, 1, Wire::Inside),
            (Op::Write, 13, 1, Wire::Reply),
        ];
        assert_eq!(command(&copy, 2 * MIB), expected);
    }

    #[test]
    fn a_range_is_cut_into_transactions_and_ends_with_the_file() {
        let copy = Copy { method: Rw::OdxCopy, chunk_bytes: 8 * MIB, command_bytes: 20 * MIB, length: 25 * MIB };
        let sizes: Vec<u64> = command(&copy, 0).iter().map(|row| row.2).collect();
        assert_eq!(sizes, [8, 8, 8, 8, 4, 4]);
        let expected = [(Op::Read, 20, 5, Wire::TokenCommand), (Op::Write, 45, 5, Wire::Reply)];
        assert_eq!(command(&copy, 20 * MIB), expected);
    }
}
