//! The jobs of a whole file: names, reporting groups, workers at different offsets, shared files.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::draft::Draft;
use super::notes::Notes;
use super::values::{extent_value, is_device};
use super::{FioJob, JOBS_MAX};
use seeklab_spec::Extent;
use seeklab_spec::problem::nearest;

/// Longest name of a job, as in a scenario.
const NAME_CHARS_MAX: usize = 64;

/// Where a job comes from.
struct Origin {
    /// Name of its section.
    section: String,
    /// Where the section begins.
    path: String,
    /// Where its `filename` was set.
    filename_path: String,
    /// Whether each worker became a job of its own.
    split: bool,
}

/// The jobs of the file so far.
#[derive(Default)]
pub(super) struct Jobs {
    pub(super) list: Vec<FioJob>,
    /// Where each job comes from.
    origins: Vec<Origin>,
    names: BTreeSet<String>,
    /// Formats of file names whose files other sections would share.
    formats: BTreeSet<String>,
    /// The name of the last job of each section name, and whether it has others beside it.
    last_of: BTreeMap<String, (String, bool)>,
    /// The size of each file that has been given one.
    sizes: BTreeMap<String, Value>,
    sections: u32,
    group: u32,
    group_used: bool,
}

impl Jobs {
    /// Adds the job, or jobs, of a section.
    pub(super) fn add(&mut self, draft: &Draft, notes: &mut Notes) {
        let file = draft.file();
        if let Some(format) = draft.shared_format()
            && !self.formats.insert(format.clone())
        {
            notes.problem(
                draft.place("filename_format"),
                format!(
                    "\"{format}\" makes workers of different jobs share files by number, which is not modelled; name the file with filename"
                ),
            );
        }
        let known_size = file.as_ref().and_then(|file| self.sizes.get(file));
        let mut fields = draft.scenario(file.as_deref(), known_size, notes);
        if let (Some(file), Some(size)) = (&file, fields.get("size")) {
            self.sizes.insert(file.clone(), size.clone());
        }
        self.waits(draft, &mut fields, notes);
        if (draft.stonewall || draft.new_group) && self.group_used {
            self.group = self.group.saturating_add(1);
        }
        self.group_used = true;
        let (offset, increment) = draft.start();
        let split = draft.numjobs > 1 && increment != Extent::Bytes(0);
        let (parts, workers) = if split { (draft.numjobs, 1) } else { (1, draft.numjobs) };
        if self.list.len().saturating_add(usize::try_from(parts).unwrap_or(usize::MAX)) > JOBS_MAX {
            let option = if split { "offset_increment" } else { "" };
            notes.problem(
                draft.place(option),
                format!(
                    "with this section the file exceeds {JOBS_MAX} jobs, because offset_increment turns each worker into a job; lower numjobs"
                ),
            );
            return;
        }
        for part in 0..parts {
            let name = if split { format!("{}.{part}", draft.name) } else { draft.name.clone() };
            let name = self.unique(&name);
            self.last_of.insert(draft.section.clone(), (name.clone(), parts > 1));
            if name.chars().count() > NAME_CHARS_MAX {
                notes.problem(&draft.path, format!("the name \"{name}\" has more than {NAME_CHARS_MAX} characters; shorten it"));
            }
            let mut scenario = Map::new();
            scenario.insert("name".to_owned(), json!(name));
            scenario.extend(fields.clone());
            match shifted(offset, increment, part) {
                Some(Extent::Bytes(0)) => {}
                Some(offset) => {
                    scenario.insert("offset".to_owned(), extent_value(offset));
                }
                None => {
                    notes.problem(draft.place("offset_increment"), format!("the offset of worker {part} cannot be computed; give offset and offset_increment both in bytes, or both in percent up to 100%"));
                    return;
                }
            }
            if workers > 1 {
                scenario.insert("numjobs".to_owned(), json!(workers));
            }
            if draft.stonewall && part == 0 {
                scenario.insert("stonewall".to_owned(), json!(true));
            }
            self.origins.push(Origin {
                section: draft.section.clone(),
                path: draft.path.clone(),
                filename_path: draft.place("filename").to_owned(),
                split,
            });
            self.list.push(self.report_fields(draft, Value::Object(scenario), workers));
        }
        self.sections = self.sections.saturating_add(1);
    }

    /// The job that a section waits for, by its name in the scenario.
    fn waits(&self, draft: &Draft, fields: &mut Map<String, Value>, notes: &mut Notes) {
        let Some(wanted) = &draft.mechanisms.wait_for else { return };
        match self.last_of.get(wanted) {
            Some((name, false)) => {
                fields.insert("wait_for".to_owned(), json!(name));
            }
            Some((_, true)) => {
                notes.problem(
                    draft.place("wait_for"),
                    format!("[{wanted}] has workers at different offsets, and waiting for them is not modelled; use stonewall"),
                );
            }
            None => {
                let advice = nearest(wanted, self.last_of.keys().map(String::as_str));
                let advice =
                    advice.map_or("write the name of a section before this one".to_owned(), |name| format!("did you mean \"{name}\"?"));
                notes.problem(draft.place("wait_for"), format!("there is no section [{wanted}] before this one; {advice}"));
            }
        }
    }

    fn report_fields(&self, draft: &Draft, scenario: Value, workers: u64) -> FioJob {
        FioJob {
            name: draft.name.clone(),
            description: draft.description.clone(),
            scenario,
            options: draft.own.clone(),
            section: self.sections,
            group: self.group,
            group_reporting: draft.group_reporting,
            workers: u32::try_from(workers).unwrap_or(u32::MAX),
            rw: draft.pattern.printed.to_owned(),
            block_bytes: draft.blocks(),
            ioengine: draft.ioengine.clone(),
            iodepth: u32::try_from(draft.iodepth).unwrap_or(u32::MAX),
            kb_base: u32::try_from(draft.kb_base).unwrap_or(1024),
            logs: draft.logs.clone(),
            pages: draft.pages(),
            percentile_list: draft.percentile_list.clone(),
            unified: draft.unified,
            percentiles: [draft.lat_percentiles, draft.clat_percentiles],
        }
    }

    fn unique(&mut self, name: &str) -> String {
        let mut candidate = name.to_owned();
        let mut number = 2u32;
        while !self.names.insert(candidate.clone()) {
            candidate = format!("{name}-{number}");
            number = number.saturating_add(1);
        }
        candidate
    }

    /// Where a job that ends stops its group, each job says which group it is of.
    pub(super) fn groups(&mut self) {
        if !self.list.iter().any(|job| job.scenario.get("exitall").is_some()) {
            return;
        }
        for job in self.list.iter_mut().filter(|job| job.group > 0) {
            if let Some(fields) = job.scenario.as_object_mut() {
                fields.insert("group".to_owned(), json!(job.group));
            }
        }
    }

    /// All device files stand for the one modelled system.
    pub(super) fn one_device(&mut self, notes: &mut Notes) {
        let mut first: Option<String> = None;
        for (job, origin) in self.list.iter_mut().zip(&self.origins) {
            let Some(name) = job.scenario.get("filename").and_then(Value::as_str).filter(|name| is_device(name)).map(str::to_owned) else {
                continue;
            };
            match &first {
                None => first = Some(name),
                Some(first) if *first != name => {
                    notes.warnings.push(format!("{}: {name} and {first} are the same modelled storage.", origin.filename_path));
                    if let Some(fields) = job.scenario.as_object_mut() {
                        fields.insert("filename".to_owned(), json!(first));
                    }
                }
                Some(_) => {}
            }
        }
    }

    /// Sections of one name use the same file, `<name>.0.0`, when they name none.
    pub(super) fn shared_names(&mut self, notes: &mut Notes) {
        let mut sections: BTreeMap<&str, Vec<u32>> = BTreeMap::default();
        for (job, origin) in self.list.iter().zip(&self.origins) {
            let numbers = sections.entry(&origin.section).or_default();
            if !numbers.contains(&job.section) {
                numbers.push(job.section);
            }
        }
        for (job, origin) in self.list.iter_mut().zip(&self.origins) {
            let alone = sections.get(origin.section.as_str()).is_none_or(|sections| sections.len() < 2);
            let Some(fields) = job.scenario.as_object_mut().filter(|fields| !alone && !fields.contains_key("filename")) else { continue };
            if job.workers > 1 || origin.split {
                notes.problem(
                    &origin.path,
                    "another section has the same name, so their workers would share files, which is not modelled; rename one or give each a filename",
                );
            } else {
                fields.insert("filename".to_owned(), json!(format!("{}.0.0", origin.section)));
            }
        }
    }
}

/// `offset + part * increment`, when both have the same unit and the sum is in range.
fn shifted(offset: Extent, increment: Extent, part: u64) -> Option<Extent> {
    match (offset, increment) {
        (offset, Extent::Bytes(0)) => Some(offset),
        (offset, _) if part == 0 => Some(offset),
        (Extent::Bytes(offset), Extent::Bytes(step)) => step.checked_mul(part)?.checked_add(offset).map(Extent::Bytes),
        (Extent::Bytes(0), Extent::Percent(step)) => percent(0.0, step, part),
        (Extent::Percent(offset), Extent::Percent(step)) => percent(offset, step, part),
        _ => None,
    }
}

fn percent(offset: f64, step: f64, part: u64) -> Option<Extent> {
    let sum = offset + step * f64::from(u32::try_from(part).ok()?);
    (sum <= 100.0).then_some(Extent::Percent(sum))
}
