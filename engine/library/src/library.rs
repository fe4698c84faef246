//! The library: case files and presets.

use std::sync::{Arc, OnceLock};

use seeklab_spec::{Presets, Problem, Problems};
use serde_json::{Map, Value, json};

use crate::case::Case;
use crate::case::controls::{self, Control, Help};
use crate::case::ranges::Ranges;

/// Lines of the fields of a case file: path and number, from 1.
#[cfg(feature = "files")]
pub(crate) type Lines = Map<String, Value>;

/// A case file, read when it is first asked for.
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) code: String,
    /// Contents of the file, as JSON.
    pub(crate) document: Value,
    #[cfg(feature = "files")]
    pub(crate) lines: Lines,
    pub(crate) read: OnceLock<Result<Arc<Case>, Problems>>,
    /// The help of its controls.
    pub(crate) help: OnceLock<Help>,
}

impl Entry {
    pub(crate) fn new(document: Value) -> Self {
        let text = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        Self {
            id: text("id"),
            code: text("code"),
            document,
            #[cfg(feature = "files")]
            lines: Lines::new(),
            read: OnceLock::new(),
            help: OnceLock::new(),
        }
    }

    /// The help of the case's controls. Where files are read it is that of the types; a library's JSON carries it.
    #[cfg_attr(not(feature = "files"), expect(unused_variables, reason = "the types have no help in the module"))]
    fn help(&self, case: &Case) -> &Help {
        #[cfg(feature = "files")]
        let help = || controls::help(&case.controls);
        #[cfg(not(feature = "files"))]
        let help = Help::new;
        self.help.get_or_init(help)
    }

    /// The case. Where files are read, its family must be one of `families`; where none are known, any will do.
    #[cfg_attr(not(feature = "files"), expect(unused_variables, reason = "the build tool checks what it writes"))]
    fn case(&self, families: &[String]) -> Result<&Arc<Case>, Problems> {
        let read = || {
            let case = Case::read(&self.document)?;
            #[cfg(feature = "files")]
            if !families.is_empty() && !families.contains(&case.family) {
                let unknown = Problem::unknown("family", "family", &case.family, families.iter().map(String::as_str));
                return Err((unknown.path, unknown.message));
            }
            Ok(Arc::new(case))
        };
        self.read.get_or_init(|| read().map_err(|error| vec![self.problem(&error)])).as_ref().map_err(Clone::clone)
    }

    /// The error at its file and, where lines are known, at the line of the field or of the nearest field around it.
    fn problem(&self, (field, message): &(String, String)) -> Problem {
        #[cfg(feature = "files")]
        let line = format!(":{}", self.line_of(field));
        #[cfg(not(feature = "files"))]
        let line = "";
        let message = if field.is_empty() { message.clone() } else { format!("{field}: {message}") };
        Problem::new(format!("cases/{}.toml{line}", self.id), message)
    }

    #[cfg(feature = "files")]
    fn line_of(&self, field: &str) -> u64 {
        let mut around = field;
        loop {
            if let Some(line) = self.lines.get(around) {
                return line.as_u64().unwrap_or(1);
            }
            match around.rfind(['.', '[']) {
                Some(end) => around = &around[..end],
                None => return 1,
            }
        }
    }
}

/// All that is known: cases in the order of their files, and presets.
#[derive(Default)]
pub struct Library {
    pub(crate) cases: Vec<Entry>,
    pub(crate) presets: Presets,
    /// Families of cases, in the order in which they are shown.
    pub(crate) families: Vec<String>,
    /// Stored results of facts over several seeds and at other inputs.
    pub(crate) ranges: Arc<Ranges>,
}

impl Library {
    /// The library that [`Library::to_json`] wrote: `{"presets": [...], "families"?: [...], "ranges"?: {...}, "cases": [{"document", "help"?, "error"?}, ...]}`.
    ///
    /// # Errors
    /// When it is not of this form.
    pub fn from_json(file: &Map<String, Value>) -> Result<Self, Problems> {
        let list = |name: &str| {
            let message = "is not a list; pass the library that was built with the engine";
            file.get(name).and_then(Value::as_array).ok_or_else(|| vec![Problem::new(name, message)])
        };
        let entry = |(index, case): (usize, &Value)| -> Result<Entry, Problems> {
            let object = |name: &str| case.get(name).filter(|value| value.is_object());
            let document = object("document").cloned().ok_or_else(|| {
                let message = "is not an object; pass the library that was built with the engine";
                vec![Problem::new(format!("cases[{index}].document"), message)]
            })?;
            let mut entry = Entry::new(document);
            if let Some(Value::Object(help)) = object("help") {
                entry.help = help.clone().into();
            }
            if let Some(error) = object("error") {
                let text = |name: &str| error[name].as_str().unwrap_or_default();
                entry.read = Err(vec![Problem::new(text("path"), text("message"))]).into();
            }
            Ok(entry)
        };
        Ok(Self {
            cases: list("cases")?.iter().enumerate().map(entry).collect::<Result<_, _>>()?,
            presets: Presets::new(list("presets")?.clone()),
            families: file.get("families").map_or(Ok(Vec::new()), families)?,
            ranges: file.get("ranges").map_or(Ok(Ranges::new()), ranges)?.into(),
        })
    }

    /// The library as JSON, for hosts that have no files. A case that cannot be read has its error, with file and line.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let case = |entry: &Entry| match entry.case(&self.families) {
            Ok(case) => json!({"document": entry.document, "help": entry.help(case)}),
            Err(problems) => json!({"document": entry.document, "error": problems.first()}),
        };
        let cases: Value = self.cases.iter().map(case).collect();
        json!({"presets": self.presets.iter().collect::<Vec<_>>(), "families": self.families, "ranges": *self.ranges, "cases": cases})
    }

    /// The number of cases.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cases.len()
    }

    /// Whether there is no case.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// The presets.
    #[must_use]
    pub fn presets(&self) -> &Presets {
        &self.presets
    }

    /// Return the stored results of facts over several seeds and at other inputs.
    #[must_use]
    pub fn ranges(&self) -> &Arc<Ranges> {
        &self.ranges
    }

    /// The place of a case's family among the families, from 1.
    #[must_use]
    pub fn family_order(&self, case: &Case) -> usize {
        1 + self.families.iter().position(|family| *family == case.family).unwrap_or(self.families.len())
    }

    /// All cases as they are shown: family by family, those of a family by the number in their code.
    ///
    /// # Errors
    /// As of [`Library::cases`].
    pub fn cases_by_family(&self) -> Result<Vec<&Arc<Case>>, Problems> {
        let cases = self.cases()?;
        let place = |case: &Case| ((self.family_order(case) as u64) << 32) | u64::from(case.number());
        let mut order: Vec<(u64, usize)> = cases.iter().enumerate().map(|(index, case)| (place(case), index)).collect();
        order.sort_unstable();
        Ok(order.into_iter().map(|(_, index)| cases[index]).collect())
    }

    /// All cases, in the order of their files.
    ///
    /// # Errors
    /// When a case file is not one; all that are wrong, at once.
    pub fn cases(&self) -> Result<Vec<&Arc<Case>>, Problems> {
        let (mut cases, mut problems) = (Vec::new(), Problems::new());
        for entry in &self.cases {
            match entry.case(&self.families) {
                Ok(case) => cases.push(case),
                Err(found) => problems.extend(found),
            }
        }
        if problems.is_empty() { Ok(cases) } else { Err(problems) }
    }

    /// A case by its id or code.
    ///
    /// # Errors
    /// When there is none, in which case the message names the nearest, or when its file is not a case.
    pub fn case(&self, id: &str) -> Result<&Arc<Case>, Problems> {
        self.entry(id)?.case(&self.families)
    }

    fn entry(&self, id: &str) -> Result<&Entry, Problems> {
        let found = self.cases.iter().find(|entry| entry.id == id || entry.code.eq_ignore_ascii_case(id));
        found.ok_or_else(|| vec![Problem::unknown("case", "case", id, self.cases.iter().map(|entry| entry.id.as_str()))])
    }

    /// The controls of a case, with the values of a variant and further changes.
    ///
    /// # Errors
    /// As of [`Library::case`]; when the scenario is not valid, or a control's path is not in the schema.
    pub fn controls(&self, id: &str, variant: Option<&str>, changes: &Map<String, Value>) -> Result<Vec<Control>, Problems> {
        let entry = self.entry(id)?;
        let case = entry.case(&self.families)?;
        controls::controls(case, entry.help(case), variant, changes, &self.presets)
    }
}

/// The list of families, of a library's JSON or of its own file.
pub(crate) fn families(list: &Value) -> Result<Vec<String>, Problems> {
    let names: Option<Vec<String>> = list.as_array().and_then(|list| list.iter().map(|name| Some(name.as_str()?.to_owned())).collect());
    let names = names.ok_or_else(|| vec![Problem::new("families", "is not a list of names; write families = [\"Copy offload\", ...]")])?;
    let again = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name));
    match again {
        Some((_, name)) => Err(vec![Problem::new("families", format!("contains {name:?} twice; write each family once"))]),
        None => Ok(names),
    }
}

/// Stored ranges, of a library's JSON or of their own file.
pub(crate) fn ranges(value: &Value) -> Result<Ranges, Problems> {
    seeklab_spec::reader::from_value(value)
        .map_err(|problem| vec![Problem::new("ranges", format!("{}; regenerate the file with make ranges", problem.message))])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(object) = value else { panic!("{value} is an object") };
        object
    }

    #[test]
    fn what_is_given_as_a_library_must_have_its_form() {
        for (wrong, path) in [
            (json!({}), "cases"),
            (json!({"cases": 7}), "cases"),
            (json!({"cases": []}), "presets"),
            (json!({"cases": [7], "presets": []}), "cases[0].document"),
            (json!({"cases": [{"document": []}], "presets": []}), "cases[0].document"),
            (json!({"cases": [], "presets": [], "families": ["Clouds", "Clouds"]}), "families"),
        ] {
            let problems = Library::from_json(&object(wrong.clone())).err().expect("refused");
            assert_eq!(problems[0].path, path, "{wrong}");
        }
    }

    #[test]
    fn an_error_in_a_case_stands_at_the_line_of_the_field_or_of_what_is_around_it() {
        let lines = object(json!({"id": 1, "facts": 7, "facts[0]": 8, "facts[0].kind": 9}));
        let entry = Entry { lines, ..Entry::new(json!({"id": "mine"})) };
        let at = |field: &str| entry.problem(&(field.to_owned(), "wrong".to_owned())).to_string();
        assert_eq!(at("facts[0].kind"), "cases/mine.toml:9: facts[0].kind: wrong");
        assert_eq!(at("facts[0].measure.metric"), "cases/mine.toml:8: facts[0].measure.metric: wrong");
        assert_eq!(at("facts[1].kind"), "cases/mine.toml:7: facts[1].kind: wrong");
        assert_eq!(at(""), "cases/mine.toml:1: wrong");
    }
}
