//! From sections to jobs of a scenario.

use super::draft::Draft;
use super::ini::Section;
use super::jobs::Jobs;
use super::notes::Notes;
use super::{FioJobs, JOBS_MAX, Reading, values};
use seeklab_spec::problem::nearest;
use seeklab_spec::{Problem, Problems};

/// Converts the sections of the files `mains`; `problems` are those of their form.
pub(super) fn convert(mains: &[&str], files: &[Vec<Section>], problems: Problems, reading: &Reading) -> Result<FioJobs, Problems> {
    let main = mains.first().copied().unwrap_or_default();
    let mut notes = Notes { environment: reading.environment.clone(), ..Notes::default() };
    for problem in problems {
        notes.add(|| problem);
    }
    let settings = || files.iter().flatten().flat_map(|section| &section.settings);
    let refused = |engine: &str| values::refusal(engine).is_some();
    notes.has_foreign_engine = settings().any(|setting| setting.name == "ioengine" && setting.value.as_deref().is_some_and(refused));
    let mut global_options = Vec::new();
    let mut drafts = Vec::new();
    for (number, sections) in files.iter().enumerate() {
        let before = drafts.len();
        read_file(sections, reading, &mut global_options, &mut drafts, &mut notes);
        if let Some(first) = drafts.get_mut(before).filter(|_| number > 0) {
            first.stonewall = true;
        }
    }
    check_sections(main, files, reading, &mut notes);
    if drafts.is_empty() {
        notes.problem(main, "the job file contains no job; add a section such as [reader] after [global]");
    }
    let mut jobs = Jobs::default();
    for draft in &drafts {
        jobs.add(draft, &mut notes);
    }
    jobs.groups();
    jobs.one_device(&mut notes);
    jobs.shared_names(&mut notes);
    if notes.hidden > 0 {
        notes.problems.push(Problem::new(main, format!("{} more problems are not shown; fix these first", notes.hidden)));
    }
    if notes.problems.is_empty() {
        Ok(FioJobs { jobs: jobs.list, ignored: notes.ignored, warnings: notes.warnings, global_options, output_format: None })
    } else {
        Err(notes.problems)
    }
}

/// The sections that were asked for must be there.
fn check_sections(main: &str, files: &[Vec<Section>], reading: &Reading, notes: &mut Notes) {
    let names = || files.iter().flatten().filter(|section| !section.is_global()).map(|section| section.name.as_str());
    for wanted in reading.sections.iter().filter(|wanted| !names().any(|name| name == **wanted)) {
        let advice = nearest(wanted, names()).map_or(String::new(), |name| format!("; did you mean \"{name}\"?"));
        notes.problem(main, format!("there is no section [{wanted}]{advice}"));
    }
}

fn read_file(
    sections: &[Section],
    reading: &Reading,
    global_options: &mut Vec<(String, String)>,
    drafts: &mut Vec<Draft>,
    notes: &mut Notes,
) {
    let mut defaults = Draft::default();
    for section in sections {
        if !section.is_global() && !reading.sections.is_empty() && !reading.sections.contains(&section.name) {
            continue;
        }
        if section.is_global() {
            if section.name != "global" {
                notes.warnings.push(format!(
                    "{}: [{}] sets defaults, because in fio every name that starts with global means [global].",
                    section.place, section.name
                ));
            }
            defaults.read(section, "global", notes);
            global_options.append(&mut defaults.own);
        } else {
            if section.name.eq_ignore_ascii_case("global") {
                notes
                    .warnings
                    .push(format!("{}: [{}] is a job, because fio accepts [global] in lower case only.", section.place, section.name));
            }
            let mut draft = defaults.clone();
            draft.section.clone_from(&section.name);
            draft.name.clone_from(&section.name);
            draft.path = format!("{} [{}]", section.place, section.name);
            draft.read(section, &section.name, notes);
            drafts.push(draft);
            if drafts.len() == JOBS_MAX {
                break;
            }
        }
    }
}
