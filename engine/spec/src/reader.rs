//! Types that are read from JSON values, with the path of each error.
//!
//! [`FromJson`] is derived. The derive lists the fields of a type; all other code is here, once for all types. serde's own reader
//! instantiates a visitor for each type, with forms that our documents never use. This reader
//! makes the browser's module kilobytes smaller. Its messages are serde's.

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::de::value::Error as Message;
use serde::de::{Error as _, Unexpected};
use serde_json::{Map, Value};

use seeklab_cache::PolicyKind;
pub use seeklab_derive::FromJson;

use crate::Problem;

/// Read a value. A problem's path is the path of the first field that is missing, unknown or of the wrong type, or empty for the whole value.
///
/// # Errors
/// The value found and the values accepted.
pub fn from_value<T: FromJson>(value: &Value) -> Result<T, Problem> {
    T::from_json(value).map_err(|fault| Problem::new(fault.path(), fault.message))
}

/// A type that can be read from JSON.
pub trait FromJson: Sized {
    /// Read a value.
    ///
    /// # Errors
    /// The first wrong field in document order. Missing fields come last.
    fn from_json(value: &Value) -> Result<Self, Fault>;

    /// Return the value of a field that is not written; [`None`] if the field is required.
    #[must_use]
    fn absent() -> Option<Self> {
        None
    }
}

/// An error, with the path from the innermost step outwards.
#[derive(Debug, Default)]
pub struct Fault {
    message: String,
    way: Vec<Step>,
}

#[derive(Debug)]
enum Step {
    Field(String),
    Entry(usize),
}

impl Fault {
    /// Create an error at the value itself.
    #[must_use]
    pub fn new(message: impl Display) -> Self {
        Self { message: message.to_string(), way: Vec::new() }
    }

    /// Create the error of a value with the wrong type.
    fn wrong_type(value: &Value, expected: &str) -> Self {
        Self::new(Message::invalid_type(found(value), &expected))
    }

    fn inside(mut self, step: Step) -> Self {
        self.way.push(step);
        self
    }

    fn path(&self) -> String {
        let mut path = String::new();
        for step in self.way.iter().rev() {
            match step {
                Step::Field(name) if path.is_empty() => path.push_str(name),
                Step::Field(name) => path = format!("{path}.{name}"),
                Step::Entry(index) => path = format!("{path}[{index}]"),
            }
        }
        path
    }
}

impl Display for Fault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.message)
    }
}

/// Describe the value for a message.
fn found(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Null => Unexpected::Other("null"),
        Value::Bool(value) => Unexpected::Bool(*value),
        Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(whole), ..) => Unexpected::Unsigned(whole),
            (_, Some(whole), _) => Unexpected::Signed(whole),
            (.., float) => Unexpected::Float(float.unwrap_or_default()),
        },
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    }
}

/// An object whose fields are read one after the other.
#[derive(Debug)]
pub struct Object<'a> {
    names: &'static [&'static str],
    /// The value of each written field, and its position in the document.
    values: Vec<Option<(usize, &'a Value)>>,
    /// The first error, and its position in the document.
    wrong: Option<(usize, Fault)>,
}

impl<'a> Object<'a> {
    /// Read an object with fields of these names. `denies` refuses other fields.
    ///
    /// # Errors
    /// The value is not an object.
    pub fn of(value: &'a Value, expected: &str, names: &'static [&'static str], denies: bool) -> Result<Self, Fault> {
        let Value::Object(fields) = value else { return Err(Fault::wrong_type(value, expected)) };
        let mut object = Self { names, values: vec![None; names.len()], wrong: None };
        for (place, (name, value)) in fields.iter().enumerate() {
            match names.iter().position(|known| known == name) {
                Some(index) => object.values[index] = Some((place, value)),
                None if denies => object.add(place, Fault::new(Message::unknown_field(name, names)).inside(Step::Field(name.clone()))),
                None => {}
            }
        }
        Ok(object)
    }

    /// Record an error, unless an earlier one is known.
    fn add(&mut self, place: usize, fault: Fault) {
        if self.wrong.as_ref().is_none_or(|(first, _)| place < *first) {
            self.wrong = Some((place, fault));
        }
    }

    /// Record an error in a field at position `place`.
    fn add_inside(&mut self, place: usize, index: usize, fault: Fault) {
        self.add(place, fault.inside(Step::Field(self.names[index].to_owned())));
    }

    /// Return the field if it is written and valid.
    pub fn given<T: FromJson>(&mut self, index: usize) -> Option<T> {
        let (place, value) = self.values[index]?;
        match T::from_json(value) {
            Ok(read) => Some(read),
            Err(fault) => {
                self.add_inside(place, index, fault);
                None
            }
        }
    }

    /// Return the field if it is valid. It may be absent if its type has a default.
    pub fn needed<T: FromJson>(&mut self, index: usize) -> Option<T> {
        if self.values[index].is_some() {
            return self.given(index);
        }
        let absent = T::absent();
        if absent.is_none() {
            // Missing fields sort behind all written ones.
            self.add(usize::MAX, Fault::new(Message::missing_field(self.names[index])));
        }
        absent
    }

    /// Return the first error.
    #[must_use]
    pub fn wrong(self) -> Option<Fault> {
        self.wrong.map(|(_, fault)| fault)
    }
}

/// Return the index among `names` of a word: a string, or an object with this one field and no content.
///
/// # Errors
/// Any other value, or an unknown word.
pub fn word(value: &Value, expected: &str, names: &'static [&'static str]) -> Result<usize, Fault> {
    let (name, content) = match value {
        Value::String(name) => (name, &Value::Null),
        Value::Object(fields) => match fields.iter().next().filter(|_| fields.len() == 1) {
            Some(only) => only,
            None => return Err(Fault::new(Message::invalid_value(Unexpected::Map, &"an object with one field"))),
        },
        _ => return Err(Fault::wrong_type(value, expected)),
    };
    let place = names.iter().position(|known| known == name);
    let place = place.ok_or_else(|| Fault::new(Message::unknown_variant(name, names)))?;
    if content.is_null() { Ok(place) } else { Err(Fault::wrong_type(content, "a variant without content")) }
}

/// Read a whole number that is not negative.
fn whole<T: TryFrom<u64>>(value: &Value, expected: &str) -> Result<T, Fault> {
    let fits = value.as_u64().and_then(|whole| T::try_from(whole).ok());
    fits.ok_or_else(|| match found(value) {
        whole @ (Unexpected::Unsigned(_) | Unexpected::Signed(_)) => Fault::new(Message::invalid_value(whole, &expected)),
        other => Fault::new(Message::invalid_type(other, &expected)),
    })
}

impl FromJson for u64 {
    fn from_json(value: &Value) -> Result<Self, Fault> {
        whole(value, "u64")
    }
}

impl FromJson for u32 {
    fn from_json(value: &Value) -> Result<Self, Fault> {
        whole(value, "u32")
    }
}

impl FromJson for f64 {
    fn from_json(value: &Value) -> Result<Self, Fault> {
        value.as_f64().ok_or_else(|| Fault::wrong_type(value, "f64"))
    }
}

impl FromJson for bool {
    fn from_json(value: &Value) -> Result<Self, Fault> {
        value.as_bool().ok_or_else(|| Fault::wrong_type(value, "a boolean"))
    }
}

impl FromJson for String {
    fn from_json(value: &Value) -> Result<Self, Fault> {
        value.as_str().map(str::to_owned).ok_or_else(|| Fault::wrong_type(value, "a string"))
    }
}

impl FromJson for Value {
    fn from_json(value: &Value) -> Result<Self, Fault> {
        Ok(value.clone())
    }
}

impl FromJson for Map<String, Value> {
    fn from_json(value: &Value) -> Result<Self, Fault> {
        value.as_object().cloned().ok_or_else(|| Fault::wrong_type(value, "a map"))
    }
}

impl<T: FromJson> FromJson for BTreeMap<String, T> {
    fn from_json(value: &Value) -> Result<Self, Fault> {
        let mut read = Self::new();
        for (name, value) in value.as_object().ok_or_else(|| Fault::wrong_type(value, "a map"))? {
            read.insert(name.clone(), T::from_json(value).map_err(|fault| fault.inside(Step::Field(name.clone())))?);
        }
        Ok(read)
    }
}

impl<T: FromJson> FromJson for Option<T> {
    fn from_json(value: &Value) -> Result<Self, Fault> {
        if value.is_null() { Ok(None) } else { T::from_json(value).map(Some) }
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: FromJson> FromJson for Box<T> {
    fn from_json(value: &Value) -> Result<Self, Fault> {
        T::from_json(value).map(Self::new)
    }
}

/// The names of cache policies.
const POLICIES: [&str; PolicyKind::ALL.len()] = {
    let mut names = [""; PolicyKind::ALL.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = PolicyKind::ALL[index].name();
        index += 1;
    }
    names
};

/// The crate of cache policies is below this one and does not depend on the reader.
impl FromJson for PolicyKind {
    fn from_json(value: &Value) -> Result<Self, Fault> {
        word(value, "enum PolicyKind", &POLICIES).map(|index| Self::ALL[index])
    }
}

fn entry<T: FromJson>(index: usize, value: &Value) -> Result<T, Fault> {
    T::from_json(value).map_err(|fault| fault.inside(Step::Entry(index)))
}

impl<T: FromJson> FromJson for Vec<T> {
    fn from_json(value: &Value) -> Result<Self, Fault> {
        let entries = value.as_array().ok_or_else(|| Fault::wrong_type(value, "a sequence"))?;
        let mut read = Self::with_capacity(entries.len());
        for (index, value) in entries.iter().enumerate() {
            read.push(entry(index, value)?);
        }
        Ok(read)
    }
}

impl<T: FromJson> FromJson for [T; 2] {
    fn from_json(value: &Value) -> Result<Self, Fault> {
        match value.as_array().map(Vec::as_slice) {
            Some([]) => Err(Fault::new(Message::invalid_length(0, &"an array of length 2"))),
            Some([first, others @ ..]) => {
                let first = entry(0, first)?;
                let [second, others @ ..] = others else {
                    return Err(Fault::new(Message::invalid_length(1, &"an array of length 2")));
                };
                let second = entry(1, second)?;
                if others.is_empty() {
                    return Ok([first, second]);
                }
                Err(Fault::new(format_args!("a list of {} entries; exactly 2 are accepted", others.len() + 2)))
            }
            None => Err(Fault::wrong_type(value, "an array of length 2")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{assert_problem, has_values};

    /// Define the same types twice: for this reader and for serde's own derive.
    macro_rules! twins {
        (types { $($type:item)* } others { $($other:item)* }) => {
            mod ours {
                use super::*;
                $(#[derive(Debug, PartialEq, FromJson)] $type)*
                $($other)*
            }
            mod theirs {
                use super::*;
                $(#[derive(Debug, PartialEq, serde::Deserialize)] $type)*
                $($other)*
            }
        };
    }

    twins! {
        types {
            #[serde(deny_unknown_fields)]
            pub struct Outer {
                name: String,
                inner: Option<Inner>,
                #[serde(default)]
                list: Vec<Inner>,
                #[serde(default)]
                pair: Option<[u32; 2]>,
                #[serde(default)]
                map: BTreeMap<String, u32>,
                #[serde(default)]
                any: Value,
                #[serde(default)]
                fields: Map<String, Value>,
                #[serde(default)]
                share: Option<Box<Share>>,
                #[serde(default)]
                length: Length,
                #[serde(default)]
                mixed: Mixed,
                #[serde(default)]
                plain: Plain,
            }

            #[serde(deny_unknown_fields)]
            pub struct Inner {
                kind: Kind,
                #[serde(default = "half")]
                share: f64,
                #[serde(rename = "is-on", default)]
                on: bool,
                #[serde(default, skip_serializing_if = "Option::is_none")]
                count: Option<u64>,
            }

            #[serde(rename_all = "lowercase")]
            pub enum Kind {
                Plain,
                VeryPlain,
                #[serde(rename = "2p")]
                Two,
            }

            #[serde(rename_all = "kebab-case")]
            #[derive(Default)]
            pub enum Mixed {
                #[default]
                OneTwo,
                S3Fifo,
            }

            #[serde(try_from = "f64")]
            pub struct Share(f64);

            #[serde(from = "Written")]
            #[derive(Default)]
            pub struct Length(u32);

            pub struct Written {
                metres: u32,
            }

            #[serde(default, rename_all = "snake_case")]
            pub struct Plain {
                word: Word,
                number: u32,
            }

            #[serde(rename_all = "snake_case")]
            pub enum Word {
                AndSo,
                On,
            }
        }
        others {
            fn half() -> f64 {
                0.5
            }

            impl TryFrom<f64> for Share {
                type Error = String;

                fn try_from(number: f64) -> Result<Self, String> {
                    if number <= 1.0 { Ok(Self(number)) } else { Err(format!("{number} is more than 1")) }
                }
            }

            impl From<Written> for Length {
                fn from(written: Written) -> Self {
                    Self(written.metres)
                }
            }

            impl Default for Plain {
                fn default() -> Self {
                    Self { word: Word::On, number: 7 }
                }
            }
        }
    }

    fn all() -> Value {
        json!({"name": "a", "inner": {"kind": "plain", "share": 2, "is-on": true}, "pair": [1, 2], "map": {"x": 3}, "any": {"b": [null, 1.5]},
               "list": [{"kind": "2p", "count": 7}, {"kind": "veryplain", "count": null}, {"kind": {"plain": null}}],
               "fields": {"z": 1, "a": 2}, "share": 0.25, "length": {"metres": 4, "feet": 13}, "mixed": "s3-fifo", "plain": {"word": "and_so"}})
    }

    /// Read a document with both derives, and with ours through serde.
    fn read(document: &Value) -> [String; 3] {
        let ours = from_value::<ours::Outer>(document).map_err(|problem| problem.message);
        let through = serde_json::from_value::<ours::Outer>(document.clone()).map_err(|error| error.to_string());
        let theirs = serde_json::from_value::<theirs::Outer>(document.clone()).map_err(|error| error.to_string());
        [format!("{ours:?}"), format!("{through:?}"), format!("{theirs:?}")]
    }

    #[test]
    fn a_value_is_read_as_serde_reads_it() {
        for document in [all(), json!({"name": "a"}), json!({"name": "", "plain": {"number": 1}, "inner": null, "list": [], "share": null})]
        {
            let [ours, through, theirs] = read(&document);
            assert!(ours.starts_with("Ok"), "{ours}");
            assert_eq!((&ours, &through), (&theirs, &theirs));
        }
        assert_eq!(from_value::<Value>(&all()), Ok(all()));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_path_in_serdes_words() {
        for (path, wrong, at) in [
            ("/name", json!(3), "name"),
            ("/name", json!(null), "name"),
            ("/inner/kind", json!("plian"), "inner.kind"),
            ("/inner/share", json!("half"), "inner.share"),
            ("/inner/is-on", json!(1), "inner.is-on"),
            ("/list/0/count", json!(-1), "list[0].count"),
            ("/list/0/count", json!(1.5), "list[0].count"),
            ("/list", json!({}), "list"),
            ("/pair", json!({}), "pair"),
            ("/pair", json!([]), "pair"),
            ("/pair/1", json!(1.5), "pair[1]"),
            ("/pair/0", json!(4_294_967_296_u64), "pair[0]"),
            ("/map/x", json!(null), "map.x"),
            ("/map", json!([]), "map"),
            ("/fields", json!(1), "fields"),
            ("/share", json!(2), "share"),
            ("/share", json!("2"), "share"),
            ("/length", json!({}), "length"),
            ("/length/metres", json!(true), "length.metres"),
            ("/mixed", json!("S3Fifo"), "mixed"),
            ("/plain", json!(3), "plain"),
            ("/plain/word", json!("AndSo"), "plain.word"),
            ("/inner", json!({}), "inner"),
            ("/inner", json!({"kind": "plain", "colour": 1}), "inner.colour"),
            ("/inner", json!({"is-on": 1, "colour": 1}), "inner.is-on"),
            ("/inner", json!({"colour": 1, "is-on": 1}), "inner.colour"),
            ("/inner", json!({"share": "half", "kind": 1}), "inner.share"),
        ] {
            let mut document = all();
            *document.pointer_mut(path).expect("a path") = wrong;
            let problem = from_value::<ours::Outer>(&document).expect_err("wrong");
            assert_eq!(problem.path, at, "{path}");
            let [ours, through, theirs] = read(&document);
            assert_eq!((&ours, &through), (&theirs, &theirs), "{path}");
        }
    }

    #[test]
    fn lists_of_the_wrong_length_and_contents_that_should_not_be_there_are_told() {
        let problem = |document: Value| from_value::<ours::Outer>(&document).expect_err("wrong").to_string();
        for (document, expected) in [
            (json!({"name": "a", "pair": [1]}), "pair: 1"),
            (json!({"name": "a", "pair": [1, 2, 3]}), "pair: 3, 2"),
            (json!({"name": "a", "inner": {"kind": {"plain": 1}}}), "inner.kind: integer `1`"),
            (json!({"name": "a", "inner": {"kind": false}}), "inner.kind: `false`, Kind"),
            (json!({"name": "a", "inner": {"kind": {}}}), "inner.kind: map"),
        ] {
            assert_problem(problem(document), expected);
        }
        assert!(has_values(&problem(json!({})), "`name`"));
        assert!(has_values(&problem(json!([])), "sequence, Outer"));
    }

    #[test]
    fn cache_policies_are_read_by_their_names() {
        for policy in PolicyKind::ALL {
            assert_eq!(from_value(&json!(policy)), Ok(policy));
        }
        let problem = from_value::<PolicyKind>(&json!("mru")).expect_err("wrong");
        assert!(has_values(&problem.message, "`mru`, `fifo`, `lru`"), "{problem}");
    }
}
