//! nexosim on two queues that the engine is measured with.
//!
//! Usage: `bench-nexosim one-queue DEPTH SERVICE_NS` and `bench-nexosim m-m-1 GAP_NS SERVICE_NS`. Prints one JSON object, as
//! the other benchmarks do. Single-threaded, which is fastest here: one event is due at a time.

mod m_m_1;
mod one_queue;

use std::time::Instant;

/// As in seeklab-bench: repeats go on for so long, and the fastest counts.
const REPEATED_FOR_S: f64 = 3.0;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [name, first, second] = &words[..] else {
        panic!(
            "usage: bench-nexosim one-queue DEPTH SERVICE_NS, or bench-nexosim m-m-1 GAP_NS SERVICE_NS"
        )
    };
    let number = |word: &String| word.parse::<u64>().expect("a number");
    let (first, second) = (number(first), number(second));
    let row = match name.as_str() {
        "one-queue" => {
            let (wall_s, ()) = fastest(|| (one_queue::measure(first, second), ()));
            let (events, requests) = (one_queue::EVENTS, one_queue::REQUESTS);
            format!(r#"{{"wall_s": {wall_s}, "events": {events}, "requests": {requests}}}"#)
        }
        "m-m-1" => {
            // Each repeat draws the same numbers and so has the same mean.
            let (wall_s, mean_ms) = fastest(|| m_m_1::measure(first, second));
            let (events, requests) = (m_m_1::EVENTS, m_m_1::CUSTOMERS);
            format!(
                r#"{{"wall_s": {wall_s}, "events": {events}, "requests": {requests}, "latency_mean_ms": {mean_ms}}}"#
            )
        }
        _ => panic!("no queue is called {name}"),
    };
    println!("{row}");
}

/// The shortest wall time of the repeats, and what the run gave that took it.
fn fastest<T>(mut measure: impl FnMut() -> (f64, T)) -> (f64, T) {
    let begun = Instant::now();
    let mut best = measure();
    while begun.elapsed().as_secs_f64() < REPEATED_FOR_S {
        let next = measure();
        if next.0 < best.0 {
            best = next;
        }
    }
    best
}
