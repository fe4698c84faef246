//! nexosim on two queues that the engine is measured with.
//!
//! Usage: `bench-nexosim one-queue DEPTH SERVICE_NS` and `bench-nexosim m-m-1 GAP_NS SERVICE_NS`. Prints one JSON object, as
//! the other benchmarks do. Single-threaded, which is fastest here: one event is due at a time.

mod m_m_1;
mod one_queue;

const REPEATS: u32 = 3;

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
            let wall_s = (0..REPEATS)
                .map(|_| one_queue::measure(first, second))
                .fold(f64::INFINITY, f64::min);
            let (events, requests) = (one_queue::EVENTS, one_queue::REQUESTS);
            format!(r#"{{"wall_s": {wall_s}, "events": {events}, "requests": {requests}}}"#)
        }
        "m-m-1" => {
            // Each repeat draws the same numbers and so has the same mean.
            let (wall_s, mean_ms) = (0..REPEATS)
                .map(|_| m_m_1::measure(first, second))
                .fold((f64::INFINITY, 0.0), |fastest, (wall_s, mean_ms)| {
                    (wall_s.min(fastest.0), mean_ms)
                });
            let (events, requests) = (m_m_1::EVENTS, m_m_1::CUSTOMERS);
            format!(
                r#"{{"wall_s": {wall_s}, "events": {events}, "requests": {requests}, "latency_mean_ms": {mean_ms}}}"#
            )
        }
        _ => panic!("no queue is called {name}"),
    };
    println!("{row}");
}
