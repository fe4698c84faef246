//! fio's command line, as people paste it: `sudo fio --name=read --rw=randread --bs 4k`, with quotes, and over several lines.
//!
//! As in fio 3.33: options before the first `--name` are defaults, `--name=global` sets defaults too, an option has one dash or two,
//! its value follows `=` or a blank, and the beginning of a name is enough if no other option begins so. Options beside job files are
//! defaults of the jobs in the files. A shell script is read from its first fio command on; what follows the command (a pipe, a
//! redirection, another command) is not read. Variables of the shell become variables of a job file.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::ini::{self, Place, Section, Setting};
use super::{Ignored, options, values};
use seeklab_spec::{Problem, Problems};

/// Job options that stand without a value.
const FLAGS: [&str; 23] = [
    "bs_unaligned",
    "blocksize_unaligned",
    "exitall",
    "exitall_on_error",
    "time_based",
    "verify_only",
    "norandommap",
    "stonewall",
    "wait_for_previous",
    "new_group",
    "group_reporting",
    "thread",
    "zero_buffers",
    "refill_buffers",
    "hipri",
    "fixedbufs",
    "registerfiles",
    "sqthread_poll",
    "userspace_reap",
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
/// Options of fio itself that are read here.
const READ_HERE: [&str; 3] = ["minimal", "output-format", "section"];
/// Variables of fio itself, which a shell would leave alone in single quotes.
const OF_FIO: [&str; 7] = ["jobname", "jobnum", "filenum", "clientuid", "pagesize", "mb_memory", "ncpus"];
const PROGRAM: &str = "fio";
/// Words of a line before the command's name, such as `sudo`.
const WORDS_BEFORE: usize = 12;
/// Why they have no effect.
const OWN: &str = "it is about fio's process and its output, not about the storage";

/// A command line, understood.
#[derive(Default)]
pub(super) struct CommandLine {
    /// The sections of each job file, and those of the line itself.
    pub(super) files: Vec<Vec<Section>>,
    pub(super) problems: Problems,
    pub(super) ignored: Vec<Ignored>,
    pub(super) warnings: Vec<String>,
    pub(super) output_format: Option<String>,
}

/// Whether a text is a command line, or a shell script with one, rather than a job file.
pub(super) fn is_command(text: &str) -> bool {
    let typed = typed(text);
    let is_section = |line: &str| line.strip_prefix('[').is_some_and(|name| !name.starts_with(['[', ' ']) && name.contains(']'));
    !text.lines().any(|line| is_section(line.trim())) && start(&typed).is_some()
}

/// Dashes and quotes into which word processors and blogs turn typed ones.
const DASHES: [char; 5] = ['\u{2010}', '\u{2011}', '\u{2013}', '\u{2014}', '\u{2212}'];
const QUOTES: [char; 2] = ['\u{2018}', '\u{2019}'];
const DOUBLE_QUOTES: [char; 2] = ['\u{201c}', '\u{201d}'];

/// A text as it was typed: a typographic dash at the start of a word stands for two dashes, and quotes are straight.
fn typed(text: &str) -> Cow<'_, str> {
    if !text.contains(|letter| DASHES.contains(&letter) || QUOTES.contains(&letter) || DOUBLE_QUOTES.contains(&letter)) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut starts_word = true;
    while let Some(letter) = letters.next() {
        match letter {
            dash if starts_word && DASHES.contains(&dash) => {
                while letters.next_if(|next| *next == '-' || DASHES.contains(next)).is_some() {}
                plain.push_str("--");
            }
            quote if QUOTES.contains(&quote) => plain.push('\''),
            quote if DOUBLE_QUOTES.contains(&quote) => plain.push('"'),
            other => plain.push(other),
        }
        starts_word = letter.is_whitespace();
    }
    Cow::Owned(plain)
}

/// Where the first fio command of a text begins: at its options, or at the name of fio.
fn start(text: &str) -> Option<usize> {
    let is_option = |line: &str| line.starts_with('-') && line[1..].starts_with(|c: char| c == '-' || c.is_ascii_alphabetic());
    let mut lines = text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    });
    let mut is_first = true;
    lines.find_map(|(at, line)| {
        let content = line.trim_start_matches('\u{feff}').trim();
        let found = fio_in(content).or_else(|| (is_first && is_option(content)).then_some(0));
        is_first &= content.is_empty() || content.starts_with([';', '#']);
        found.map(|place| at + line.find(content).unwrap_or(0) + place)
    })
}

/// Where a line of a shell names fio and runs it; a comment only if it is a prompt such as `# fio --name=reader`.
fn fio_in(line: &str) -> Option<usize> {
    let mut words = line.split_whitespace();
    let program = words.by_ref().take(WORDS_BEFORE).find(|word| is_program(word))?;
    let has_arguments = words.next().is_some_and(|word| word.starts_with(['-', '$']) || word == "\\" || word.contains('.'));
    let is_comment = line.starts_with('#') && !line.trim_start_matches(['#', ' ']).starts_with("fio ");
    let place = line.find(program)? + program.len() - PROGRAM.len();
    (has_arguments && !line.starts_with([';', '[']) && !is_comment).then_some(place)
}

fn is_program(word: &str) -> bool {
    word.rsplit(['/', '(', '`']).next() == Some(PROGRAM)
}

/// A shell's reader of words.
struct Shell<'a> {
    letters: std::iter::Peekable<std::str::Chars<'a>>,
    words: Vec<String>,
    word: Option<String>,
}

/// The words of the first command of a text, without quotes, as a shell splits them, and the text behind it.
fn words(text: &str) -> Result<(Vec<String>, String), &'static str> {
    let mut shell = Shell { letters: text.chars().peekable(), words: Vec::new(), word: None };
    while let Some(letter) = shell.letters.next() {
        match letter {
            '\'' | '"' => shell.quoted(letter)?,
            '$' => shell.variable(),
            '\\' => match shell.letters.next() {
                Some('\r') => {
                    shell.letters.next_if_eq(&'\n');
                }
                Some('\n') | None => {}
                Some(escaped) => shell.push(escaped),
            },
            '#' if shell.word.is_none() => while shell.letters.next_if(|letter| *letter != '\n').is_some() {},
            '\n' | ';' | '|' | '&' | '>' | '<' | ')' | '`' => {
                // The number of a stream, as in `2>&1`.
                if letter == '>' {
                    shell.word.take_if(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
                }
                let started = shell.ends_word();
                // Lines of options without backslashes between them belong together.
                let goes_on = letter == '\n' && shell.letters.clone().find(|letter| !letter.is_whitespace()) == Some('-');
                if started && !goes_on {
                    return Ok((shell.words, shell.letters.collect()));
                }
            }
            blank if blank.is_whitespace() => {
                shell.ends_word();
            }
            other => shell.push(other),
        }
    }
    shell.ends_word();
    Ok((shell.words, String::new()))
}

impl Shell<'_> {
    fn push(&mut self, letter: char) {
        self.word.get_or_insert_default().push(letter);
    }

    /// Ends a word; returns whether the command has started.
    fn ends_word(&mut self) -> bool {
        self.words.extend(self.word.take());
        self.words.iter().any(|word| is_program(word) || word.starts_with('-'))
    }

    /// Reads a quoted part of a word.
    fn quoted(&mut self, quote: char) -> Result<(), &'static str> {
        self.word.get_or_insert_default();
        loop {
            match self.letters.next() {
                None => return Err("a quote is not closed"),
                Some(end) if end == quote => return Ok(()),
                Some('$') if quote == '"' => self.variable(),
                Some('\\') if quote == '"' => match self.letters.next() {
                    Some('\n') => {}
                    Some(escaped @ ('"' | '\\' | '$' | '`')) => self.push(escaped),
                    Some(other) => self.word.get_or_insert_default().extend(['\\', other]),
                    None => return Err("a quote is not closed"),
                },
                Some(inside) => self.push(inside),
            }
        }
    }

    /// Reads what follows a `$`: a variable is written as in a job file, and a command in brackets stays as it is.
    fn variable(&mut self) {
        let word = self.word.get_or_insert_default();
        word.push('$');
        if let Some(open) = self.letters.next_if(|letter| ['(', '{'].contains(letter)) {
            let close = if open == '(' { ')' } else { '}' };
            word.push(open);
            for inside in self.letters.by_ref() {
                word.push(inside);
                if inside == close {
                    break;
                }
            }
            return;
        }
        let mut name = String::new();
        let is_digit = self.letters.peek().is_some_and(char::is_ascii_digit);
        while let Some(letter) = self.letters.next_if(|letter| letter.is_ascii_alphanumeric() || *letter == '_') {
            name.push(letter);
            if is_digit {
                break;
            }
        }
        if name.is_empty() || OF_FIO.contains(&name.as_str()) {
            word.push_str(&name);
        } else {
            word.push('{');
            word.push_str(&name);
            word.push('}');
        }
    }
}

/// The words, with those that are a variable alone replaced by the words that it stands for.
fn expanded(
    words: impl Iterator<Item = String>,
    main: &str,
    environment: &BTreeMap<String, String>,
    problems: &mut Problems,
) -> Vec<String> {
    let mut all = Vec::new();
    for word in words {
        if !(word.starts_with("${") && word.find('}') == Some(word.len() - 1)) {
            all.push(word);
            continue;
        }
        match values::known_here(&word, environment) {
            Ok(found) => all.extend(found.split_whitespace().map(str::to_owned)),
            Err(problem) => problems.push(Problem::new(main, problem)),
        }
    }
    all
}

/// The option that `written` is, or is the beginning of, as in fio.
fn whole_name(written: &str) -> &str {
    let all = || ["name"].into_iter().chain(READ_HERE).chain(OWN_FLAGS).chain(OWN_VALUES).chain(options::names());
    if all().any(|name| name == written) {
        return written;
    }
    let mut longer = all().filter(|name| name.starts_with(written));
    match (longer.next(), longer.next()) {
        (Some(only), None) => only,
        _ => written,
    }
}

/// Reads the command line `text` of the file `main`; `files` has the job files that it names. Fails when there is nothing to continue
/// with, also when a job file is missing.
pub(super) fn read(
    files: &BTreeMap<String, String>,
    main: &str,
    text: &str,
    environment: &BTreeMap<String, String>,
) -> Result<CommandLine, Problems> {
    if let Some(problem) = ini::unreadable(main, text) {
        return Err(vec![problem]);
    }
    let text = typed(text);
    let (words, behind) = words(&text[start(&text).unwrap_or(0)..])
        .map_err(|what| vec![Problem::new(main, format!("{what}; close it, or write the options as a job file"))])?;
    let place = Place { file: Rc::from(main), line: 1 };
    let start = words.iter().position(|word| is_program(word)).map_or(0, |program| program + 1);
    let mut line = CommandLine::default();
    let mut words = expanded(words.into_iter().skip(start), main, environment, &mut line.problems).into_iter().peekable();
    let more = behind.lines().filter(|line| fio_in(line.trim()).is_some()).count();
    if more > 0 {
        line.warnings.push(format!("{main}: the first fio command is run; {more} more follow, pass each in a separate file."));
    }
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
        let name = whole_name(name);
        let is_flag = OWN_FLAGS.contains(&name);
        if value.is_none() && !FLAGS.contains(&name) && !is_flag {
            value = words.next_if(|next| !next.starts_with('-'));
        }
        match (name, &value) {
            ("name", Some(job)) => match values::known_here(job, environment) {
                Ok(job) => sections.push(section(&job)),
                Err(problem) => line.problems.push(Problem::new(format!("{main} --name"), problem)),
            },
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
