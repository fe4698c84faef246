//! Reads a scenario: fills in presets, then checks it against the schema and against itself.

use serde_json::{Map, Value};

use crate::problem::{Problem, Problems};
use crate::{Presets, Scenario, reader, schema};

/// Read a scenario: fill in presets and check each field against the schema. The model checks how fields fit together.
///
/// # Errors
/// All wrong fields, at once.
pub fn read(value: &Value, presets: &Presets, schema: &Value) -> Result<Scenario, Problems> {
    let mut value = value.clone();
    let mut problems = fill_presets(&mut value, presets);
    problems.extend(schema::check(schema, &value));
    if !problems.is_empty() {
        return Err(problems);
    }
    reader::from_value(&value).map_err(|problem| vec![problem])
}

/// Replace each `preset` by its fields. Fields that are written next to it take precedence.
fn fill_presets(value: &mut Value, presets: &Presets) -> Problems {
    let mut problems = Problems::new();
    fill_preset(value, "preset", "system", presets, &mut problems);
    if let Some(groups) = value.get_mut("devices").and_then(Value::as_array_mut) {
        for (index, group) in groups.iter_mut().enumerate() {
            fill_preset(group, &format!("devices[{index}].preset"), "device", presets, &mut problems);
        }
    }
    for device in ["log.devices", "l2arc.device"] {
        if let Some(group) = value.pointer_mut(&format!("/zfs/{}", device.replace('.', "/"))) {
            fill_preset(group, &format!("zfs.{device}.preset"), "device", presets, &mut problems);
        }
    }
    problems
}

/// Fill in the preset of this kind, `device` or `system`, that `group` names.
fn fill_preset(group: &mut Value, path: &str, kind: &str, presets: &Presets, problems: &mut Problems) {
    let Some(name) = group.get("preset").and_then(Value::as_str).map(str::to_owned) else { return };
    let Some(fields) = presets.get(&name).and_then(|preset| preset.get(kind)?.as_object()) else {
        return problems.push(presets.missing(path, &name, Some(kind)));
    };
    if let Some(object) = group.as_object_mut() {
        merge_under(object, fields);
    }
}

/// Add the fields of `defaults` that `object` does not have, at every depth.
fn merge_under(object: &mut Map<String, Value>, defaults: &Map<String, Value>) {
    for (name, default) in defaults {
        match (object.get_mut(name), default) {
            (None, _) => {
                object.insert(name.clone(), default.clone());
            }
            (Some(Value::Object(own)), Value::Object(default)) => merge_under(own, default),
            (Some(_), _) => {}
        }
    }
}

/// Maximum steps of a path. No field is that deep, and objects of this depth can be read and dropped safely.
const MAX_STEPS: usize = 30;

/// Set the field at `path` (such as `jobs[0].bs` or `volume.prefetch.chunk`) of a scenario's JSON.
///
/// Missing objects along the path are created, so that a layer can be added field by field. A name in brackets selects the entry
/// with that `name`, as in `jobs[odx].bs`. An object replaces the old one completely:
/// `layout.rebuild` set to `{"in_flight": 4}` is a rebuild with defaults in all other fields. `null` removes the field, layer or entry;
/// if
/// there is none, nothing happens. Presets are filled in afterwards, under the written fields. So a value from a preset can be replaced,
/// but not
/// removed.
///
/// # Errors
/// The path is malformed, or an index is beyond the end of its list.
pub fn set(scenario: &mut Value, path: &str, new: Value) -> Result<(), Problem> {
    let malformed = || Problem::new(path, "is not a path; write one such as jobs[0].bs or volume.prefetch.chunk");
    let mut steps = Vec::new();
    for part in path.split('.') {
        let (name, rest) = part.split_at(part.find('[').unwrap_or(part.len()));
        if name.is_empty() {
            return Err(malformed());
        }
        steps.push(name);
        for index in rest.split_terminator(']') {
            steps.push(index.strip_prefix('[').filter(|index| !index.is_empty()).ok_or_else(malformed)?);
        }
    }
    if steps.len() > MAX_STEPS {
        // Printing the whole path would not help.
        let start: String = path.chars().take(40).collect();
        return Err(Problem::new(format!("{start}..."), format!("has {} steps; a path has at most {MAX_STEPS}", steps.len())));
    }
    let (last, way) = steps.split_last().ok_or_else(malformed)?;
    if new.is_null() {
        remove(scenario, last, way);
        return Ok(());
    }
    let mut place = scenario;
    for step in way {
        place = descend(place, step).ok_or_else(|| Problem::new(path, format!("there is no entry {step} here")))?;
    }
    match descend(place, last) {
        Some(target) => *target = new,
        None => return Err(Problem::new(path, format!("there is no entry {last} here"))),
    }
    Ok(())
}

/// Remove the field or entry `name` at the end of `way`, without creating anything along it.
fn remove(scenario: &mut Value, name: &str, way: &[&str]) {
    let place = way.iter().try_fold(scenario, |place, step| match place {
        Value::Array(list) => entry_of(list, step).and_then(|index| list.get_mut(index)),
        Value::Object(object) => object.get_mut(*step),
        _ => None,
    });
    match place {
        Some(Value::Object(object)) => drop(object.shift_remove(name)),
        Some(Value::Array(list)) => {
            if let Some(index) = entry_of(list, name).filter(|index| *index < list.len()) {
                list.remove(index);
            }
        }
        _ => {}
    }
}

/// Return the index of a list's entry, given by number or name.
fn entry_of(list: &[Value], step: &str) -> Option<usize> {
    let named = || list.iter().position(|entry| entry.get("name").and_then(Value::as_str) == Some(step));
    step.parse().ok().or_else(named)
}

fn descend<'a>(place: &'a mut Value, step: &str) -> Option<&'a mut Value> {
    match place {
        Value::Array(list) => entry_of(list, step).and_then(|index| list.get_mut(index)),
        Value::Object(object) => Some(object.entry(step).or_insert(Value::Null)),
        Value::Null => {
            *place = Value::Object(Map::new());
            place.as_object_mut().map(|object| object.entry(step).or_insert(Value::Null))
        }
        _ => None,
    }
}

/// Return the value at `path` of a scenario's JSON.
#[must_use]
pub fn get<'a>(scenario: &'a Value, path: &str) -> Option<&'a Value> {
    let mut place = scenario;
    for step in path.split(['.', '[', ']']).filter(|step| !step.is_empty()) {
        place = match place {
            Value::Array(list) => list.get(entry_of(list, step)?)?,
            other => other.get(step)?,
        };
    }
    Some(place)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{assert_problem, assert_problems};

    fn problems(value: &Value) -> Problems {
        read(value, &Presets::default(), &schema::generate()).err().unwrap_or_default()
    }

    fn system(job: &Value) -> Value {
        json!({"jobs": [job], "devices": [{"lun": {"rate": "100MB"}}]})
    }

    #[test]
    fn every_error_is_reported_at_once_with_its_path() {
        let found = problems(&json!({
            "jobs": [{"name": "a", "bs": "8q", "iodpeth": 4, "size": "1GiB"}],
            "devices": [{"lun": {"rate": "fast"}}],
        }));
        assert_problems(&found, &["jobs[0].bs: 8q", "jobs[0].iodpeth: iodpeth", "devices[0].lun.rate: fast"]);
        assert_eq!(found.iter().map(|problem| problem.nearest.as_deref()).collect::<Vec<_>>(), [None, Some("iodepth"), None]);
    }

    #[test]
    fn what_was_read_reads_again_the_same() {
        let first =
            read(&system(&json!({"name": "a", "size": "1GiB"})), &Presets::default(), &schema::generate()).expect("a valid scenario");
        let written = serde_json::to_value(&first).expect("JSON");
        let second = read(&written, &Presets::default(), &schema::generate()).expect("still valid");
        assert_eq!(serde_json::to_value(&second).expect("JSON"), written);
    }

    #[test]
    fn paths_reach_into_lists_by_index_and_by_name() {
        let mut value = system(&json!({"name": "a", "size": "1GiB"}));
        set(&mut value, "jobs[0].bs", json!("8k")).expect("a path");
        set(&mut value, "jobs[a].iodepth", json!(4)).expect("a path");
        set(&mut value, "volume.cache.size", json!("1GiB")).expect("a path");
        assert_eq!(get(&value, "jobs[0].iodepth"), Some(&json!(4)));
        assert_eq!(get(&value, "volume.cache.size"), Some(&json!("1GiB")));
        assert!(set(&mut value, "jobs[7].bs", json!(1)).is_err());
    }

    #[test]
    fn a_path_of_two_thousand_steps_is_refused_before_anything_is_created() {
        let mut value = json!({});
        let problem = set(&mut value, &vec!["a"; 2000].join("."), json!(1)).expect_err("refused");
        assert_problem(problem, &format!("{}...: 2000, {MAX_STEPS}", "a.".repeat(20)));
        assert_eq!(value, json!({}));
        assert!(set(&mut value, &vec!["a"; 30].join("."), json!(1)).is_ok());
    }

    #[test]
    fn an_object_replaces_another_whole() {
        let mut value = json!({"layout": {"kind": "mirror", "rebuild": {"in_flight": 4, "used": "4GiB", "rate": "10MB"}}});
        set(&mut value, "layout.rebuild", json!({"in_flight": 8})).expect("a path");
        assert_eq!(value, json!({"layout": {"kind": "mirror", "rebuild": {"in_flight": 8}}}));
    }

    #[test]
    fn null_removes_a_field_or_an_entry_and_leaves_nothing_behind() {
        let mut value = json!({"jobs": [{"name": "a"}, {"name": "b", "bs": 1}], "layout": {"rebuild": {"in_flight": 4}}});
        for path in ["layout.rebuild", "jobs[a]", "jobs[b].bs", "zfs.log.devices", "jobs[7]", "jobs[c].bs"] {
            set(&mut value, path, Value::Null).expect("a path");
        }
        assert_eq!(value, json!({"jobs": [{"name": "b"}], "layout": {}}));
    }
}
