//! A library from the folders of a checkout: TOML with the line of every field.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use seeklab_spec::{BASES, Presets, Problem, Problems};
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::case::ranges::Ranges;
use crate::library::{self, Entry, Library, Lines};

/// The file of a checkout that lists the families of cases.
const FAMILIES: &str = "families.toml";

/// The file of a checkout that holds what was last measured of facts; a checkout without it has nothing stored.
const RANGES: &str = "ranges.json";

impl Library {
    /// The library in the folders `cases` and `presets` of `root`, with the families that `families.toml` there lists.
    ///
    /// # Errors
    /// Files that cannot be read or are not TOML, each with its line; all at once.
    pub fn from_folder(root: &Path) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        let cases = read_folder(root, "cases", &mut problems);
        let presets = read_folder(root, "presets", &mut problems);
        problems.extend(presets.iter().filter_map(|(preset, lines)| unknown_basis(preset, lines)));
        let families = read_file(&root.join(FAMILIES), FAMILIES)
            .map_err(|problem| vec![problem])
            .and_then(|(document, _)| library::families(&document["families"]))
            .unwrap_or_else(|found| {
                problems.extend(found);
                Vec::new()
            });
        let ranges = read_ranges(root).unwrap_or_else(|found| {
            problems.extend(found);
            Ranges::new()
        });
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Self {
            cases: cases.into_iter().map(|(document, lines)| Entry { lines, ..Entry::new(document) }).collect(),
            presets: Presets::new(presets.into_iter().map(|(document, _)| document).collect()),
            families,
            ranges: ranges.into(),
        })
    }

    /// The library of the checkout that this crate was compiled in: for build steps and tests.
    ///
    /// # Errors
    /// As of [`Library::from_folder`].
    pub fn of_checkout() -> Result<Self, Problems> {
        Self::from_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
    }
}

fn read_ranges(root: &Path) -> Result<Ranges, Problems> {
    let wrong = |error: &dyn std::fmt::Display| vec![Problem::new(RANGES, error.to_string())];
    match fs::read_to_string(root.join(RANGES)) {
        Ok(text) => library::ranges(&serde_json::from_str(&text).map_err(|error| wrong(&error))?),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Ranges::new()),
        Err(error) => Err(wrong(&error)),
    }
}

/// Every TOML file of a folder, in the order of their names.
fn read_folder(root: &Path, folder: &str, problems: &mut Problems) -> Vec<(Value, Lines)> {
    let mut paths: Vec<PathBuf> = match fs::read_dir(root.join(folder)) {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
        Err(error) => {
            problems.push(Problem::new(folder, error.to_string()));
            return Vec::new();
        }
    };
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let mut documents = Vec::new();
    for path in paths {
        let name = format!("{folder}/{}", path.file_name().unwrap_or_default().to_string_lossy());
        match read_file(&path, &name) {
            Ok(document) => documents.push(document),
            Err(problem) => problems.push(problem),
        }
    }
    documents
}

/// The problem of a preset whose `basis` is none of [`BASES`].
fn unknown_basis(preset: &Value, lines: &Lines) -> Option<Problem> {
    let found = preset.get("basis").filter(|basis| !BASES.iter().any(|known| *basis == known))?;
    let line = lines.get("basis").and_then(Value::as_u64).unwrap_or(1);
    let path = format!("presets/{}.toml:{line}", preset["name"].as_str().unwrap_or_default());
    Some(Problem::new(path, format!("basis is {found}; write one of {BASES:?}")))
}

/// A TOML file, which problems call `name`.
fn read_file(path: &Path, name: &str) -> Result<(Value, Lines), Problem> {
    fs::read_to_string(path).map_err(|error| Problem::new(name, error.to_string())).and_then(|text| read(name, &text))
}

fn read(name: &str, text: &str) -> Result<(Value, Lines), Problem> {
    let ends: Vec<usize> = text.match_indices('\n').map(|(end, _)| end).collect();
    let line_of = |offset: usize| ends.partition_point(|end| *end < offset) + 1;
    let wrong = |error: &toml::de::Error| {
        let line = error.span().map_or(1, |span| line_of(span.start));
        Problem::new(format!("{name}:{line}"), error.message().to_owned())
    };
    let table = DeTable::parse(text).map_err(|error| wrong(&error))?;
    let mut lines = Map::new();
    note_table(table.get_ref(), "", &line_of, &mut lines);
    let mut document = toml::from_str(text).map_err(|error| wrong(&error))?;
    if let Err(path) = fold_unset(&mut document, "") {
        let line = lines.get(&path).and_then(Value::as_u64).unwrap_or(1);
        return Err(Problem::new(format!("{name}:{line}"), format!("{path}: is not a list of paths; write unset = [\"layout.rebuild\"]")));
    }
    Ok((document, lines))
}

/// Turns every `unset = ["path"]` into a `null` for that path in the `set` beside it, which removes what stands there: TOML itself
/// has no null. What is removed goes before what is set. The scenario is left as it is. Fails with the place of an `unset` that is not a list of texts.
fn fold_unset(value: &mut Value, path: &str) -> Result<(), String> {
    match value {
        Value::Array(list) => list.iter_mut().enumerate().try_for_each(|(index, entry)| fold_unset(entry, &format!("{path}[{index}]"))),
        Value::Object(object) => {
            let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            if let Some(unset) = object.shift_remove("unset") {
                let paths = unset.as_array().and_then(|list| list.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
                let mut set: Map<String, Value> =
                    paths.ok_or_else(|| below("unset"))?.into_iter().map(|path| (path.to_owned(), Value::Null)).collect();
                if let Some(Value::Object(own)) = object.shift_remove("set") {
                    set.extend(own);
                }
                object.insert("set".to_owned(), Value::Object(set));
            }
            object.iter_mut().filter(|(name, _)| *name != "scenario").try_for_each(|(name, entry)| fold_unset(entry, &below(name)))
        }
        _ => Ok(()),
    }
}

fn note_table(table: &DeTable, path: &str, line_of: &impl Fn(usize) -> usize, lines: &mut Lines) {
    for (key, value) in table {
        let path = if path.is_empty() { key.get_ref().to_string() } else { format!("{path}.{}", key.get_ref()) };
        lines.insert(path.clone(), line_of(key.span().start).into());
        note_value(value, &path, line_of, lines);
    }
}

fn note_value(value: &Spanned<DeValue>, path: &str, line_of: &impl Fn(usize) -> usize, lines: &mut Lines) {
    match value.get_ref() {
        DeValue::Table(table) => note_table(table, path, line_of, lines),
        DeValue::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let path = format!("{path}[{index}]");
                lines.insert(path.clone(), line_of(item.span().start).into());
                note_value(item, &path, line_of, lines);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use seeklab_spec::testing::assert_problem;

    use super::*;

    const TEXT: &str = "id = \"mine\"\n\n[[facts]]\nkind = \"predicted\"\n[[facts]]\nmeasure = { metric = \"a\" }\n";

    #[test]
    fn every_field_has_its_line() {
        let (document, lines) = read("cases/mine.toml", TEXT).expect("TOML");
        assert_eq!(document["facts"][1]["measure"]["metric"], "a");
        let line = |path: &str| lines.get(path).and_then(Value::as_u64);
        assert_eq!([line("id"), line("facts[0].kind"), line("facts[1].measure.metric")], [Some(1), Some(4), Some(6)]);
    }

    #[test]
    fn what_is_unset_is_null_before_what_is_set() {
        let text = "[[what_ifs]]\nunset = [\"layout.rebuild\"]\nset = { \"layout.failed\" = [] }\n[[variants]]\nunset = [\"zfs\"]\n";
        let (document, _) = read("cases/mine.toml", text).expect("TOML");
        assert_eq!(document["what_ifs"][0].to_string(), r#"{"set":{"layout.rebuild":null,"layout.failed":[]}}"#);
        assert_eq!(document["variants"][0].to_string(), r#"{"set":{"zfs":null}}"#);
        let problem = read("cases/mine.toml", "[[what_ifs]]\n\nunset = \"zfs\"\n").expect_err("refused");
        assert_problem(problem, "cases/mine.toml:3: what_ifs[0].unset");
    }

    #[test]
    fn a_file_that_is_not_toml_is_refused_at_its_line() {
        let problem = read("cases/mine.toml", "id = \"mine\"\ncode = \n").expect_err("refused");
        assert_eq!(problem.path, "cases/mine.toml:2");
    }

    #[test]
    fn a_preset_with_an_unknown_basis_is_refused_at_its_line() {
        let of = |text: &str| {
            let (preset, lines) = read("presets/mine.toml", text).expect("TOML");
            unknown_basis(&preset, &lines).map(|problem| problem.to_string())
        };
        let found = of("name = \"mine\"\n\nbasis = \"hearsay\"\n").expect("a problem");
        assert_eq!(found, r#"presets/mine.toml:3: basis is "hearsay"; write one of ["measured", "data sheet", "both"]"#);
        assert_eq!(of("name = \"mine\"\nbasis = \"data sheet\"\n"), None);
        assert_eq!(of("name = \"mine\"\n"), None);
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let problems = Library::from_folder(Path::new("/nowhere")).err().expect("refused");
        assert_eq!(problems.iter().map(|problem| problem.path.as_str()).collect::<Vec<_>>(), ["cases", "presets", "families.toml"]);
    }
}
