//! The output of Bonnie++ for its twelve tests: the report in the columns of version 1.03, in K/s and wide enough for six digits, and the line of comma-separated values of version
//! 2.00, which `bon_csv2txt` reads.
//!
//! A test is a job of its name. K/s is KiB of payload a second, and a chunk that is read and written counts once. %CP is the time
//! of the test's processes on a processor. As in Bonnie++ itself a test that took less than half a second prints plus signs.

use std::fmt::Write;

use seeklab_kernel::NS_PER_S;
use seeklab_model::result::limiter::payload_bytes;
use seeklab_model::stack::Stack;
use seeklab_spec::{Problem, Problems};

/// The names of the tests, in the order in which Bonnie++ runs them, as its columns are called.
pub const TESTS: [&str; 12] = [
    "putc",
    "put_block",
    "rewrite",
    "getc",
    "get_block",
    "seeks",
    "seq_create",
    "seq_stat",
    "seq_del",
    "ran_create",
    "ran_stat",
    "ran_del",
];
/// The first test whose results are operations and not K/s.
const SEEKS: usize = 5;
/// The first test that is about files' names.
const FILES: usize = 6;
/// Shorter tests have no result.
const MIN_NS: u64 = NS_PER_S / 2;
/// The units in which numbers of files are given.
const FILES_UNIT: u64 = 1024;

/// One test of a run.
struct Test {
    size_bytes: u64,
    ios: u64,
    /// Rate and %CP, or plus signs.
    columns: [String; 2],
    max_ns: u64,
}

/// The tests that a run has, by their number.
fn tests(stack: &Stack) -> Result<Vec<Option<Test>>, Problems> {
    let jobs = &stack.scenario().jobs;
    let found: Vec<Option<Test>> = TESTS
        .iter()
        .enumerate()
        .map(|(number, name)| {
            let index = jobs.iter().position(|job| job.name == *name)?;
            let job = &stack.recorder().jobs[index];
            let elapsed_ns = job.end_ns.saturating_sub(job.start_ns);
            let ios = if number == SEEKS { job.by_op[0].ios } else { job.by_op[0].ios.max(job.by_op[1].ios) };
            let amount = if number < SEEKS { payload_bytes(job) >> 10 } else { ios };
            let per_s = u128::from(amount) * u128::from(NS_PER_S) / u128::from(elapsed_ns.max(1));
            let cp = u128::from(stack.process_ns(index)) * 100 / u128::from(elapsed_ns.max(1));
            let columns = if elapsed_ns < MIN_NS { ["+++++".into(), "+++".into()] } else { [per_s.to_string(), cp.to_string()] };
            Some(Test {
                size_bytes: payload_bytes(job),
                ios,
                columns,
                max_ns: job.by_op.iter().map(|stats| stats.max_ns).max().unwrap_or(0),
            })
        })
        .collect();
    if found.iter().all(Option::is_none) {
        let message = format!("no job is a test of Bonnie++; the names of its tests are {}", TESTS.join(", "));
        return Err(vec![Problem::new("jobs", message)]);
    }
    Ok(found)
}

/// The size of the file set as Bonnie++ writes it.
fn size(tests: &[Option<Test>]) -> String {
    let bytes = tests[..SEEKS].iter().flatten().map(|test| test.size_bytes).max().unwrap_or(0);
    let mib = bytes >> 20;
    if mib > 0 && mib.is_multiple_of(1024) { format!("{}G", mib >> 10) } else { format!("{mib}M") }
}

/// The number of files, in units of 1024.
fn files(tests: &[Option<Test>]) -> u64 {
    tests[FILES..].iter().flatten().map(|test| test.ios / FILES_UNIT).max().unwrap_or(0)
}

fn columns(text: &mut String, tests: &[Option<Test>]) {
    for test in tests {
        let [rate, cp] = test.as_ref().map_or(["", ""], |test| [&test.columns[0], &test.columns[1]]);
        let _ = write!(text, " {rate:>6} {cp:>3}"); // writing to a string cannot fail
    }
    text.push('\n');
}

/// Prints the report.
///
/// # Errors
/// When no job is one of the tests.
pub fn print(stack: &Stack) -> Result<String, Problems> {
    let tests = tests(stack)?;
    let mut text = String::from(
        "Version  1.03       ------Sequential Output-------- --Sequential Input--- --Random-\n\
         \x20                   -Per Chr-- --Block--- -Rewrite-- -Per Chr-- --Block--- --Seeks---\n\
         Machine        Size   K/s %CP    K/s %CP    K/s %CP    K/s %CP    K/s %CP   /sec %CP\n",
    );
    let _ = write!(text, "{:<12} {:>6}", "client", size(&tests));
    columns(&mut text, &tests[..FILES]);
    text.push_str(
        "                    ------Sequential Create-------- ---------Random Create---------\n\
         \x20                   -Create--- --Stat---- -Delete--- -Create--- --Stat---- -Delete---\n\
         files:1024            /s %CP     /s %CP     /s %CP     /s %CP     /s %CP     /s %CP\n",
    );
    let _ = write!(text, "{:>19}", files(&tests));
    columns(&mut text, &tests[FILES..]);
    Ok(text)
}

/// A longest latency in the unit in which Bonnie++ writes it.
fn latency(ns: u64) -> String {
    match ns / 1000 {
        us @ 0..100_000 => format!("{us}us"),
        us @ 100_000..100_000_000 => format!("{}ms", us / 1000),
        us => format!("{}s", us / 1_000_000),
    }
}

/// Prints the comma-separated line.
///
/// # Errors
/// When no job is one of the tests.
pub fn csv(stack: &Stack) -> Result<String, Problems> {
    let tests = tests(stack)?;
    let row = |tests: &[Option<Test>]| {
        tests.iter().map(|test| test.as_ref().map_or_else(|| ",".to_owned(), |test| test.columns.join(","))).collect::<Vec<_>>().join(",")
    };
    let seeks = tests[SEEKS].as_ref().map_or(0, |test| test.ios);
    let seekers = stack.scenario().jobs.iter().find(|job| job.name == TESTS[SEEKS]).map_or(0, |job| job.numjobs);
    let latencies: Vec<String> = tests.iter().map(|test| test.as_ref().map_or_else(String::new, |test| latency(test.max_ns))).collect();
    Ok(format!(
        "1.98,2.00a,client,1,{},{},,{seeks},{seekers},{},{},,,,,{},{}\n",
        stack.seed(),
        size(&tests),
        row(&tests[..FILES]),
        files(&tests),
        row(&tests[FILES..]),
        latencies.join(",")
    ))
}
