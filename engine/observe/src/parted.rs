//! What `parted -l` prints with `unit B`: where the partition of each device begins, and the sizes of logical and physical
//! sectors. And the arithmetic that a reader has to do on it: whether a start is a whole number of physical blocks.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use seeklab_model::stack::Stack;
use seeklab_spec::{Bytes, Problem, Problems};

const SECTOR: u64 = 512;

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
pub fn alignment(input: &Map<String, Value>) -> Result<Value, Problems> {
    let start = bytes(input, "start", None)?;
    let block = bytes(input, "block", Some(4096))?;
    let write = bytes(input, "bs", Some(1 << 20))?;
    if !block.is_power_of_two() || block < SECTOR {
        return Err(vec![Problem::new("block", format!("{block} is not a power of two from 512 on; write 512, 4KiB or 16KiB"))]);
    }
    if write == 0 {
        return Err(vec![Problem::new("bs", "is 0; write the size of a write, such as 4KiB")]);
    }
    let size = bytes(input, "size", Some(u64::MAX))?;
    if start >= size {
        return Err(vec![Problem::new("start", format!("{start} lies beyond the disk, which holds {size} bytes; write a smaller start"))]);
    }
    let Some(end) = start.checked_add(write) else {
        return Err(vec![Problem::new("bs", "start and bs add up to more than 16 EiB")]);
    };
    let (into_head, into_tail) = (start % block, end % block);
    let same = start / block == end / block;
    let partial = u32::from(into_head > 0) + u32::from(into_tail > 0 && !(same && into_head > 0));
    let touched = end.div_ceil(block) - start / block;
    Ok(json!({
        "start": start,
        "block": block,
        "bs": write,
        "aligned": into_head == 0,
        "into_block": into_head,
        "partial_blocks": partial,
        "extra_reads": partial,
        "blocks_touched": touched,
        "bytes_written": touched * block,
        "before": start - into_head,
        "after": start.div_ceil(block) * block,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(input: &Value) -> Result<Value, Problems> {
        alignment(input.as_object().expect("an object"))
    }

    #[test]
    fn a_start_at_byte_1536_makes_two_partial_blocks_of_each_whole_write() {
        let found = judged(&json!({"start": "1536", "bs": "1MiB"})).expect("a start");
        assert_eq!((&found["aligned"], &found["into_block"], &found["extra_reads"]), (&json!(false), &json!(1536), &json!(2)));
        assert_eq!(found["bytes_written"], (1 << 20) + 4096);
    }

    #[test]
    fn sectors_are_512_bytes_and_the_old_63_are_not_aligned() {
        assert_eq!(judged(&json!({"start": "63s"})).expect("a start")["into_block"], 32_256 % 4096);
        assert_eq!(judged(&json!({"start": "2048s"})).expect("a start")["aligned"], true);
        assert_eq!(judged(&json!({"start": "63s", "block": 512})).expect("a start")["aligned"], true);
    }

    #[test]
    fn a_write_within_one_block_needs_one_read() {
        assert_eq!(judged(&json!({"start": 512, "bs": 512})).expect("a start")["extra_reads"], 1);
        assert_eq!(judged(&json!({"start": 0, "bs": 512})).expect("a start")["extra_reads"], 1);
    }

    #[test]
    fn what_is_no_start_is_refused() {
        for (input, what) in [
            (json!({}), "is missing"),
            (json!({"start": "soon"}), "not a size"),
            (json!({"start": -1}), "not a size"),
            (json!({"start": 0, "block": 3000}), "power of two"),
            (json!({"start": 0, "bs": 0}), "is 0"),
            (json!({"start": "2TiB", "size": "1TiB"}), "beyond the disk"),
            (json!({"start": u64::MAX - 1}), "16 EiB"),
        ] {
            let problems = judged(&input).expect_err("refused");
            assert!(problems[0].to_string().contains(what), "{problems:?}");
        }
    }
}
