//! The operation log as text: one line for each operation, with what it found in memory and where its time went.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::{chosen_job, count};
use seeklab_model::kernel::{NO_DEVICE, Phase};
use seeklab_model::stack::Stack;
use seeklab_spec::Op;
use seeklab_spec::{Problem, Problems};

/// Prints up to `limit` (default 40) operations from the `skip`-th on, of `job` only when it is given.
///
/// # Errors
/// When an option is not understood, or the run kept no log.
pub fn print(stack: &Stack, options: &Map<String, Value>) -> Result<String, Problems> {
    let (skip, limit) = (count(options, "skip", 0)?, count(options, "limit", 40)?);
    let Some(log) = &stack.recorder().log else {
        return Err(vec![Problem::new("record.log", "is false, so this run kept no operation log; set it to true")]);
    };
    let jobs: Vec<&str> = stack.scenario().jobs.iter().map(|job| job.name.as_str()).collect();
    let wanted = chosen_job(stack, options)?;
    let mut text = format!(
        "{:>10}  {:<10} {:<5} {:>12} {:>9} {:>9} {:>9} {:>10}  {:<7} {}\n",
        "time ms", "job", "op", "offset", "bytes", "in RAM", "missed", "latency ms", "last on", "where the time went (ms)"
    );
    let mut shown = 0;
    let mut matching = 0u64;
    for (row, phases) in log.phases().enumerate() {
        let job = usize::from(log.job[row]);
        if wanted.is_some_and(|wanted| wanted != job) {
            continue;
        }
        matching += 1;
        if matching <= skip || shown >= limit {
            continue;
        }
        shown += 1;
        let device = log.device[row];
        let parts: Vec<String> = Phase::ALL
            .iter()
            .filter(|phase| phases[**phase as usize] > 0)
            .map(|phase| format!("{} {}", phase.name(), ms(phases[*phase as usize], 2)))
            .collect();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:>10}  {:<10} {:<5} {:>12} {:>9} {:>9} {:>9} {:>10}  {:<7} {}",
            ms(log.submit_ns[row], 2),
            jobs[job],
            if log.op[row] == Op::Read { "read" } else { "write" },
            log.offset[row],
            log.bytes[row],
            log.cached[row],
            log.missed[row],
            ms(phases.iter().sum(), 3),
            if device == NO_DEVICE { "-" } else { &stack.device_names()[usize::from(device)] },
            parts.join(", ")
        );
    }
    let _ = writeln!(text, "{shown} of {matching} operations");
    Ok(text)
}

/// Nanoseconds as milliseconds with a number of decimals (rounded down).
fn ms(ns: u64, decimals: u32) -> String {
    let scale = 10u64.pow(6 - decimals);
    let width = decimals as usize;
    format!("{}.{:0width$}", ns / 1_000_000, ns % 1_000_000 / scale)
}
