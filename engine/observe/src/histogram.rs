//! The latency histogram as text, by count and by total time: the two often peak in different places.

use std::fmt::Write;

use serde_json::{Map, Value};

use seeklab_model::stack::Stack;
use seeklab_spec::Problems;

const WIDTH: u64 = 30;

fn bar(part: u64, whole: u64) -> String {
    let length = (part * WIDTH).checked_div(whole).unwrap_or(0);
    "#".repeat(usize::try_from(length).unwrap_or(0))
}

fn show(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{} us", ns / 1_000),
        1_000_000..10_000_000_000 => format!("{} ms", ns / 1_000_000),
        _ => format!("{} s", ns / 1_000_000_000),
    }
}

/// Prints each job's latencies in octaves, or those of `job` only when it is given.
///
/// # Errors
/// When the run has no such job.
pub fn print(stack: &Stack, options: &Map<String, Value>) -> Result<String, Problems> {
    let wanted = super::chosen_job(stack, options)?;
    let mut text = String::new();
    for (index, (job, stats)) in stack.scenario().jobs.iter().zip(&stack.recorder().jobs).enumerate() {
        if wanted.is_some_and(|wanted| wanted != index) {
            continue;
        }
        for (stats, op) in stats.by_op.iter().zip(["reads", "writes"]) {
            if stats.ios == 0 {
                continue;
            }
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{} {op}: {} operations", job.name, stats.ios);
            let _ = writeln!(text, "{:>9}  {:>9} {:<30}  {:>10} {:<30}", "from", "count", "", "total ms", "");
            let mut octaves: Vec<(u64, u64, u64)> = Vec::new();
            for bin in stats.bins.iter() {
                let octave = 1u64 << bin.lower_ns.max(1).ilog2();
                match octaves.last_mut() {
                    Some(last) if last.0 == octave => {
                        last.1 += bin.count;
                        last.2 += bin.total_ns;
                    }
                    _ => octaves.push((octave, bin.count, bin.total_ns)),
                }
            }
            for (octave, count, total_ns) in octaves {
                let _ = writeln!(
                    text,
                    "{:>9}  {:>9} {:<30}  {:>10} {:<30}",
                    show(octave),
                    count,
                    bar(count, stats.ios),
                    total_ns / 1_000_000,
                    bar(total_ns, stats.total_ns)
                );
            }
            text.push('\n');
        }
    }
    Ok(text)
}
