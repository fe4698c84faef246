//! Types from JSON values and back, in little code.
//!
//! `serde_json` has conversions too; in the engine's module they took a sixth of it, because each type was compiled with a
//! second reader, from lists, and with texts for errors that nobody sees: a scenario is checked against its schema first,
//! which words every mistake with its path (see [`crate::scenario::schema`]), and case files are read strictly by a test.
//! Here a type is read from an object only, and what does not fit is a [`Mismatch`] without further words.
//!
//! Left out: enumerations whose variants hold values (an untagged one reads the whole [`Value`] and chooses by itself),
//! bytes, and maps whose keys are not texts.

use std::fmt::{self, Display};

use serde::de::{self, DeserializeOwned, DeserializeSeed, IntoDeserializer, Visitor};
use serde::ser::{self, Impossible, Serialize};
use serde::{Deserializer, Serializer, forward_to_deserialize_any};
use serde_json::{Map, Value};

/// A value and a type do not go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch;

impl Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("does not fit its type")
    }
}

impl std::error::Error for Mismatch {}

impl de::Error for Mismatch {
    fn custom<T: Display>(_: T) -> Self {
        Self
    }
    fn invalid_type(_: de::Unexpected<'_>, _: &dyn de::Expected) -> Self {
        Self
    }
    fn invalid_value(_: de::Unexpected<'_>, _: &dyn de::Expected) -> Self {
        Self
    }
    fn invalid_length(_: usize, _: &dyn de::Expected) -> Self {
        Self
    }
    fn unknown_variant(_: &str, _: &'static [&'static str]) -> Self {
        Self
    }
    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Self
    }
    fn missing_field(_: &'static str) -> Self {
        Self
    }
    fn duplicate_field(_: &'static str) -> Self {
        Self
    }
}

impl ser::Error for Mismatch {
    fn custom<T: Display>(_: T) -> Self {
        Self
    }
}

/// Reads a type from a value.
///
/// # Errors
/// When the value does not fit the type.
pub fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T, Mismatch> {
    T::deserialize(Reader(value))
}

/// Writes a type as a value.
///
/// # Errors
/// When the type has a form that this module leaves out.
pub fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<Value, Mismatch> {
    value.serialize(Writer)
}

#[derive(Clone, Copy)]
struct Reader<'a>(&'a Value);

impl<'a> IntoDeserializer<'a, Mismatch> for Reader<'a> {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Reader<'de> {
    fn number<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.0 {
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(whole), ..) => visitor.visit_u64(whole),
                (None, Some(whole), _) => visitor.visit_i64(whole),
                (None, None, Some(number)) => visitor.visit_f64(number),
                (None, None, None) => Err(Mismatch),
            },
            _ => Err(Mismatch),
        }
    }
}

macro_rules! numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
            self.number(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = Mismatch;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(truth) => visitor.visit_bool(*truth),
            Value::Number(_) => self.number(visitor),
            Value::String(text) => visitor.visit_str(text),
            Value::Array(items) => visitor.visit_seq(Items(items.iter())),
            Value::Object(fields) => visitor.visit_map(Fields { rest: fields.iter(), value: &Value::Null }),
        }
    }

    numbers! {
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_f32 deserialize_f64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_bool(self.0.as_bool().ok_or(Mismatch)?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_str(self.0.as_str().ok_or(Mismatch)?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_seq(Items(self.0.as_array().ok_or(Mismatch)?.iter()))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Mismatch> {
        let items = self.0.as_array().filter(|items| items.len() == length).ok_or(Mismatch)?;
        visitor.visit_seq(Items(items.iter()))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        let fields = self.0.as_object().ok_or(Mismatch)?;
        visitor.visit_map(Fields { rest: fields.iter(), value: &Value::Null })
    }

    fn deserialize_struct<V: Visitor<'de>>(self, _: &'static str, _: &'static [&'static str], visitor: V) -> Result<V::Value, Mismatch> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(self, _: &'static str, _: &'static [&'static str], visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_enum(self.0.as_str().ok_or(Mismatch)?.into_deserializer())
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! { char bytes byte_buf unit unit_struct tuple_struct }
}

struct Items<'a>(std::slice::Iter<'a, Value>);

impl<'a> de::SeqAccess<'a> for Items<'a> {
    type Error = Mismatch;
    fn next_element_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<Option<T::Value>, Mismatch> {
        self.0.next().map(|item| seed.deserialize(Reader(item))).transpose()
    }
    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Fields<'a> {
    rest: serde_json::map::Iter<'a>,
    /// Of the field whose name was read last.
    value: &'a Value,
}

impl<'a> de::MapAccess<'a> for Fields<'a> {
    type Error = Mismatch;
    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>, Mismatch> {
        let Some((name, value)) = self.rest.next() else { return Ok(None) };
        self.value = value;
        seed.deserialize(name.as_str().into_deserializer()).map(Some)
    }
    fn next_value_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<T::Value, Mismatch> {
        seed.deserialize(Reader(self.value))
    }
}

struct Writer;

struct List(Vec<Value>);

struct Object {
    fields: Map<String, Value>,
    /// Of the field whose value comes next.
    name: String,
}

impl Object {
    fn empty() -> Self {
        Self { fields: Map::new(), name: String::new() }
    }
    fn insert(&mut self, name: &str, value: Value) {
        self.fields.insert(name.to_owned(), value);
    }
}

macro_rules! written {
    ($($method:ident $type:ty)*) => {$(
        fn $method(self, value: $type) -> Result<Value, Mismatch> {
            Ok(Value::from(value))
        }
    )*};
}

impl Serializer for Writer {
    type Ok = Value;
    type Error = Mismatch;
    type SerializeSeq = List;
    type SerializeTuple = List;
    type SerializeTupleStruct = Impossible<Value, Mismatch>;
    type SerializeTupleVariant = Impossible<Value, Mismatch>;
    type SerializeMap = Object;
    type SerializeStruct = Object;
    type SerializeStructVariant = Impossible<Value, Mismatch>;

    written! {
        serialize_bool bool
        serialize_u8 u8 serialize_u16 u16 serialize_u32 u32 serialize_u64 u64
        serialize_i8 i8 serialize_i16 i16 serialize_i32 i32 serialize_i64 i64
        serialize_f32 f32 serialize_f64 f64
        serialize_str &str
    }

    fn serialize_char(self, value: char) -> Result<Value, Mismatch> {
        Ok(Value::String(value.into()))
    }
    fn serialize_bytes(self, _: &[u8]) -> Result<Value, Mismatch> {
        Err(Mismatch)
    }
    fn serialize_none(self) -> Result<Value, Mismatch> {
        Ok(Value::Null)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Value, Mismatch> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<Value, Mismatch> {
        Ok(Value::Null)
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<Value, Mismatch> {
        Ok(Value::Null)
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<Value, Mismatch> {
        self.serialize_str(variant)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<Value, Mismatch> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(self, _: &'static str, _: u32, _: &'static str, _: &T) -> Result<Value, Mismatch> {
        Err(Mismatch)
    }
    fn serialize_seq(self, length: Option<usize>) -> Result<List, Mismatch> {
        Ok(List(Vec::with_capacity(length.unwrap_or_default())))
    }
    fn serialize_tuple(self, length: usize) -> Result<List, Mismatch> {
        self.serialize_seq(Some(length))
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeTupleStruct, Mismatch> {
        Err(Mismatch)
    }
    fn serialize_tuple_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Self::SerializeTupleVariant, Mismatch> {
        Err(Mismatch)
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Object, Mismatch> {
        Ok(Object::empty())
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Object, Mismatch> {
        Ok(Object::empty())
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Mismatch> {
        Err(Mismatch)
    }
}

impl ser::SerializeSeq for List {
    type Ok = Value;
    type Error = Mismatch;
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Mismatch> {
        self.0.push(value.serialize(Writer)?);
        Ok(())
    }
    fn end(self) -> Result<Value, Mismatch> {
        Ok(Value::Array(self.0))
    }
}

impl ser::SerializeTuple for List {
    type Ok = Value;
    type Error = Mismatch;
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Mismatch> {
        ser::SerializeSeq::serialize_element(self, value)
    }
    fn end(self) -> Result<Value, Mismatch> {
        Ok(Value::Array(self.0))
    }
}

impl ser::SerializeMap for Object {
    type Ok = Value;
    type Error = Mismatch;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Mismatch> {
        match key.serialize(Writer)? {
            Value::String(name) => self.name = name,
            _ => return Err(Mismatch),
        }
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Mismatch> {
        let name = std::mem::take(&mut self.name);
        self.insert(&name, value.serialize(Writer)?);
        Ok(())
    }
    fn end(self) -> Result<Value, Mismatch> {
        Ok(Value::Object(self.fields))
    }
}

impl ser::SerializeStruct for Object {
    type Ok = Value;
    type Error = Mismatch;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Mismatch> {
        self.insert(name, value.serialize(Writer)?);
        Ok(())
    }
    fn end(self) -> Result<Value, Mismatch> {
        Ok(Value::Object(self.fields))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::library;
    use crate::scenario::Scenario;

    #[derive(Debug, PartialEq, Deserialize, serde::Serialize)]
    #[serde(rename_all = "lowercase")]
    enum Word {
        One,
        Two,
    }

    #[derive(Debug, PartialEq, Deserialize, serde::Serialize)]
    #[serde(deny_unknown_fields)]
    struct All {
        word: Word,
        truth: bool,
        whole: u32,
        below: i64,
        real: f64,
        text: String,
        pair: [u8; 2],
        list: Vec<Option<u64>>,
        map: BTreeMap<String, Value>,
        #[serde(default)]
        absent: Option<Box<All>>,
    }

    fn all() -> Value {
        json!({
            "word": "two", "truth": true, "whole": 7, "below": -3, "real": 2.5, "text": "a", "pair": [1, 2],
            "list": [1, null], "map": {"x": [1, {"y": null}]}, "absent": null,
        })
    }

    #[test]
    fn what_is_read_is_written_again_the_same() {
        let read: All = from_value(&all()).expect("it fits");
        assert_eq!(read, serde_json::from_value(all()).expect("it fits"));
        assert_eq!(to_value(&read), Ok(all()));
        assert_eq!(serde_json::to_value(&read).expect("JSON"), all());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (name, wrong) in [
            ("word", json!("three")),
            ("truth", json!(1)),
            ("whole", json!(-1)),
            ("whole", json!(1_u64 << 32)),
            ("whole", json!(1.5)),
            ("below", json!("3")),
            ("text", json!(3)),
            ("pair", json!([1])),
            ("pair", json!([1, 2, 3])),
            ("list", json!({})),
            ("map", json!([])),
            ("other", json!(1)),
        ] {
            let mut value = all();
            value[name] = wrong.clone();
            assert_eq!(from_value::<All>(&value), Err(Mismatch), "{name} {wrong}");
        }
        assert_eq!(from_value::<All>(&json!({"word": "one"})), Err(Mismatch));
        assert_eq!(from_value::<All>(&json!([])), Err(Mismatch));
    }

    #[test]
    fn every_scenario_reads_and_writes_as_with_serde_json() {
        for case in library::cases().expect("cases") {
            for variant in &case.variants {
                let scenario = case.scenario(Some(&variant.name), &Map::new()).expect("a valid variant");
                let written = serde_json::to_value(&scenario).expect("JSON");
                assert_eq!(to_value(&scenario), Ok(written.clone()));
                assert_eq!(serde_json::to_value(from_value::<Scenario>(&written).expect("it fits")).expect("JSON"), written);
            }
        }
    }
}
