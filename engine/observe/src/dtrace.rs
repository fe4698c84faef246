//! The output of `DTrace` for aggregations: `quantize`, `lquantize`, the packed one-line form, and the lines of the tuning guide's
//! scripts about dirty data, syncs and delays.
//!
//! Layouts are those of `libdtrace`: a value in 16 columns, a bar of 40 characters in proportion to the sum, the count; one empty
//! bucket on either side. In the packed form each bucket is one character, and eight heights of block stand for the share.
//! Latencies are in microseconds for powers of two and milliseconds for linear buckets, as the guide's scripts divide them.
//!
//! A run with a ZFS layer shows its requests to the devices, from issue to completion; with the option `job` (and without that
//! layer) the latencies of jobs.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::count;
use seeklab_model::layers::zfs::record::Record;
use seeklab_model::result::bins::{Bins, LINEAR_MS};
use seeklab_model::stack::Stack;
use seeklab_spec::{Problem, Problems};

const HEADER: &str = "           value  ------------- Distribution ------------- count    ";
const BAR: usize = 40;
/// Heights of a bucket in the packed form, lowest first.
const BLOCKS: [char; 8] = ['\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}'];

/// Latencies under their keys, such as `read`, without the empty ones.
fn aggregations(stack: &Stack, options: &Map<String, Value>) -> Result<Vec<(String, Bins)>, Problems> {
    let job = super::chosen_job(stack, options)?;
    if let (Some(record), None) = (stack.zfs_record(), job) {
        let by_op = record.device_ios.iter().zip(["read", "write"]);
        return Ok(by_op.filter(|(ios, _)| ios.count > 0).map(|(ios, op)| (op.to_owned(), ios.times.clone())).collect());
    }
    let mut found = Vec::new();
    for (index, (spec, stats)) in stack.scenario().jobs.iter().zip(&stack.recorder().jobs).enumerate() {
        if job.is_some_and(|job| job != index) {
            continue;
        }
        for (stats, op) in stats.by_op.iter().zip(["read", "write"]).filter(|(stats, _)| stats.ios > 0) {
            found.push((format!("{} {op}", spec.name), stats.bins.clone()));
        }
    }
    Ok(found)
}

/// Prints by powers of two of microseconds.
///
/// # Errors
/// When the run has no such job.
pub fn quantize(stack: &Stack, options: &Map<String, Value>) -> Result<String, Problems> {
    Ok(aggregations(stack, options)?.iter().fold(String::new(), |text, (key, bins)| text + &keyed(key) + &distribution(&octaves(bins))))
}

/// Prints by equal steps of milliseconds: options `from` (0), `to` (50) and `step` (1).
///
/// # Errors
/// When the run has no such job, or the steps do not make whole buckets.
pub fn lquantize(stack: &Stack, options: &Map<String, Value>) -> Result<String, Problems> {
    let (from, to, step) = (count(options, "from", 0)?, count(options, "to", 50)?, count(options, "step", 1)?);
    if step == 0 || from >= to || to > LINEAR_MS || !(to - from).is_multiple_of(step) {
        let message =
            format!("{from} to {to} ms by {step} is not a range of buckets; write from < to <= {LINEAR_MS} and a step that divides them");
        return Err(vec![Problem::new("step", message)]);
    }
    Ok(aggregations(stack, options)?
        .iter()
        .fold(String::new(), |text, (key, bins)| text + &keyed(key) + &distribution(&linear(bins, from, to, step))))
}

/// Prints each aggregation as one line.
///
/// # Errors
/// When the run has no such job.
pub fn packed(stack: &Stack, options: &Map<String, Value>) -> Result<String, Problems> {
    Ok(packed_lines(&aggregations(stack, options)?))
}

/// Prints what was dirty when each sync began.
///
/// # Errors
/// When the run has no ZFS layer.
pub fn dirty(stack: &Stack) -> Result<String, Problems> {
    let most = stack.scenario().zfs.as_ref().map_or(0, |zfs| seeklab_model::layers::zfs::settings::resolve(zfs).constants.dirty_max_bytes);
    Ok(lines(record(stack)?, |row| {
        (row.sync_started_ns > 0).then(|| format!("{:>4}MB of {:>4}MB used", row.dirty_bytes >> 20, most >> 20))
    }))
}

/// Prints how long each sync took.
///
/// # Errors
/// When the run has no ZFS layer.
pub fn sync(stack: &Stack) -> Result<String, Problems> {
    Ok(lines(record(stack)?, |row| {
        let hundredths = row.synced_ns.saturating_sub(row.sync_started_ns) / 10_000_000;
        (row.synced_ns > 0).then(|| format!("sync took {}.{:02} seconds", hundredths / 100, hundredths % 100))
    }))
}

/// Prints how many writes were delayed, and for how long, in microseconds.
///
/// # Errors
/// When the run has no ZFS layer.
pub fn delays(stack: &Stack) -> Result<String, Problems> {
    let record = record(stack)?;
    let counts = record.counts;
    let mut text = String::new();
    for (key, number) in [("not delayed", counts.not_delayed), ("delayed", counts.delayed), ("stopped", counts.blocked)] {
        let _ = writeln!(text, "  {key:<50} {number:>16}"); // writing to a string cannot fail
    }
    if counts.delayed > 0 {
        text += &keyed("delay");
        text += &distribution(&octaves(&record.delays));
    }
    Ok(text)
}

fn record(stack: &Stack) -> Result<&Record, Problems> {
    stack.zfs_record().ok_or_else(|| vec![Problem::new("tool", "prints a ZFS write path, but this run has none")])
}

fn lines(record: &Record, line: impl Fn(&seeklab_model::layers::zfs::record::GroupRow) -> Option<String>) -> String {
    record.groups.iter().filter(|row| row.bytes > 0).filter_map(line).fold(String::new(), |text, line| text + &line + "\n")
}

fn keyed(key: &str) -> String {
    format!("\n  {key:<50}\n")
}

/// Labels and counts of the buckets from the first that is not empty to the last, with one on either side.
fn octaves(bins: &Bins) -> Vec<(String, u64)> {
    let found = bins.octaves_us();
    let Some(((first, _), (last, _))) = found.first().zip(found.last()) else { return Vec::new() };
    let below = |value: u64| (value > 0).then_some(value / 2);
    let above = |value: u64| if value == 0 { 1 } else { value.saturating_mul(2) };
    let mut rows: Vec<(String, u64)> = below(*first).map(|value| (value.to_string(), 0)).into_iter().collect();
    let mut value = *first;
    loop {
        rows.push((value.to_string(), found.iter().find(|(lower, _)| *lower == value).map_or(0, |(_, count)| *count)));
        if value > *last || value == u64::MAX {
            return rows;
        }
        value = above(value);
    }
}

fn linear(bins: &Bins, from: u64, to: u64, step: u64) -> Vec<(String, u64)> {
    let mut rows = vec![(format!("< {from}"), bins.between_ms(0, from))];
    let mut value = from;
    while value < to {
        rows.push((value.to_string(), bins.between_ms(value, value + step)));
        value += step;
    }
    rows.push((format!(">= {to}"), bins.between_ms(to, u64::MAX)));
    let full = |row: &(String, u64)| row.1 > 0;
    let (Some(first), Some(last)) = (rows.iter().position(full), rows.iter().rposition(full)) else { return Vec::new() };
    rows.drain(first.saturating_sub(1)..(last + 2).min(rows.len())).collect()
}

fn distribution(rows: &[(String, u64)]) -> String {
    let total: u64 = rows.iter().map(|row| row.1).sum();
    let mut text = format!("\n{HEADER}\n");
    for (label, count) in rows {
        // A half and more is rounded up.
        let length = (count * 2 * BAR as u64 + total).checked_div(2 * total).map_or(0, |length| usize::try_from(length).unwrap_or(BAR));
        let bar = "@".repeat(length);
        let _ = writeln!(text, "{label:>16} |{bar:<BAR$} {count:<9}");
    }
    text
}

fn packed_lines(aggregations: &[(String, Bins)]) -> String {
    let octaves: Vec<Vec<(u64, u64)>> = aggregations.iter().map(|(_, bins)| bins.octaves_us()).collect();
    let all = || octaves.iter().flatten().map(|(lower, _)| *lower);
    let (Some(least), Some(most)) = (all().min(), all().max()) else { return String::new() };
    let mut buckets = vec![least / 2];
    while buckets.last().is_some_and(|last| *last <= most) {
        let end = buckets[buckets.len() - 1];
        buckets.push(if end == 0 { 1 } else { end * 2 });
    }
    let (min, max) = (buckets[0].to_string(), buckets[buckets.len() - 1].to_string());
    let key = aggregations.iter().map(|(key, _)| key.len()).max().unwrap_or(0).max("key".len());
    let (low, high) = (min.len(), max.len());
    let mut text = format!("\n{:>key$} {:>low$} .{}. {:<high$} | count\n", "key", "min", "-".repeat(buckets.len()), "max");
    for ((name, _), octaves) in aggregations.iter().zip(&octaves) {
        let total: u64 = octaves.iter().map(|(_, count)| count).sum();
        let height = |bucket: &u64| {
            let count = octaves.iter().find(|(lower, _)| lower == bucket).map_or(0, |(_, count)| *count);
            let level = (count * 2 * (BLOCKS.len() as u64 - 1) + total).checked_div(2 * total).unwrap_or(0);
            if count == 0 { ' ' } else { BLOCKS[usize::try_from(level).unwrap_or(0).min(BLOCKS.len() - 1)] }
        };
        let bars: String = buckets.iter().map(height).collect();
        let _ = writeln!(text, "{name:>key$} {min:>low$} :{bars}: {max:<high$} | {total}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(latencies_us: &[(u64, u64)]) -> Bins {
        let mut bins = Bins::default();
        for (us, times) in latencies_us {
            for _ in 0..*times {
                bins.add(us * 1000);
            }
        }
        bins
    }

    #[test]
    fn quantize_has_a_bar_of_forty_and_an_empty_bucket_on_either_side() {
        let bins = sample(&[(300, 5), (600, 14), (4000, 1)]);
        let expected = "
           value  ------------- Distribution ------------- count    
             128 |                                         0        
             256 |@@@@@@@@@@                               5        
             512 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@             14       
            1024 |                                         0        
            2048 |@@                                       1        
            4096 |                                         0        
";
        assert_eq!(distribution(&octaves(&bins)), expected);
    }

    #[test]
    fn quantize_begins_at_zero_when_something_took_no_time() {
        let rows: Vec<(String, u64)> = octaves(&sample(&[(0, 1), (1, 2)]));
        assert_eq!(rows, [("0".to_owned(), 1), ("1".to_owned(), 2), ("2".to_owned(), 0)]);
        assert_eq!(distribution(&octaves(&Bins::default())), format!("\n{HEADER}\n"));
    }

    #[test]
    fn lquantize_names_what_lies_outside() {
        let bins = sample(&[(500, 1), (12_000, 2), (13_999, 1), (99_000, 4)]);
        let expected = "
           value  ------------- Distribution ------------- count    
            < 10 |@@@@@                                    1        
              10 |                                         0        
              12 |@@@@@@@@@@@@@@@                          3        
              14 |                                         0        
              16 |                                         0        
           >= 18 |@@@@@@@@@@@@@@@@@@@@                     4        
";
        assert_eq!(distribution(&linear(&bins, 10, 18, 2)), expected);
    }

    #[test]
    fn the_packed_form_is_one_line_for_each_key() {
        let read = ("read".to_owned(), sample(&[(300, 1), (600, 7)]));
        let write = ("write".to_owned(), sample(&[(1500, 8)]));
        let expected = "
  key min .-----. max  | count
 read 128 : \u{2582}\u{2587}  : 2048 | 8
write 128 :   \u{2588} : 2048 | 8
";
        assert_eq!(packed_lines(&[read, write]), expected);
        assert_eq!(packed_lines(&[]), "");
    }
}
