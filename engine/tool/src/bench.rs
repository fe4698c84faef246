//! `seeklab-bench [once] FILE.json` and `seeklab-bench cache TRACE.csv POLICY SIZE`: how fast the engine runs natively.
//!
//! The file holds what opens a run; the trace is read before the clock starts. Prints one JSON object; `scripts/bench.py` sets those of the other hosts beside it.
//! The run is repeated for some seconds, and the fastest time is reported: what disturbs a measurement only ever adds time, and a replay of
//! thirty milliseconds may be disturbed from its beginning to its end. With `once` it is not repeated, so that a tool can count its
//! instructions.

use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

use seeklab_api::Engine;
use seeklab_cache::ReplayPolicy;
use seeklab_cache::trace::Trace;
use seeklab_library::Library;
use serde_json::{Value, json};

/// Repeats of a run go on for so long; a run that is longer is steady enough by itself.
const REPEATED_FOR_S: f64 = 3.0;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let measured = match words[..] {
        ["cache", trace, policy, size] => measure_cache(trace, policy, size),
        ["once", path] => measure(path, 0.0),
        [path] => measure(path, REPEATED_FOR_S),
        _ => {
            eprintln!("usage: seeklab-bench [once] FILE.json\n       seeklab-bench cache TRACE.csv POLICY SIZE");
            return ExitCode::from(2);
        }
    };
    match measured {
        Ok(row) => {
            println!("{row}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("seeklab-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(path: &str, repeated_for_s: f64) -> Result<Value, Box<dyn Error>> {
    let input = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let library = Library::of_checkout().map_err(|problems| format!("{problems:?}"))?;
    let engine = Engine::new(library);
    let mut summary = Value::Null;
    let fastest_s = fastest_s(repeated_for_s, || -> Result<(), Box<dyn Error>> {
        let mut run = engine.open(&input).map_err(|envelope| format!("{path}: {envelope}"))?;
        while (0.0..1.0).contains(&run.step(u32::MAX)) {}
        summary = serde_json::from_str(&run.summary())?;
        Ok(())
    })?;
    let result = summary.get("ok").ok_or_else(|| format!("{path}: {summary}"))?;
    Ok(json!({
        "wall_s": fastest_s,
        "events": result["events"],
        "requests": requests(&result["metrics"]),
        "latency_mean_ms": latency_mean_ms(&result["metrics"]),
        "fingerprint": result["fingerprint"],
        "peak_mib": peak_mib(),
    }))
}

fn measure_cache(path: &str, policy: &str, size: &str) -> Result<Value, Box<dyn Error>> {
    let text = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    let trace = Trace::parse(&text).map_err(|problem| format!("{path}: {problem}"))?;
    let policy: ReplayPolicy = policy.parse()?;
    let size = size.parse()?;
    let mut hits = 0;
    let fastest_s = fastest_s(REPEATED_FOR_S, || -> Result<(), Box<dyn Error>> {
        hits = policy.replay(&trace, size).hits;
        Ok(())
    })?;
    Ok(json!({"wall_s": fastest_s, "events": trace.len(), "requests": trace.len(), "hits": hits, "peak_mib": peak_mib()}))
}

/// The shortest time that `run` takes.
fn fastest_s<E>(repeated_for_s: f64, mut run: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
    let mut fastest_s = f64::INFINITY;
    let begun = Instant::now();
    loop {
        let start = Instant::now();
        run()?;
        fastest_s = fastest_s.min(start.elapsed().as_secs_f64());
        if begun.elapsed().as_secs_f64() >= repeated_for_s {
            return Ok(fastest_s);
        }
    }
}

/// The metrics that count completed operations.
fn counts(metrics: &Value) -> impl Iterator<Item = (&str, f64)> {
    metrics
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| name.ends_with(".read_ios") || name.ends_with(".write_ios"))
        .filter_map(|(name, value)| Some((name.as_str(), value.as_f64()?)))
}

/// Completed operations, over all jobs.
fn requests(metrics: &Value) -> f64 {
    counts(metrics).map(|(_, count)| count).sum()
}

/// The mean latency, over all operations of all jobs.
fn latency_mean_ms(metrics: &Value) -> f64 {
    let total_ms: f64 = counts(metrics)
        .filter_map(|(name, count)| {
            let mean_ms = metrics[name.replace("_ios", "_latency_mean_ms").as_str()].as_f64()?;
            Some(count * mean_ms)
        })
        .sum();
    total_ms / requests(metrics)
}

/// The most memory that this process has held, where the system tells (Linux).
fn peak_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024.0)
}
