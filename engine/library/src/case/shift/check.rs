//! Checks of shifts against their case, where case files are read.

use seeklab_spec::Problem;
use seeklab_spec::reader::{Fault, FromJson};
use serde_json::Value;

use super::{Draw, NoShift, Shift, Shifts};
use crate::case::Case;

/// The last week of the course.
const LAST_WEEK: u64 = 10;

/// Metrics of the whole system, which no job's name precedes.
const OF_THE_SYSTEM: [&str; 2] = ["monitor_", "reduction_"];

/// Reads a table or a list of tables; one with the reason for none gives an empty list.
pub(super) fn tables(value: &Value) -> Result<Vec<Shift>, Fault> {
    match value {
        Value::Array(_) => Vec::from_json(value),
        Value::Object(fields) if fields.contains_key("none_because") => NoShift::from_json(value).map(|_| Vec::new()),
        _ => Shift::from_json(value).map(|only| vec![only]),
    }
}

impl Shifts {
    /// Checks the shifts against their case.
    ///
    /// # Errors
    /// The path of the first field that contradicts the case, and what is accepted.
    pub(in crate::case) fn check(&self, case: &Case) -> Result<(), (String, String)> {
        let shifts = tables(&self.0).unwrap_or_default(); // read before, without a fault
        if shifts.is_empty() && self.0.is_array() {
            return Err(("shift".to_owned(), "is empty; write [[shift]], or [shift] with none_because".to_owned()));
        }
        for (index, shift) in shifts.iter().enumerate() {
            if let Err((field, message)) = shift.check(case) {
                let at = if self.0.is_array() { format!("shift[{index}]") } else { "shift".to_owned() };
                return Err((format!("{at}.{field}"), message));
            }
        }
        Ok(())
    }
}

impl Shift {
    fn check(&self, case: &Case) -> Result<(), (String, String)> {
        let wrong = |field: &str, message: &str| Err((field.to_owned(), message.to_owned()));
        let first = |mut problems: Vec<Problem>| problems.swap_remove(0).message;
        case.variant(Some(&self.failing)).map_err(|problems| ("failing".to_owned(), first(problems)))?;
        let system = case.document(Some(&self.failing), &self.set).map_err(|problems| ("set".to_owned(), first(problems)))?;
        let there = |job: &String| system["jobs"].as_array().is_some_and(|jobs| jobs.iter().any(|other| other["name"] == **job));
        let Some(application) = self.jobs.first().filter(|_| self.jobs.iter().all(there)) else {
            return wrong("jobs", "is not a list of jobs of the failing variant; the first must be the application");
        };
        let of_the_application = self.metric.strip_prefix(application.as_str()).is_some_and(|rest| rest.starts_with('.'));
        if !of_the_application && !OF_THE_SYSTEM.iter().any(|start| self.metric.starts_with(start)) {
            return wrong(
                "metric",
                &format!("{} is not a metric of the application; write {application}.METRIC, or a metric of the whole system", self.metric),
            );
        }
        for (index, draw) in self.draw.iter().enumerate() {
            if !draw.is_possible(&self.draw[..index]) {
                return wrong(&format!("draw[{index}]"), POSSIBLE);
            }
        }
        if self.fix.is_empty() {
            return wrong("fix", "is empty; write fix = { \"PATH\" = VALUE }");
        }
        for (path, value) in &self.fix {
            let Some(multiple) = value.as_object() else { continue };
            let of = multiple.get("of").and_then(Value::as_str).unwrap_or_default();
            let is_multiple = multiple.iter().all(|(name, value)| name == "of" || (name == "times" && value.is_u64()));
            if !is_multiple || !is_drawn(of, &self.draw) {
                return wrong(&format!("fix.{path}"), "is not a multiple of a draw; write { of = PATH, times = N } with its path");
            }
        }
        if !(1..=LAST_WEEK).contains(&self.week) {
            return wrong("week", &format!("{} is not a week of the course; write 1 to {LAST_WEEK}", self.week));
        }
        Ok(())
    }
}

/// Accepted forms of an entry of `draw`, for an error.
const POSSIBLE: &str = "cannot be drawn; write { path, choose = [8, 16] }, { path, range = [FIRST, LAST] } with a step that leads \
                        from FIRST to LAST, or { path, of } with the path of an earlier draw";

impl Draw {
    /// Whether a value can be drawn after the draws `before` it.
    fn is_possible(&self, before: &[Self]) -> bool {
        let of = self.of.as_deref();
        let step = self.step.unwrap_or(1);
        of.is_none_or(|of| is_drawn(of, before))
            && match self.range {
                Some([low, high]) => self.choose.is_empty() && low <= high && step > 0 && (high - low) % step == 0,
                None => self.step.is_none() && (of.is_some() || !self.choose.is_empty()),
            }
    }
}

fn is_drawn(path: &str, draws: &[Draw]) -> bool {
    draws.iter().any(|draw| draw.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The error of a shift that reads but for the fields in `more`.
    fn error(more: &Value) -> (String, String) {
        let case = json!({
            "id": "x", "code": "X1", "title": "", "symptom": "", "subtitle": "", "family": "", "story": "",
            "source": {"name": "", "year": 2000, "note": ""}, "view": "fio", "views": [], "focus": {"job": "a", "op": "read"},
            "sentence": "", "why": "", "model": {"in": [], "out": [], "parameters": []}, "default_variant": "bad",
            "ask": {"question": "", "measure": {"metric": "a"}, "unit": "", "min": 0, "max": 1, "scale": "linear", "reveal": ""},
            "controls": [], "variants": [{"name": "bad", "title": "", "summary": ""}], "what_ifs": [], "facts": [],
            "scenario": {"jobs": [{"name": "a"}, {"name": "b"}]},
            "shift": {
                "cause": "", "failing": "bad", "jobs": ["a"], "metric": "a.read_iops", "better": "more", "fix": {"zfs.delay": true},
                "command": "fio", "tells": "", "week": 3, "draw": [{"path": "jobs[a].iodepth", "choose": [4, 8]}],
            },
        });
        let mut wrong = case.clone();
        assert!(Case::read(&case).is_ok(), "{:?}", Case::read(&case).err());
        for (field, value) in more.as_object().expect("an object") {
            wrong["shift"][field] = value.clone();
        }
        Case::read(&wrong).err().unwrap_or_default()
    }

    #[test]
    fn what_contradicts_the_case_is_refused_at_its_field() {
        for (more, path) in [
            (json!({"failing": "worse"}), "shift.failing"),
            (json!({"jobs": ["c"]}), "shift.jobs"),
            (json!({"jobs": []}), "shift.jobs"),
            (json!({"jobs": ["b"]}), "shift.metric"),
            (json!({"metric": "read_iops"}), "shift.metric"),
            (json!({"better": "faster"}), "shift.better"),
            (json!({"fix": {}}), "shift.fix"),
            (json!({"fix": {"zfs.delay": {"of": "jobs[a].bs"}}}), "shift.fix.zfs.delay"),
            (json!({"fix": {"zfs.delay": {"of": "jobs[a].iodepth", "off": 1}}}), "shift.fix.zfs.delay"),
            (json!({"fix": {"zfs.delay": {"of": "jobs[a].iodepth", "times": 0.5}}}), "shift.fix.zfs.delay"),
            (json!({"week": 0}), "shift.week"),
            (json!({"weeks": 1}), "shift.weeks"),
            (json!({"none_because": "it is over"}), "shift.cause"),
            (json!({"draw": [{"path": "a"}]}), "shift.draw[0]"),
            (json!({"draw": [{"path": "a", "range": [1, 2], "choose": [1]}]}), "shift.draw[0]"),
            (json!({"draw": [{"path": "a", "range": [1, 4], "step": 2}]}), "shift.draw[0]"),
            (json!({"draw": [{"path": "a", "range": [1, 4], "step": 0}]}), "shift.draw[0]"),
            (json!({"draw": [{"path": "a", "choose": [1], "step": 2}]}), "shift.draw[0]"),
            (json!({"draw": [{"path": "a", "choose": [0.5]}]}), "shift.draw[0].choose[0]"),
            (json!({"draw": [{"path": "a", "of": "a"}]}), "shift.draw[0]"),
        ] {
            assert_eq!(error(&more).0, path, "{more}");
        }
        assert_eq!(error(&json!({"fix": {"zfs.tick": {"of": "jobs[a].iodepth", "times": 2}}})), Default::default());
    }
}
