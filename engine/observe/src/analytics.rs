//! The server's own analytics: what it did, beside what the clients saw, interval by interval, by client or by device.
//!
//! Columns: start of the interval; operations, MiB and mean time in the server; the cores' share; the same of the clients' view,
//! whose times have the network in them; the busiest device. With `by` the rows are clients or devices.

use seeklab_spec::to_f64;
use serde_json::{Map, Value};
use std::fmt::Write;

use seeklab_kernel::NS_PER_S;
use seeklab_model::result::analytics::{Analytics, Row, Served};
use seeklab_model::stack::Stack;
use seeklab_spec::{Problem, Problems};

const MIB: f64 = 1_048_576.0;

fn sum(rows: &[Row], of: u32) -> Served {
    let mut all = Served::default();
    for row in rows.iter().filter(|row| row.of == of) {
        all.ios += row.did.ios;
        all.bytes += row.did.bytes;
        all.total_ns += row.did.total_ns;
    }
    all
}

/// Operations a second, MiB a second, mean milliseconds.
fn rates(did: Served, seconds: f64) -> String {
    let mean_ms = if did.ios == 0 { 0.0 } else { to_f64(did.total_ns) / to_f64(did.ios) / 1e6 };
    format!("{:>9.0} {:>8.1} {:>8.3}", to_f64(did.ios) / seconds, to_f64(did.bytes) / MIB / seconds, mean_ms)
}

/// Work is counted when it ends: an interval could show a little more than all of its time.
fn percent(busy: f64, time: f64) -> f64 {
    (100.0 * busy / time).min(100.0)
}

fn by(stack: &Stack, analytics: &Analytics, of: u32) -> String {
    let mut text = String::new();
    let (title, time) = if of == 2 { ("device", "% busy") } else { ("client", "ms") };
    let _ = writeln!(text, "{:>8} {title:<12} {:>9} {:>8} {time:>8}", "s", "ops/s", "MiB/s");
    for row in analytics.rows().filter(|row| row.of == of && row.did.ios > 0) {
        let seconds = to_f64(row.width_ns) / to_f64(NS_PER_S);
        let index = usize::try_from(row.who).unwrap_or(usize::MAX);
        let name = stack.device_names().get(index).filter(|_| of == 2).cloned().unwrap_or_else(|| row.who.to_string());
        let last = if of == 2 {
            format!(
                "{:>9.0} {:>8.1} {:>8.1}",
                to_f64(row.did.ios) / seconds,
                to_f64(row.did.bytes) / MIB / seconds,
                percent(to_f64(row.did.total_ns), to_f64(row.width_ns))
            )
        } else {
            rates(row.did, seconds)
        };
        let _ = writeln!(text, "{:>8.3} {name:<12} {last}", to_f64(row.time_ns) / to_f64(NS_PER_S));
    }
    text
}

/// Prints the analytics of a run that kept them; `by` is `time` (the default), `client` or `device`.
///
/// # Errors
/// When the run kept none, or `by` is something else.
pub fn print(stack: &Stack, options: &Map<String, Value>) -> Result<String, Problems> {
    let Some(analytics) = stack.analytics() else {
        return Err(vec![Problem::new("record.analytics", "is false, so the server kept no analytics; set it to true")]);
    };
    match options.get("by").and_then(Value::as_str).unwrap_or("time") {
        "time" => {}
        "client" => return Ok(by(stack, analytics, 0)),
        "device" => return Ok(by(stack, analytics, 2)),
        other => return Err(vec![Problem::unknown("by", "breakdown", other, ["time", "client", "device"])]),
    }
    let mut text = String::new();
    let _ = writeln!(text, "{:>8}  {:^27}  {:>6}  {:^27}  {:>13}", "", "the server", "cores", "its clients", "busiest");
    let heads = format!("{:>9} {:>8} {:>8}", "ops/s", "MiB/s", "ms");
    let _ = writeln!(text, "{:>8}  {heads}  {:>6}  {heads}  {:>13}", "s", "%", "device, %");
    let rows: Vec<Row> = analytics.rows().collect();
    let hz = stack.server().map_or(0.0, seeklab_model::layers::server::Server::cycles_per_s);
    for [time_ns, width_ns, cycles] in analytics.cores() {
        let seconds = to_f64(width_ns) / to_f64(NS_PER_S);
        let from = rows.partition_point(|row| row.time_ns < time_ns);
        let to = rows.partition_point(|row| row.time_ns <= time_ns);
        let here = &rows[from..to];
        let busy = here.iter().filter(|row| row.of == 2).map(|row| row.did.total_ns).max().unwrap_or(0);
        let cores = if hz > 0.0 { percent(to_f64(cycles) / hz, seconds) } else { 0.0 };
        let (server, clients) = (rates(sum(here, 0), seconds), rates(sum(here, 1), seconds));
        let busiest = percent(to_f64(busy), to_f64(width_ns));
        let _ = writeln!(text, "{:>8.3}  {server}  {cores:>6.1}  {clients}  {busiest:>13.1}", to_f64(time_ns) / to_f64(NS_PER_S));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::print as print_tool;
    use seeklab_model::read;
    use seeklab_spec::Presets;
    use seeklab_spec::testing::assert_problems;

    fn run(analytics: bool) -> Stack {
        let document = json!({
            "jobs": [{"name": "a", "rw": "randread", "bs": "8KiB", "size": "64MiB", "numjobs": 3, "norandommap": true, "number_ios": 100},
                {"name": "b", "rw": "write", "bs": "64KiB", "size": "4MiB"}],
            "network": {"bits_per_s": 1_000_000_000, "round_trip": "200us"},
            "server": {"cores": 2, "hz": 1_000_000_000, "request_cycles": 20_000},
            "devices": [{"count": 2, "lun": {"rate": "100MB", "latency": "1ms"}}],
            "record": {"analytics": analytics, "interval": "7ms"},
        });
        let checked = read(&document, &Presets::default()).unwrap_or_else(|problems| panic!("{problems:?}"));
        let mut stack = Stack::new(checked, 1);
        while !stack.step(1 << 20).unwrap_or_else(|problem| panic!("{problem}")) {}
        stack
    }

    fn with(name: &str, value: &str) -> Map<String, Value> {
        Map::from_iter([(name.to_owned(), value.into())])
    }

    #[test]
    fn what_the_server_did_adds_up_to_what_clients_got_and_takes_less_time() {
        let stack = run(true);
        let rows: Vec<Row> = stack.analytics().expect("kept").rows().collect();
        let (served, seen, devices) = (sum(&rows, 0), sum(&rows, 1), sum(&rows, 2));
        assert_eq!((served.ios, served.bytes), (364, 300 * 8192 + (4 << 20)));
        assert_eq!((seen.ios, seen.bytes), (served.ios, served.bytes));
        // A round trip and the time on the links are the clients' alone.
        assert!(seen.total_ns > served.total_ns + 364 * 200_000, "{} {}", seen.total_ns, served.total_ns);
        let usage = stack.usage();
        assert_eq!(devices.bytes, usage.iter().flat_map(|usage| usage.bytes).sum::<u64>());
        assert_eq!(devices.total_ns, usage.iter().map(|usage| usage.busy_ns).sum::<u64>());
        let cores: Vec<[u64; 3]> = stack.analytics().expect("kept").cores().collect();
        assert_eq!(cores.iter().map(|row| row[2]).sum::<u64>(), 364 * 20_000);
        assert_eq!(cores.iter().map(|row| row[1]).sum::<u64>(), stack.now_ns());
        assert!(cores[..cores.len() - 1].iter().all(|row| row[1] == 7_000_000));
    }

    #[test]
    fn it_prints_a_line_for_each_interval_client_or_device() {
        let stack = run(true);
        let lines = |options: &Map<String, Value>| print_tool(&stack, "analytics", options).expect("a text").lines().count();
        let intervals = stack.analytics().expect("kept").cores().count();
        assert_eq!(lines(&Map::new()), intervals + 2);
        assert!(lines(&with("by", "client")) > intervals);
        assert!(print_tool(&stack, "analytics", &with("by", "device")).expect("a text").contains("disk1"));
    }

    #[test]
    fn a_run_without_them_and_a_breakdown_that_is_none_are_refused() {
        assert_problems(&print(&run(false), &Map::new()).expect_err("refused"), &["record.analytics: false, true"]);
        assert_problems(&print(&run(true), &with("by", "disk")).expect_err("refused"), &["by: disk, device"]);
    }
}
