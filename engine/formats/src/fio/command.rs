//! fio's command line, as people paste it: `sudo fio --name=read --rw=randread --bs 4k`, with quotes, and over several lines.
//!
//! As in fio 3.33: options before the first `--name` are defaults, `--name=global` sets defaults too, an option has one dash or two,
//! and its value follows `=` or a blank. Options beside job files are defaults of the jobs in the files. What follows the command
//! (a pipe, a redirection, another command) is not read.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Ignored;
use super::ini::{self, Place, Section, Setting};
use seeklab_spec::{Problem, Problems};

/// Job options that stand without a value.
const FLAGS: [&str; 13] = [
    "exitall",
    "time_based",
    "norandommap",
    "stonewall",
    "wait_for_previous",
    "new_group",
    "group_reporting",
    "thread",
    "threads",
    "write_lat_log",
    "write_bw_log",
    "write_iops_log",
    "write_hist_log",
];
/// Options of fio itself that have no value.
const OWN_FLAGS: [&str; 9] =
    ["minimal", "append-terse", "warnings-fatal", "readonly", "cpuclock-test", "showcmd", "parse-only", "bandwidth-log", "latency-log"];
/// Options of fio itself that have a value.
const OWN_VALUES: [&str; 19] = [
    "output",
    "eta",
    "eta-newline",
    "eta-interval",
    "status-interval",
    "terse-version",
    "max-jobs",
    "alloc-size",
    "allow-file-create",
    "idle-prof",
    "trigger-file",
    "trigger-timeout",
    "trigger",
    "aux-path",
    "debug",
    "client",
    "server",
    "remote-config",
    "daemonize",
];
/// Why they have no effect.
const OWN: &str = "it is about fio's process and its output, not about the storage";

/// A command line, understood.
#[derive(Default)]
pub(super) struct CommandLine {
    /// The sections of each job file, and those of the line itself.
    pub(super) files: Vec<Vec<Section>>,
    pub(super) problems: Problems,
    pub(super) ignored: Vec<Ignored>,
    pub(super) output_format: Option<String>,
}

/// Whether a text is a command line rather than a job file.
pub(super) fn is_command(text: &str) -> bool {
    let first =
        text.trim_start_matches('\u{feff}').lines().map(str::trim_start).find(|line| !line.is_empty() && !line.starts_with([';', '#']));
    let mut words = first.unwrap_or_default().split_whitespace();
    first.is_some_and(|line| line.starts_with('-') && line[1..].starts_with(|c: char| c == '-' || c.is_ascii_alphabetic()))
        || !first.unwrap_or_default().starts_with('[') && words.by_ref().take(6).any(is_program)
}

fn is_program(word: &str) -> bool {
    word == "fio" || word.ends_with("/fio")
}

/// The words of the first command of a text, without quotes, as a shell splits them.
fn words(text: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next() {
                        None => return Err("a quote is not closed"),
                        Some(end) if end == letter => break,
                        Some('\\') if letter == '"' => match letters.next() {
                            Some('\n') => {}
                            Some(escaped @ ('"' | '\\' | '$' | '`')) => word.push(escaped),
                            Some(other) => word.extend(['\\', other]),
                            None => return Err("a quote is not closed"),
                        },
                        Some(inside) => word.push(inside),
                    }
                }
            }
            '\\' => match letters.next() {
                Some('\r') => {
                    letters.next_if_eq(&'\n');
                }
                Some('\n') | None => {}
                Some(escaped) => word.get_or_insert_default().push(escaped),
            },
            '#' if word.is_none() => while letters.next_if(|letter| *letter != '\n').is_some() {},
            '\n' | ';' | '|' | '&' | '>' | '<' => {
                words.extend(word.take());
                let started = words.iter().any(|word: &String| is_program(word) || word.starts_with('-'));
                // Lines of options without backslashes between them belong together.
                let goes_on = letter == '\n' && letters.clone().find(|letter| !letter.is_whitespace()) == Some('-');
                if started && !goes_on {
                    return Ok(words);
                }
            }
            blank if blank.is_whitespace() => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Reads the command line `text` of the file `main`; `files` has the job files that it names. Fails when there is nothing to continue
/// with, also when a job file is missing.
pub(super) fn read(files: &BTreeMap<String, String>, main: &str, text: &str) -> Result<CommandLine, Problems> {
    if let Some(problem) = ini::unreadable(main, text) {
        return Err(vec![problem]);
    }
    let words = words(text).map_err(|what| vec![Problem::new(main, format!("{what}; close it, or write the options as a job file"))])?;
    let place = Place { file: Rc::from(main), line: 1 };
    let start = words.iter().position(|word| is_program(word)).map_or(0, |program| program + 1);
    let mut words = words.into_iter().skip(start).peekable();
    let mut line = CommandLine::default();
    let mut wanted = Vec::new();
    let mut job_files = Vec::new();
    let section = |name: &str| Section { name: name.to_owned(), place: place.clone(), settings: Vec::new() };
    let mut sections = vec![section("global")];
    while let Some(word) = words.next() {
        let Some(option) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')).filter(|option| !option.is_empty()) else {
            job_files.push(word);
            continue;
        };
        let (name, mut value) = option.split_once('=').map_or((option, None), |(name, value)| (name.trim_end(), Some(value.to_owned())));
        let is_flag = OWN_FLAGS.contains(&name);
        if value.is_none() && !FLAGS.contains(&name) && !is_flag {
            value = words.next_if(|next| !next.starts_with('-'));
        }
        match (name, &value) {
            ("name", Some(job)) => sections.push(section(job)),
            ("name", None) => line.problems.push(Problem::new(main, "--name has no value; write --name=reader")),
            ("minimal", _) => line.output_format = Some("terse".to_owned()),
            ("output-format", Some(format)) => line.output_format = Some(format.clone()),
            ("section", Some(name)) => wanted.push(name.clone()),
            _ => {
                if is_flag || OWN_VALUES.contains(&name) {
                    let (option, value) = (format!("--{name}"), value.unwrap_or_default());
                    line.ignored.push(Ignored { job: "command line".to_owned(), option, value, reason: OWN.to_owned() });
                } else if let Some(section) = sections.last_mut() {
                    section.settings.push(Setting { name: name.to_owned(), value, spaced: false, place: place.clone() });
                }
            }
        }
    }
    let has_jobs = sections.iter().any(|section| !section.is_global());
    if !has_jobs && job_files.is_empty() {
        return Err(vec![Problem::new(
            main,
            "the command line has no job; write --name=reader before the job's options, or name a job file",
        )]);
    }
    for file in &job_files {
        let (of_file, problems) = ini::read(files, file)?;
        line.problems.extend(problems);
        let of_file = of_file.into_iter().filter(|section| section.is_global() || wanted.is_empty() || wanted.contains(&section.name));
        line.files.push(sections.iter().take_while(|section| section.is_global()).cloned().chain(of_file).collect());
    }
    if has_jobs {
        line.files.push(sections);
    }
    Ok(line)
}
