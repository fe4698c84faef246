//! The output of `parted -l` with `unit B`: the start of each device's partition, and the sizes of logical and physical sectors. It also
//! computes whether a start is a whole number of physical blocks.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use seeklab_model::stack::Stack;
use seeklab_spec::{Bytes, Problem, Problems};

const SECTOR: u64 = 512;

/// Whether a partition's start is a whole number of blocks, and what a write costs there; all in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Alignment {
    /// First byte of the partition.
    pub start: u64,
    /// Physical block of the disk.
    pub block: u64,
    /// Size of the write, which begins where the partition does.
    pub bs: u64,
    /// Whether the start is a whole number of blocks.
    pub aligned: bool,
    /// Bytes from the beginning of a block to the start.
    pub into_block: u64,
    /// Blocks that the write covers only in part.
    pub partial_blocks: u32,
    /// Blocks that must be read before they can be written.
    pub extra_reads: u32,
    /// Blocks that the write touches.
    pub blocks_touched: u64,
    /// Bytes that the disk writes.
    pub bytes_written: u64,
    /// Nearest aligned start, not after this one.
    pub before: u64,
    /// Nearest aligned start, not before this one.
    pub after: u64,
}

/// Prints one section for each device.
#[must_use]
pub fn print(stack: &Stack) -> String {
    let mut text = String::new();
    let (start, block) = stack.scenario().partition.as_ref().map_or((0, SECTOR), |spec| (spec.start.0, spec.block.0));
    for (name, size) in stack.device_names().iter().zip(stack.device_sizes()) {
        let end = (size / block * block).saturating_sub(1);
        let columns = format!("{start}B").len().max(5) + 2;
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "Model: Seeklab model (virt)\nDisk /dev/{name}: {size}B\nSector size (logical/physical): {SECTOR}B/{block}B\n\
             Partition Table: gpt\nDisk Flags:\n\nNumber  {:<columns$}{:<16}{:<16}File system  Name  Flags\n 1      {:<columns$}{:<16}{}B\n\n",
            "Start",
            "End",
            "Size",
            format!("{start}B"),
            format!("{end}B"),
            end + 1 - start,
        );
    }
    text
}

/// Reads a size, or a number of sectors such as `63s`.
fn bytes(input: &Map<String, Value>, name: &str, default: Option<u64>) -> Result<u64, Problems> {
    let wrong = |found: &str| vec![Problem::new(name, format!("{found} is not {}, or sectors such as 63s", Bytes::ACCEPTED))];
    match input.get(name) {
        None | Some(Value::Null) => {
            default.ok_or_else(|| vec![Problem::new(name, "is missing; write the first byte, such as 1536 or 63s")])
        }
        Some(Value::String(text)) => {
            let sectors = text.trim().strip_suffix('s').and_then(|number| number.trim().parse::<u64>().ok()?.checked_mul(SECTOR));
            sectors.or_else(|| Bytes::parse(text).map(|bytes| bytes.0)).ok_or_else(|| wrong(&format!("\"{text}\"")))
        }
        Some(value) => value.as_u64().ok_or_else(|| wrong(&value.to_string())),
    }
}

/// Judges a partition's start: `{"start", "block"?, "bs"?, "size"?}`, bytes, sizes or sectors. `size` is the disk's.
///
/// # Errors
/// When a number is not one, the block is not a power of two, or the start lies beyond the disk.
pub fn alignment(input: &Map<String, Value>) -> Result<Alignment, Problems> {
    let start = bytes(input, "start", None)?;
    let block = bytes(input, "block", Some(4096))?;
    let bs = bytes(input, "bs", Some(1 << 20))?;
    if !block.is_power_of_two() || block < SECTOR {
        return Err(vec![Problem::new("block", format!("{block} is not a power of two from 512 on; write 512, 4KiB or 16KiB"))]);
    }
    if bs == 0 {
        return Err(vec![Problem::new("bs", "is 0; write the size of a write, such as 4KiB")]);
    }
    let size = bytes(input, "size", Some(u64::MAX))?;
    if start >= size {
        return Err(vec![Problem::new(
            "start",
            format!("{start} is beyond the end of the disk, which holds {size} bytes; write a smaller start"),
        )]);
    }
    let Some(end) = start.checked_add(bs) else {
        return Err(vec![Problem::new("bs", "start and bs add up to more than 16 EiB")]);
    };
    let (into_block, into_tail) = (start % block, end % block);
    let same = start / block == end / block;
    let partial_blocks = u32::from(into_block > 0) + u32::from(into_tail > 0 && !(same && into_block > 0));
    let blocks_touched = end.div_ceil(block) - start / block;
    Ok(Alignment {
        start,
        block,
        bs,
        aligned: into_block == 0,
        into_block,
        partial_blocks,
        extra_reads: partial_blocks,
        blocks_touched,
        bytes_written: blocks_touched * block,
        before: start - into_block,
        after: start.div_ceil(block) * block,
    })
}

#[cfg(test)]
mod tests {
    use seeklab_spec::testing::assert_problems;
    use serde_json::json;

    use super::*;

    fn judged(input: &Value) -> Result<Alignment, Problems> {
        alignment(input.as_object().expect("an object"))
    }

    #[test]
    fn a_start_at_byte_1536_makes_two_partial_blocks_of_each_whole_write() {
        let found = judged(&json!({"start": "1536", "bs": "1MiB"})).expect("a start");
        assert_eq!((found.aligned, found.into_block, found.extra_reads), (false, 1536, 2));
        assert_eq!(found.bytes_written, (1 << 20) + 4096);
    }

    #[test]
    fn sectors_are_512_bytes_and_the_old_63_are_not_aligned() {
        assert_eq!(judged(&json!({"start": "63s"})).expect("a start").into_block, 32_256 % 4096);
        assert!(judged(&json!({"start": "2048s"})).expect("a start").aligned);
        assert!(judged(&json!({"start": "63s", "block": 512})).expect("a start").aligned);
    }

    #[test]
    fn a_write_within_one_block_needs_one_read() {
        assert_eq!(judged(&json!({"start": 512, "bs": 512})).expect("a start").extra_reads, 1);
        assert_eq!(judged(&json!({"start": 0, "bs": 512})).expect("a start").extra_reads, 1);
    }

    #[test]
    fn what_is_no_start_is_refused() {
        for (input, expected) in [
            (json!({}), "start"),
            (json!({"start": "soon"}), "start: soon, 63s"),
            (json!({"start": -1}), "start: -1, 63s"),
            (json!({"start": 0, "block": 3000}), "block: 3000, 512"),
            (json!({"start": 0, "bs": 0}), "bs: 0"),
            (json!({"start": "2TiB", "size": "1TiB"}), "start: 2199023255552, 1099511627776"),
            (json!({"start": u64::MAX - 1}), "bs: 16 EiB"),
        ] {
            assert_problems(&judged(&input).expect_err("refused"), &[expected]);
        }
    }
}
