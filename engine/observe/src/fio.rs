//! fio's part: job files become scenarios, and runs are reported as fio reports them, to people and as JSON.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use seeklab_formats::fio;
use seeklab_formats::fio::report::{DiskReport, JobReport, Latency, Steady, Target, WINDOW_NS};
use seeklab_formats::fio::{FioJob, FioJobs, Ignored, Logs, Reading, Report, Unified};
use seeklab_model::layers::device::ssd::simulated_bytes;
use seeklab_model::result::outcome::Failure;
use seeklab_model::result::{JobStats, SAMPLE_NS, Stats, WorkerStats};
use seeklab_model::stack::Stack;
use seeklab_spec::{Bytes, Extent, Job, Presets, Problem, Problems, Rw, Scenario};

/// Maximum simulated time of a run with a limit on operations; the maximum of any run.
const MAX_NS: u64 = 31_536_000_000_000_000;

const _: () = assert!(SAMPLE_NS == WINDOW_NS, "the recorder samples in fio's windows");

/// A job file as a scenario.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ParsedJobFile {
    /// The scenario, with presets and defaults filled in.
    pub scenario: Scenario,
    /// Options that make no difference here, each with the reason.
    pub ignored: Vec<Ignored>,
    /// Notes for the reader of the report, one sentence each.
    pub warnings: Vec<String>,
    /// The logs that each job must write, in the order of the scenario's jobs.
    pub logs: Vec<Logs>,
    /// Output format that a command line asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_format: Option<String>,
}

/// The job files of a call, and what is read besides.
struct Given<'a> {
    files: BTreeMap<String, String>,
    mains: Vec<&'a str>,
    reading: Reading,
}

impl Given<'_> {
    fn parse(&self) -> Result<FioJobs, Problems> {
        fio::parse_all(&self.files, &self.mains, &self.reading)
    }
}

fn given(input: &Map<String, Value>) -> Result<Given<'_>, Problems> {
    let files = input
        .get("files")
        .and_then(Value::as_object)
        .ok_or_else(|| vec![Problem::new("files", "is missing: an object of names and texts")])?;
    let names = |field: &str| match input.get(field) {
        Some(Value::String(name)) => vec![name.as_str()],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let mains = names("main");
    if mains.is_empty() {
        return Err(vec![Problem::new("main", "is missing: the name of the job file, or a list of names")]);
    }
    let text = |(name, text): (&String, &Value)| {
        text.as_str()
            .map(|text| (name.clone(), text.to_owned()))
            .ok_or_else(|| vec![Problem::new(format!("files.{name}"), "is not a string")])
    };
    let files = files.iter().map(text).collect::<Result<_, _>>()?;
    let variables = input.get("environment").and_then(Value::as_object).into_iter().flatten();
    let environment = variables.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect();
    let sections = names("sections").into_iter().map(str::to_owned).collect();
    Ok(Given { files, mains, reading: Reading { environment, sections } })
}

/// Translates the job files of `{"files", "main", "preset"}` into `{"scenario", "ignored", "warnings", "logs"}`. `main` is a name or a
/// list of them; `environment` has values of variables, `sections` names those to run, `system` stands for a preset of one's own, and
/// `operations` is the limit on operations.
///
/// # Errors
/// Everything that is wrong with the file, or with its jobs on that preset.
pub fn parse(input: &Map<String, Value>, presets: &Presets) -> Result<ParsedJobFile, Problems> {
    let mut system = match (input.get("system"), input.get("preset").and_then(Value::as_str)) {
        (Some(system), _) => system.clone(),
        (None, Some(name)) => presets.system(name)?,
        (None, None) => return Err(vec![Problem::new("preset", "is missing: the name of a device or a pool")]),
    };
    let mut jobs = given(input)?.parse()?;
    system["record"] = json!({"log": jobs.jobs.iter().any(|job| job.logs.is_any()), "workers": jobs.has_rows_of_workers()});
    if let Some(most) = input.get("operations").filter(|most| !most.is_null()) {
        system["limits"]["operations"] = most.clone();
        system["limits"]["time"] = json!(MAX_NS);
    }
    let mut document = fio::to_scenario(&jobs, system);
    shorten_trims(&mut document, &mut jobs, presets);
    let checked = seeklab_model::read(&document, presets).map_err(|problems| in_sections(problems, &jobs))?;
    let (scenario, _) = checked.into_parts();
    let logs = jobs.jobs.into_iter().map(|job| job.logs).collect();
    Ok(ParsedJobFile { scenario, ignored: jobs.ignored, warnings: jobs.warnings, logs, output_format: jobs.output_format })
}

/// Shortens the regions of jobs that trim for a time: only a part of a drive is simulated, and trims beyond it would fold back onto it.
fn shorten_trims(document: &mut Value, jobs: &mut FioJobs, presets: &Presets) {
    let trims = |job: &Value| job["rw"].as_str().is_some_and(|rw| rw.contains("trim")) && job["time_based"] == json!(true);
    let list = document["jobs"].as_array().map(Vec::as_slice).unwrap_or_default();
    let shortened: Vec<usize> = (0..list.len())
        .filter(|index| trims(&list[*index]) && list[*index]["size"].as_str().is_none_or(|size| size.ends_with('%')))
        .collect();
    if shortened.is_empty() {
        return;
    }
    let mut reading = document.clone();
    for index in &shortened {
        reading["jobs"][index]["rw"] = json!("randread");
    }
    let Ok(checked) = seeklab_model::read(&reading, presets) else { return }; // the problems are found again
    let drives = checked.scenario().devices.iter().filter_map(|group| group.ssd.as_ref());
    let Some(most) = drives.map(simulated_bytes).min() else { return };
    for index in shortened {
        let plan = &checked.scenario().jobs[index];
        let bs = plan.max_request_bytes().max(1);
        let whole = plan.size.map_or(u64::MAX, |size| size.of(checked.scenario().devices[0].ssd.as_ref().map_or(0, |ssd| ssd.capacity.0)));
        if whole > most && most >= bs {
            document["jobs"][index]["size"] = json!(most / bs * bs);
            jobs.warnings.push(format!(
                "[{}] trims the first {} of the drive again and again, because no more of it is simulated.",
                jobs.jobs[index].name,
                Bytes(most / bs * bs)
            ));
        }
    }
}

/// Names the section instead of the job's number: `jobs[0].size` becomes `[reader] size`.
fn in_sections(problems: Problems, jobs: &FioJobs) -> Problems {
    let rename = |mut problem: Problem| {
        let place = problem.path.strip_prefix("jobs[").and_then(|rest| rest.split_once("]."));
        let found = place.and_then(|(index, field)| Some((jobs.jobs.get(index.parse::<usize>().ok()?)?, field)));
        if let Some((job, field)) = found {
            problem.path = format!("[{}] {field}", job.name);
        }
        problem
    };
    problems.into_iter().map(rename).collect()
}

/// Return a scenario's job as a section of a job file.
fn section(index: usize, job: &Job) -> FioJob {
    let range = (job.min_request_bytes(), job.max_request_bytes());
    let rw = match job.rw {
        Rw::Read => "read",
        Rw::Write => "write",
        Rw::RandRead => "randread",
        Rw::RandWrite => "randwrite",
        Rw::ReadWrite => "rw",
        Rw::RandRw => "randrw",
        Rw::Trim => "trim",
        Rw::RandTrim => "randtrim",
        Rw::TrimWrite => "trimwrite",
        Rw::RandTrimWrite => "randtrimwrite",
        Rw::ClientCopy => "clientcopy",
        Rw::ServerCopy => "servercopy",
        Rw::OdxCopy => "odxcopy",
    };
    FioJob {
        name: job.name.clone(),
        description: None,
        scenario: Value::Null,
        options: Vec::new(),
        section: u32::try_from(index).unwrap_or(u32::MAX), // at most 256 jobs
        group: 0,
        group_reporting: false,
        workers: job.numjobs,
        rw: rw.to_owned(),
        block_bytes: [range; 3],
        ioengine: "libaio".to_owned(),
        iodepth: job.iodepth,
        kb_base: 1024,
        logs: Logs::default(),
        percentiles: [false, true],
        pages: None,
        percentile_list: Vec::new(),
        unified: Unified::Separate,
    }
}

/// The report on a run; `options` may name the job file that it was made from (`files` and `main`), whose own options are printed.
///
/// # Errors
/// When the job file is given and is not one, or has other jobs than the run.
pub fn report(stack: &Stack, options: &Map<String, Value>) -> Result<Report, Problems> {
    let jobs = if options.contains_key("files") {
        given(options)?.parse()?
    } else {
        let sections = stack.scenario().jobs.iter().enumerate().map(|(index, job)| section(index, job));
        FioJobs { jobs: sections.collect(), ..FioJobs::default() }
    };
    if jobs.jobs.len() != stack.scenario().jobs.len() {
        return Err(vec![Problem::new("files", "is not the job file that this run was made from")]);
    }
    let mut report = Report::of(&jobs, concat!("seeklab-", env!("CARGO_PKG_VERSION")));
    report.elapsed_ns = stack.now_ns();
    for ((job, stats), spec) in report.jobs.iter_mut().zip(&stack.recorder().jobs).zip(&stack.scenario().jobs) {
        searches(job, stats, spec);
        let runtime_ns = stats.end_ns.saturating_sub(stats.start_ns);
        job.job_runtime_ns = runtime_ns;
        job.depths = stats.depths;
        job.error = stats.error.map_or(0, Failure::errno);
        directions(job, stats.by_op.iter().map(Some), runtime_ns);
    }
    // A run of a case keeps no statistics of workers; its jobs have a row each.
    let workers = &stack.recorder().workers;
    if jobs.has_rows_of_workers() && !workers.is_empty() {
        report.jobs = rows_of_workers(report.jobs, workers);
    }
    let elapsed_ns = stack.now_ns();
    report.disks = stack.device_names().iter().zip(stack.usage()).map(|(name, usage)| disk(name, &usage, elapsed_ns)).collect();
    Ok(report)
}

/// Add the requests of each direction.
fn directions<'a>(job: &mut JobReport, by_op: impl Iterator<Item = Option<&'a Stats>>, runtime_ns: u64) {
    let pages = job.spec.pages;
    let bytes = |bytes: u64| pages.map_or(bytes, |pages| pages.asked(bytes));
    for (direction, stats) in [&mut job.read, &mut job.write, &mut job.trim].into_iter().zip(by_op) {
        if let Some(stats) = stats.filter(|stats| stats.ios > 0) {
            direction.io_bytes = bytes(stats.bytes);
            direction.total_ios = stats.ios;
            direction.runtime_ns = runtime_ns;
            direction.latency = latency(stats);
            let windows: Vec<(u64, u64)> = stats.samples.iter().map(|sample| (bytes(sample.bytes), sample.ios)).collect();
            direction.sample(trim(&windows));
        }
    }
}

/// Replace each job of several workers by a row for each, where jobs are not reported in groups. Depths and flushes are the job's.
fn rows_of_workers(jobs: Vec<JobReport>, workers: &[WorkerStats]) -> Vec<JobReport> {
    let mut workers = workers.iter();
    let mut rows = Vec::new();
    for job in jobs {
        let count = job.spec.workers;
        let of_job = workers.by_ref().take(count as usize);
        if count < 2 || job.spec.group_reporting {
            of_job.for_each(drop);
            rows.push(job);
            continue;
        }
        for stats in of_job {
            let mut row = job.clone();
            let runtime_ns = stats.end_ns.saturating_sub(stats.start_ns);
            (row.spec.workers, row.job_runtime_ns, row.syncs) = (1, runtime_ns, job.syncs / u64::from(count));
            (row.read, row.write, row.trim) = Default::default();
            directions(&mut row, stats.by_op.iter().map(|stats| (stats.ios > 0).then_some(stats)), runtime_ns);
            rows.push(row);
        }
    }
    rows
}

/// Add the results of a job's searches, and its flushes.
fn searches(job: &mut JobReport, stats: &JobStats, spec: &Job) {
    let us = |ns: u64| ns / 1_000;
    job.target = spec.latency_target.map(|target| Target {
        target_ns: target.target.0,
        window_us: us(target.window.0),
        percent: target.percent,
        depth: stats.latency_depth,
    });
    job.steady = spec.steadystate.zip(stats.steady.as_ref()).map(|(steady, found)| Steady {
        criterion: format!(
            "{}:{:.6}%",
            serde_json::to_value(steady.of).ok().as_ref().and_then(Value::as_str).unwrap_or_default(),
            steady.percent
        ),
        duration_s: steady.duration.0 / 1_000_000_000,
        attained: found.attained,
        value_percent: found.criterion_percent,
        max_deviation: found.max_deviation,
        slope: found.slope,
        iops: found.iops.clone(),
        bw: found.bw.clone(),
    });
    job.zone_resets = stats.zone_resets;
    job.syncs = syncs(stats, spec);
}

/// The flushes that fio counts: those of `fsync` alone. A flush follows so many writes when fio looks for another request after it,
/// which it also does where fewer bytes are left than a request has.
fn syncs(stats: &JobStats, spec: &Job) -> u64 {
    let workers = u64::from(spec.numjobs);
    let writes = stats.by_op[1].ios / workers;
    let done: u64 = stats.by_op.iter().map(|of| of.bytes).sum::<u64>() / workers;
    let asked = spec.io_size.map(|size| size.0).or(match spec.size {
        Some(Extent::Bytes(size)) => Some(size),
        _ => None,
    });
    let ios = stats.by_op.iter().map(|of| of.ios).sum::<u64>() / workers;
    let ended = asked.is_none_or(|asked| done >= asked) || spec.number_ios.is_some_and(|most| ios >= most);
    spec.fsync.map_or(0, |every| (writes - u64::from(ended && writes > 0)) / u64::from(every)) * workers
}

/// The windows from the first to the last in which the job completed anything.
fn trim(windows: &[(u64, u64)]) -> &[(u64, u64)] {
    let first = windows.iter().position(|window| window.1 > 0).unwrap_or(windows.len());
    let last = windows.iter().rposition(|window| window.1 > 0).map_or(first, |last| last + 1);
    &windows[first..last]
}

#[allow(clippy::cast_precision_loss)] // nanoseconds and counts stay below 2^53
fn latency(stats: &Stats) -> Latency {
    let mean_ns = stats.total_ns as f64 / stats.ios as f64;
    let counts = stats.latency.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect();
    Latency {
        min_ns: stats.min_ns,
        max_ns: stats.max_ns,
        mean_ns,
        stddev_ns: libm::sqrt((stats.squares / stats.ios as f64 - mean_ns * mean_ns).max(0.0)),
        counts,
    }
}

#[allow(clippy::cast_precision_loss)] // nanoseconds stay below 2^53
fn disk(name: &str, usage: &seeklab_model::layers::device::Usage, elapsed_ns: u64) -> DiskReport {
    let ms = |ns: u64| ns / 1_000_000;
    DiskReport {
        name: name.to_owned(),
        ios: usage.ios,
        merges: [0, 0],
        ticks_ms: usage.response_ns.map(ms),
        in_queue_ms: ms(usage.response_ns.iter().sum()),
        util_percent: 100.0 * usage.busy_ns as f64 / elapsed_ns.max(1) as f64,
    }
}
