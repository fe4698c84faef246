//! What `iostat -x` (sysstat) prints, over the whole run: averages from the devices' own counters and nothing else.
//!
//! Columns are computed as sysstat computes them: `r_await` is the time of reads from arrival to completion divided by their
//! number, `aqu-sz` the time of all requests divided by the interval, `%util` the share of time with at least one request in
//! service. It hides who asked, how long anyone waited above the device, and every latency but the mean.

use std::fmt::Write;

use crate::device::Usage;
use crate::stack::Stack;

#[allow(clippy::cast_precision_loss)] // counters stay below 2^53
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Prints one line for each device.
#[must_use]
pub fn print(stack: &Stack) -> String {
    let mut text = format!(
        "{:<10} {:>8} {:>10} {:>8} {:>9} {:>8} {:>10} {:>8} {:>9} {:>7} {:>6}\n",
        "Device", "r/s", "rkB/s", "r_await", "rareq-sz", "w/s", "wkB/s", "w_await", "wareq-sz", "aqu-sz", "%util"
    );
    for (name, usage) in stack.device_names().iter().zip(stack.usage()) {
        line(&mut text, name, &usage, stack.now_ns());
    }
    text
}

fn line(text: &mut String, name: &str, usage: &Usage, elapsed_ns: u64) {
    let per_s = |count: u64| ratio(count, elapsed_ns) * 1e9;
    // Writing to a string cannot fail.
    let _ = write!(text, "{name:<10}");
    for op in 0..2 {
        let _ = write!(
            text,
            " {:>8.2} {:>10.2} {:>8.2} {:>9.2}",
            per_s(usage.ios[op]),
            per_s(usage.bytes[op]) / 1024.0,
            ratio(usage.response_ns[op], usage.ios[op]) / 1e6,
            ratio(usage.bytes[op], usage.ios[op]) / 1024.0
        );
    }
    let queue = ratio(usage.response_ns.iter().sum(), elapsed_ns);
    let _ = writeln!(text, " {queue:>7.2} {:>6.2}", 100.0 * ratio(usage.busy_ns, elapsed_ns));
}
