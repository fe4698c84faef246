//! A monitor that averages over windows of time, as dashboards and most agents do: for each window the bytes that completed in it
//! over its whole length, and the mean latency of what completed in it.
//!
//! Modelled: any width of window, and any phase, which is when windows begin. The monitor was there before the run and stays after
//! it, so a window at the edge counts in full. Rate and latency are averaged over different things: the rate over the window's
//! time, idle or not, the latency over the requests only. That is all it takes to show 80 ms and 17 MB/s at once, both true.
//! Where a burst falls relative to the windows decides what the monitor shows, so the metrics also sweep all phases.
//!
//! It reads the operation log; a scenario with a monitor keeps one. Left out: the work that a monitor itself makes, and windows
//! that are averaged again for older times.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::{chosen_job, count};
use seeklab_kernel::NS_PER_S;
use seeklab_model::result::columns::Take::{Real, Whole};
use seeklab_model::result::columns::{Table, Tables};
use seeklab_model::result::metrics::{Metrics, Unit, each};
use seeklab_model::stack::Stack;
use seeklab_spec::monitor::{MonitorSpec, too_long};
use seeklab_spec::{Nanos, Problem, Problems};

/// Most windows of one answer.
const MAX_WINDOWS: u64 = 100_000;
const MIB: f64 = 1_048_576.0;
const BUSIEST_IOPS: &str = "Operations per second in the busiest window, as the monitor shows them.";
const EMPTY: &str = "Windows without completions, between the first completion and the last.";

/// The contents of one window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Window {
    /// Requests that completed in it.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Sum of their latencies.
    pub latency_ns: u64,
}

#[allow(clippy::cast_precision_loss)] // counts and nanoseconds stay below 2^53
impl Window {
    fn mib_per_s(&self, width_ns: u64) -> f64 {
        self.bytes as f64 / MIB / (width_ns.max(1) as f64 / NS_PER_S as f64)
    }
    fn latency_ms(&self) -> f64 {
        if self.ios == 0 { 0.0 } else { self.latency_ns as f64 / self.ios as f64 / 1e6 }
    }
}

/// Completions in order of time, with running sums, so that any window is two look-ups: O(log n).
pub struct Completions {
    done_ns: Vec<u64>,
    /// Sums before each completion and after the last.
    sums: Vec<Window>,
}

impl Completions {
    /// From (completion, latency, bytes), in order of completion.
    pub fn new(rows: impl Iterator<Item = (u64, u64, u64)>) -> Self {
        let mut all = Self { done_ns: Vec::new(), sums: vec![Window::default()] };
        let mut sum = Window::default();
        for (done_ns, latency_ns, bytes) in rows {
            sum = Window { ios: sum.ios + 1, bytes: sum.bytes + bytes, latency_ns: sum.latency_ns + latency_ns };
            all.done_ns.push(done_ns);
            all.sums.push(sum);
        }
        all
    }

    fn of(stack: &Stack, job: Option<usize>) -> Self {
        let Some(log) = &stack.recorder().log else { return Self::new(std::iter::empty()) };
        let rows = log.latencies().enumerate().filter(|(row, _)| job.is_none_or(|job| usize::from(log.job[*row]) == job));
        Self::new(rows.map(|(row, latency_ns)| (log.submit_ns[row] + latency_ns, latency_ns, u64::from(log.bytes[row]))))
    }

    /// Return the operations that completed from `from_ns` to before `to_ns`.
    #[must_use]
    pub fn window(&self, from_ns: u64, to_ns: u64) -> Window {
        let place = |ns: u64| self.done_ns.partition_point(|done_ns| *done_ns < ns);
        let (from, to) = (self.sums[place(from_ns)], self.sums[place(to_ns)]);
        Window { ios: to.ios - from.ios, bytes: to.bytes - from.bytes, latency_ns: to.latency_ns - from.latency_ns }
    }

    fn all(&self) -> Window {
        self.sums.last().copied().unwrap_or_default()
    }

    /// Windows of `width_ns`, beginning at `phase_ns`, that lie between those of the first and the last completion and hold none.
    fn empty(&self, width_ns: u64, phase_ns: u64) -> u64 {
        let windows_between = |pair: &[u64]| {
            let ends = end_of_window(pair[1], width_ns, phase_ns) - end_of_window(pair[0], width_ns, phase_ns);
            (ends / width_ns).saturating_sub(1)
        };
        self.done_ns.windows(2).map(windows_between).sum()
    }

    /// The two windows that hold most bytes, the fuller first, when windows of `width_ns` begin at `phase_ns`.
    fn fullest(&self, width_ns: u64, phase_ns: u64) -> [Window; 2] {
        let mut best = [Window::default(); 2];
        let mut row = 0;
        while let Some(done_ns) = self.done_ns.get(row) {
            let end_ns = end_of_window(*done_ns, width_ns, phase_ns);
            let window = self.window(end_ns.saturating_sub(width_ns), end_ns);
            if window.bytes > best[0].bytes {
                best = [window, best[0]];
            } else if window.bytes > best[1].bytes {
                best[1] = window;
            }
            row = self.done_ns.partition_point(|done_ns| *done_ns < end_ns);
        }
        best
    }
}

/// The end of the window that holds a moment.
fn end_of_window(moment_ns: u64, width_ns: u64, phase_ns: u64) -> u64 {
    let phase_ns = phase_ns % width_ns;
    if moment_ns < phase_ns { phase_ns } else { ((moment_ns - phase_ns) / width_ns + 1) * width_ns + phase_ns }
}

/// The monitor's settings: those of the scenario, with the options that a reader changes afterwards.
struct Asked {
    window: Nanos,
    phase: Nanos,
    span: Nanos,
    job: Option<usize>,
}

fn time(options: &Map<String, Value>, name: &str) -> Result<Option<Nanos>, Problems> {
    let wrong = |value: &Value| vec![Problem::new(name, format!("{value} is not {}", Nanos::ACCEPTED))];
    match options.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Nanos::parse(text).map(Some).ok_or_else(|| wrong(&Value::String(text.clone()))),
        Some(value) => value.as_u64().map(|ns| Some(Nanos(ns))).ok_or_else(|| wrong(value)),
    }
}

fn asked(stack: &Stack, options: &Map<String, Value>) -> Result<Asked, Problems> {
    let spec = stack.scenario().monitor.as_ref();
    let window = time(options, "window")?
        .or(spec.map(|spec| spec.window))
        .ok_or_else(|| vec![Problem::new("window", "is missing; write the time that one point covers, such as 20s")])?;
    let phase = time(options, "phase")?.or(spec.map(|spec| spec.phase)).unwrap_or_default();
    let span = Nanos(spec.map_or(0, |spec| spec.span.0).max(stack.now_ns()).max(1));
    let named = chosen_job(stack, options)?;
    let watched = spec.and_then(|spec| spec.job.as_ref());
    let job = named.or_else(|| stack.scenario().jobs.iter().position(|job| Some(&job.name) == watched));
    if window.0 == 0 {
        return Err(vec![Problem::new("window", "is 0; write a time such as 20s")]);
    }
    if window > span {
        return Err(vec![too_long("window", window, span)]);
    }
    if span.0 / window.0 > MAX_WINDOWS {
        return Err(vec![Problem::new(
            "window",
            format!("{window} splits {span} into more than {MAX_WINDOWS} windows; write a longer one"),
        )]);
    }
    if stack.recorder().log.is_none() {
        return Err(vec![Problem::new(
            "record.log",
            "is false, but a monitor with another window needs the operation log; set it to true",
        )]);
    }
    Ok(Asked { window, phase, span, job })
}

/// Windows one after the other, each with its start, which lies before 0 when the first one began before the run.
#[allow(clippy::cast_precision_loss)] // nanoseconds below 2^53
fn rows(stack: &Stack, asked: &Asked) -> Vec<(f64, Window)> {
    let completions = Completions::of(stack, asked.job);
    let width_ns = asked.window.0;
    let mut rows = Vec::new();
    let mut end_ns = end_of_window(0, width_ns, asked.phase.0);
    loop {
        rows.push((end_ns as f64 - width_ns as f64, completions.window(end_ns.saturating_sub(width_ns), end_ns)));
        if end_ns >= asked.span.0 {
            return rows;
        }
        end_ns += width_ns;
    }
}

/// A row for each window that the scenario's monitor shows, with its start and its end.
const MONITOR: Table<([f64; 2], Window)> = Table::new(
    "monitor",
    &[
        ("from_ns", Real(|row| row.0[0])),
        ("to_ns", Real(|row| row.0[1])),
        ("ios", Whole(|row| row.1.ios)),
        ("bytes", Whole(|row| row.1.bytes)),
        ("latency_mean_ms", Real(|row| row.1.latency_ms())),
    ],
);

/// Reports those windows; none without a monitor, or when its window is longer than the run.
pub fn tables(stack: Option<&Stack>, tables: &mut Tables) {
    let watched = stack.filter(|stack| stack.scenario().monitor.is_some());
    let windows = watched.into_iter().filter_map(|stack| Some((stack, asked(stack, &Map::new()).ok()?)));
    #[allow(clippy::cast_precision_loss)] // nanoseconds below 2^53
    let windows = windows.flat_map(|(stack, asked)| {
        let width_ns = asked.window.0 as f64;
        rows(stack, &asked).into_iter().map(move |(from_ns, window)| ([from_ns, from_ns + width_ns], window))
    });
    tables.table(&MONITOR, windows);
}

/// The windows as a table; `{"window"?, "phase"?, "job"?, "limit"?}`.
///
/// # Errors
/// When an option is not understood, or the window is longer than what was watched.
pub fn print(stack: &Stack, options: &Map<String, Value>) -> Result<String, Problems> {
    let asked = asked(stack, options)?;
    let limit = count(options, "limit", 200)?;
    let rows = rows(stack, &asked);
    let mut text = format!("window {}, begins at {}\n", asked.window, Nanos(asked.phase.0 % asked.window.0));
    let _ = writeln!(text, "{:>12} {:>10} {:>12} {:>14}", "from s", "IOPS", "MiB/s", "latency ms"); // writing to a string cannot fail
    let seconds = {
        #[allow(clippy::cast_precision_loss)] // nanoseconds below 2^53
        let ns = asked.window.0 as f64;
        ns / 1e9
    };
    for (from_ns, window) in rows.iter().take(usize::try_from(limit).unwrap_or(usize::MAX)) {
        #[allow(clippy::cast_precision_loss)] // a number of requests
        let iops = window.ios as f64 / seconds;
        let latency = if window.ios == 0 { "-".to_owned() } else { format!("{:.2}", window.latency_ms()) };
        let _ = writeln!(text, "{:>12.3} {iops:>10.2} {:>12.2} {latency:>14}", from_ns / 1e9, window.mib_per_s(asked.window.0));
    }
    Ok(text)
}

/// The same windows as JSON.
///
/// # Errors
/// As of [`print()`].
pub fn json(stack: &Stack, options: &Map<String, Value>) -> Result<String, Problems> {
    let asked = asked(stack, options)?;
    let windows: Vec<Value> = rows(stack, &asked)
        .iter()
        .map(|(from_ns, window)| {
            json!({
                "from_ns": from_ns,
                "ios": window.ios,
                "bytes": window.bytes,
                "mib_per_s": window.mib_per_s(asked.window.0),
                "latency_mean_ms": if window.ios == 0 { Value::Null } else { window.latency_ms().into() },
            })
        })
        .collect();
    Ok(json!({"window_ns": asked.window.0, "phase_ns": asked.phase.0 % asked.window.0, "span_ns": asked.span.0, "windows": windows})
        .to_string())
}

/// Reports what the scenario's monitor shows, and what it would show at any other phase; nothing when its window is longer than
/// the run.
#[allow(clippy::cast_precision_loss)] // counts and nanoseconds stay below 2^53
pub fn metrics(stack: &Stack, spec: &MonitorSpec, metrics: &mut Metrics) {
    let Ok(asked) = asked(stack, &Map::new()) else { return };
    let completions = Completions::of(stack, asked.job);
    let width_ns = asked.window.0;
    let truth = completions.all();
    let [busiest, next] = completions.fullest(width_ns, asked.phase.0);
    metrics.add(
        "monitor_busiest_mib_per_s",
        "Rate in the busiest window, as the monitor shows it.",
        Unit::MibPerS,
        busiest.mib_per_s(width_ns),
    );
    metrics.add(
        "monitor_busiest_mb_per_s",
        "Rate in the busiest window, as the monitor shows it, in MB/s.",
        Unit::MbPerS,
        busiest.mib_per_s(width_ns) * MIB / 1e6,
    );
    metrics.add("monitor_busiest_iops", BUSIEST_IOPS, Unit::PerSecond, busiest.ios as f64 / (width_ns as f64 / NS_PER_S as f64));
    metrics.add("monitor_busiest_latency_mean_ms", "Mean latency in the busiest window.", Unit::Milliseconds, busiest.latency_ms());
    metrics.add("monitor_next_mib_per_s", "Rate in the window with the second most bytes.", Unit::MibPerS, next.mib_per_s(width_ns));
    metrics.add(
        "monitor_next_latency_mean_ms",
        "Mean latency in the window with the second most bytes.",
        Unit::Milliseconds,
        next.latency_ms(),
    );
    metrics.bytes("monitor_two_windows_bytes", "Bytes of the two busiest windows.", busiest.bytes + next.bytes);
    metrics.count("monitor_empty_windows", EMPTY, completions.empty(width_ns, asked.phase.0));
    let watched = stack.recorder().jobs.iter().enumerate().filter(|(job, _)| asked.job.is_none_or(|wanted| wanted == *job));
    let deepest: u32 = watched.map(|(_, stats)| stats.most_in_flight).sum();
    // What a reader works out who knows the queue depth and believes the latency, but not the rate.
    let each_mib = if busiest.ios == 0 { 0.0 } else { busiest.bytes as f64 / busiest.ios as f64 / MIB };
    let latency_s = busiest.latency_ms() / 1e3;
    metrics.add(
        "monitor_little_mib_per_s",
        "Rate by Little's law, from the queue depth and the shown latency.",
        Unit::MibPerS,
        each(f64::from(deepest) * each_mib, latency_s),
    );

    let (mut least, mut most, mut max_next, mut min_sum, mut split) = (f64::INFINITY, 0.0f64, 0.0f64, u64::MAX, 0u32);
    let mut latencies = [f64::INFINITY, 0.0f64];
    let mut off_percent = 0.0f64;
    for nth in 0..spec.phases {
        let phase_ns = u64::try_from(u128::from(width_ns) * u128::from(nth) / u128::from(spec.phases)).unwrap_or(0); // below the window
        let [busiest, next] = completions.fullest(width_ns, phase_ns);
        let rate = busiest.mib_per_s(width_ns);
        (least, most, max_next) = (least.min(rate), most.max(rate), max_next.max(next.mib_per_s(width_ns)));
        min_sum = min_sum.min(busiest.bytes + next.bytes);
        split += u32::from(next.ios > 0);
        latencies = [latencies[0].min(busiest.latency_ms()), latencies[1].max(busiest.latency_ms())];
        let both = Window { ios: busiest.ios + next.ios, bytes: 0, latency_ns: busiest.latency_ns + next.latency_ns };
        let off = (both.latency_ms() / truth.latency_ms() - 1.0).abs() * 100.0;
        off_percent = off_percent.max(if truth.ios == 0 { 0.0 } else { off });
    }
    metrics.add(
        "monitor_sweep_busiest_min_mib_per_s",
        "Minimum rate of the busiest window, over all phases of the windows.",
        Unit::MibPerS,
        least,
    );
    metrics.add(
        "monitor_sweep_busiest_max_mib_per_s",
        "Maximum rate of the busiest window, over all phases of the windows.",
        Unit::MibPerS,
        most,
    );
    metrics.add(
        "monitor_sweep_next_max_mib_per_s",
        "Maximum rate of the second window, over all phases of the windows.",
        Unit::MibPerS,
        max_next,
    );
    metrics.bytes(
        "monitor_sweep_two_windows_min_bytes",
        "Minimum bytes of the two busiest windows, over all phases of the windows.",
        min_sum,
    );
    metrics.add(
        "monitor_sweep_busiest_latency_min_ms",
        "Minimum mean latency of the busiest window, over all phases of the windows.",
        Unit::Milliseconds,
        latencies[0],
    );
    metrics.add(
        "monitor_sweep_busiest_latency_max_ms",
        "Maximum mean latency of the busiest window, over all phases of the windows.",
        Unit::Milliseconds,
        latencies[1],
    );
    metrics.percent(
        "monitor_sweep_latency_off_percent",
        "Maximum difference between the mean latency of the two busiest windows and of the run, over all phases.",
        off_percent,
    );
    metrics.percent(
        "monitor_sweep_split_share_percent",
        "Share of phases where the run spans more than one window.",
        100.0 * f64::from(split) / f64::from(spec.phases),
    );
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const S: u64 = NS_PER_S;

    #[test]
    fn a_window_counts_what_completed_from_its_start_to_before_its_end() {
        let completions = Completions::new([(S, 1, 10), (2 * S, 3, 20), (3 * S, 5, 40)].into_iter());
        assert_eq!(completions.window(S, 3 * S), Window { ios: 2, bytes: 30, latency_ns: 4 });
        assert_eq!(completions.window(0, S), Window::default());
    }

    #[test]
    fn a_burst_that_falls_into_one_window_or_two_is_found_there() {
        let completions = Completions::new((0..10).map(|nth| (30 * S + nth * S / 10, 7, 100)));
        let [busiest, next] = completions.fullest(20 * S, 0);
        assert_eq!((busiest.bytes, next.bytes), (1000, 0));
        let [busiest, next] = completions.fullest(20 * S, 10 * S + S / 5);
        assert_eq!((busiest.bytes, next.bytes), (800, 200));
    }

    #[test]
    fn windows_without_a_completion_are_counted_at_any_phase() {
        // Nothing from 20.6 to 22.014 s: the second from 21 to 22 is empty, but none of those that begin half a second later.
        let completions =
            Completions::new([19 * S, 20 * S, 20 * S + 600_000_000, 22 * S + 14_000_000, 23 * S].into_iter().map(|ns| (ns, 1, 1)));
        assert_eq!((completions.empty(S, 0), completions.empty(S, S / 2), completions.empty(10 * S, 0)), (1, 0, 0));
        assert_eq!(completions.empty(S / 10, 0), 9 + 5 + 13 + 9);
    }

    #[test]
    fn the_first_window_began_before_the_run() {
        assert_eq!(end_of_window(0, 20, 5), 5);
        assert_eq!(end_of_window(5, 20, 5), 25);
        assert_eq!(end_of_window(24, 20, 45), 25);
    }

    proptest! {
        #[test]
        fn windows_of_any_width_and_phase_hold_every_byte_once(
            mut done in proptest::collection::vec(0u64..1000, 0..50), width in 1u64..400, phase in 0u64..1000,
        ) {
            done.sort_unstable();
            let completions = Completions::new(done.iter().map(|ns| (*ns, 1, 3)));
            let (mut bytes, mut end_ns) = (0, end_of_window(0, width, phase));
            loop {
                bytes += completions.window(end_ns.saturating_sub(width), end_ns).bytes;
                if end_ns >= 1000 { break }
                end_ns += width;
            }
            prop_assert_eq!(bytes, 3 * done.len() as u64);
        }
    }
}
