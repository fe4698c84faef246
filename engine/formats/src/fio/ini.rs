//! The outer form of a job file: sections, settings, comments and `include`.
//!
//! As fio 3.33 does: `;` and `#` start a comment anywhere in a line; an included file holds settings only, no sections; its name
//! is tried as written and then relative to the file that includes it.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use super::{FILE_BYTES_MAX, INCLUDES_MAX, JOBS_MAX};
use seeklab_spec::{Problem, Problems};

/// A line of a file, counted from 1.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) file: Rc<str>,
    pub(super) line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// `name`, or `name=value`.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) name: String,
    pub(super) value: Option<String>,
    /// Whether white space follows the `=`, which fio takes as part of the value.
    pub(super) spaced: bool,
    pub(super) place: Place,
}

/// A section with its settings, those of included files among them.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) settings: Vec<Setting>,
}

impl Section {
    /// Whether the section sets defaults for the jobs after it.
    pub(super) fn is_global(&self) -> bool {
        self.name.starts_with("global")
    }
}

/// Reads the sections of the file `main`, and what is wrong with its form. Fails when there is nothing to continue with.
pub(super) fn read(files: &BTreeMap<String, String>, main: &str) -> Result<(Vec<Section>, Problems), Problems> {
    let Some(text) = files.get(main) else {
        return Err(vec![missing(main, main, "this is the job file to run")]);
    };
    if let Some(problem) = unreadable(main, text) {
        return Err(vec![problem]);
    }
    let mut reader = Reader { files, sections: Vec::new(), problems: Vec::new(), includes: 0, jobs: 0 };
    reader.file(main, text, &mut vec![main.to_owned()]).map_err(|missing| vec![missing])?;
    if reader.sections.is_empty() {
        return Err(vec![Problem::new(
            main,
            "this is not a fio job file: it has no [section]; write a line such as [reader], followed by options such as rw=read and size=1g",
        )]);
    }
    Ok((reader.sections, reader.problems))
}

fn missing(file: &str, written: &str, why: &str) -> Problem {
    Problem { path: "include".to_owned(), message: format!("the file \"{written}\" is missing; {why}"), nearest: Some(file.to_owned()) }
}

pub(super) fn unreadable(file: &str, text: &str) -> Option<Problem> {
    if text.len() > FILE_BYTES_MAX {
        return Some(Problem::new(file, format!("the file has {} bytes; the maximum for a job file is {FILE_BYTES_MAX}", text.len())));
    }
    let binary = text.chars().any(|c| c.is_control() && !c.is_whitespace());
    binary.then(|| {
        Problem::new(
            file,
            "this is not a fio job file: it contains control characters; a job file is plain text with [section] and option=value lines",
        )
    })
}

struct Reader<'a> {
    files: &'a BTreeMap<String, String>,
    sections: Vec<Section>,
    problems: Problems,
    includes: usize,
    jobs: usize,
}

impl Reader<'_> {
    /// Reads a file; `open` lists it and the files that include it. Fails only when a file to include is missing.
    fn file(&mut self, name: &str, text: &str, open: &mut Vec<String>) -> Result<(), Problem> {
        let file: Rc<str> = name.into();
        let included = open.len() > 1;
        for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = line.split([';', '#']).next().unwrap_or_default().trim();
            let place = Place { file: Rc::clone(&file), line: index.saturating_add(1) };
            if line.is_empty() {
                continue;
            }
            if let Some(rest) = line.strip_prefix('[') {
                if included {
                    self.problems.push(Problem::new(
                        place.to_string(),
                        format!("the section \"{line}\" is in an included file, where fio allows only options; move it to the job file"),
                    ));
                } else {
                    self.section(rest, place);
                }
            } else if let Some(target) = line.strip_prefix("include").filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '='])) {
                self.include(target, &place, open)?;
            } else {
                self.setting(line, place);
            }
        }
        Ok(())
    }

    fn section(&mut self, rest: &str, place: Place) {
        let (name, after) = rest.rsplit_once(']').map_or((rest, None), |(name, after)| (name, Some(after.trim())));
        let name = name.trim();
        let problem = match after {
            None => Some("the section has no closing bracket; write [name]".to_owned()),
            Some("") if name.is_empty() => Some("the section has no name; write [name]".to_owned()),
            Some("") => None,
            Some(after) => Some(format!("\"{after}\" follows the section's name; put it on a separate line")),
        };
        // A section with a bad name is kept, so that what stands in it is checked under it.
        let section = Section { name: name.to_owned(), place, settings: Vec::new() };
        self.problems.extend(problem.map(|problem| Problem::new(section.place.to_string(), problem)));
        if !section.is_global() {
            self.jobs += 1;
            if self.jobs == JOBS_MAX + 1 {
                self.problems.push(Problem::new(
                    section.place.to_string(),
                    format!("this job exceeds the maximum of {JOBS_MAX} jobs in a file; split the file"),
                ));
            }
        }
        self.sections.push(section);
    }

    fn setting(&mut self, line: &str, place: Place) {
        let (name, value) = line.split_once('=').map_or((line, None), |(name, value)| (name.trim_end(), Some(value)));
        let Some(section) = self.sections.last_mut() else {
            self.problems.push(Problem::new(
                place.to_string(),
                format!("\"{name}\" is before the first [section]; put it below [global] or a job's name"),
            ));
            return;
        };
        section.settings.push(Setting {
            name: name.to_owned(),
            value: value.map(|value| value.trim().to_owned()),
            spaced: value.is_some_and(|value| value.starts_with(char::is_whitespace)),
            place,
        });
    }

    fn include(&mut self, target: &str, place: &Place, open: &mut Vec<String>) -> Result<(), Problem> {
        let written = target.trim();
        let problem = if written.is_empty() || target.starts_with('=') {
            Some("include takes a file name after a space; write include other.fio".to_owned())
        } else if self.sections.is_empty() {
            Some(format!("\"include {written}\" is before the first [section]; put it below [global] or a job's name"))
        } else if self.includes >= INCLUDES_MAX {
            Some(format!("this file exceeds the maximum of {INCLUDES_MAX} included files"))
        } else {
            None
        };
        if let Some(message) = problem {
            self.problems.push(Problem::new(place.to_string(), message));
            return Ok(());
        }
        self.includes += 1;
        let beside = place
            .file
            .rfind(['/', '\\'])
            .and_then(|end| place.file.get(..=end))
            .map_or(written.to_owned(), |folder| format!("{folder}{written}"));
        let files = self.files;
        let found = [written, &beside].into_iter().find_map(|name| Some((name, files.get(name)?)));
        let Some((name, text)) = found else {
            return Err(missing(&beside, written, &format!("{place} includes it")));
        };
        if open.iter().any(|open| open == name) {
            self.problems.push(Problem::new(place.to_string(), format!("\"{written}\" includes itself: {} -> {name}", open.join(" -> "))));
            return Ok(());
        }
        if let Some(problem) = unreadable(name, text) {
            self.problems.push(problem);
            return Ok(());
        }
        open.push(name.to_owned());
        let result = self.file(name, text, open);
        open.pop();
        result
    }
}
