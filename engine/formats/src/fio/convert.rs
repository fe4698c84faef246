//! From sections to jobs of a scenario.

use super::draft::Draft;
use super::ini::Section;
use super::jobs::Jobs;
use super::notes::Notes;
use super::{FioJobs, JOBS_MAX};
use seeklab_spec::{Problem, Problems};

/// Converts the sections of the file `main`; `problems` are those of its form.
pub(super) fn convert(main: &str, sections: &[Section], problems: Problems) -> Result<FioJobs, Problems> {
    let mut notes = Notes::default();
    for problem in problems {
        notes.add(|| problem);
    }
    let mut defaults = Draft::default();
    let mut global_options = Vec::new();
    let mut drafts = Vec::new();
    for section in sections {
        if section.is_global() {
            if section.name != "global" {
                notes.warnings.push(format!(
                    "{}: [{}] sets defaults, because fio takes every name that starts with global for [global].",
                    section.place, section.name
                ));
            }
            defaults.read(section, "global", &mut notes);
            global_options.append(&mut defaults.own);
        } else {
            if section.name.eq_ignore_ascii_case("global") {
                notes
                    .warnings
                    .push(format!("{}: [{}] is a job, because fio knows [global] in lower case only.", section.place, section.name));
            }
            let mut draft = defaults.clone();
            draft.section.clone_from(&section.name);
            draft.name.clone_from(&section.name);
            draft.path = format!("{} [{}]", section.place, section.name);
            draft.read(section, &section.name, &mut notes);
            drafts.push(draft);
            if drafts.len() == JOBS_MAX {
                break;
            }
        }
    }
    if drafts.is_empty() {
        notes.problem(main, "the job file has no job; add a section such as [reader] after [global]");
    }
    let mut jobs = Jobs::default();
    for draft in &drafts {
        jobs.add(draft, &mut notes);
    }
    jobs.one_device(&mut notes);
    jobs.shared_names(&mut notes);
    if notes.hidden > 0 {
        notes.problems.push(Problem::new(main, format!("there are {} more problems; mend these first", notes.hidden)));
    }
    if notes.problems.is_empty() {
        Ok(FioJobs { jobs: jobs.list, ignored: notes.ignored, warnings: notes.warnings, global_options })
    } else {
        Err(notes.problems)
    }
}
