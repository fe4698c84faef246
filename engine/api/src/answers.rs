//! The table of calls, with the type of what each answers, and the JSON Schema of those types.
//!
//! A call is one line. Its type is that of the function, so that schema and answer cannot disagree; the build makes the web's types
//! of the schema.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{Schema, SchemaGenerator};
use seeklab_cache::curve::Point;
use seeklab_library::Library;
use seeklab_library::case::Case;
use seeklab_library::case::controls::Control;
use seeklab_library::case::verdict::FactRow;
use seeklab_library::design::PoolDesign;
use seeklab_observe::fio::ParsedJobFile;
use seeklab_observe::listing::MetricEntry;
use seeklab_observe::parted::Alignment;
use seeklab_observe::reduction::Reduced;
use seeklab_observe::tools::{Tool, tools};
use seeklab_spec::{Problem, Problems, Scenario};

use serde_json::{Map, Value, json};

use crate::curve::CurvePoint;
use crate::drive::DriveAgreement;
use crate::entries::{CaseEntry, ColumnEntry, PresetEntry, Version};
use crate::input::{needed, to_value};
use crate::summary::Summary;
use crate::trace_info::TraceInfo;
use crate::{cache, control, curve, drive, facts, in_effect, replay, simulation, validate};

pub(crate) type Call = fn(&Library, &Map<String, Value>) -> Result<Value, Problems>;

/// Declares the calls, `name: type = function`, and the types that cross beside them.
macro_rules! answers {
    (calls { $($name:literal: $answer:ty = $call:expr,)* } types { $($kind:ty,)* }) => {
        /// Every call that hosts have but `give_library`, which changes the engine.
        pub(crate) const CALLS: &[(&str, Call)] = &[$(($name, |library, input| {
            let call: for<'a> fn(&'a Library, &'a Map<String, Value>) -> Result<$answer, Problems> = $call;
            to_value(&call(library, input)?)
        }),)*];

        /// The schema of what each call answers; those of the other types are among the definitions.
        #[allow(clippy::extra_unused_lifetimes)] // the types of answers that borrow name it
        fn schemas<'a>(generator: &mut SchemaGenerator) -> Map<String, Value> {
            $(generator.subschema_for::<$kind>();)*
            Map::from_iter([$(($name.to_owned(), generator.subschema_for::<$answer>().to_value())),*])
        }
    };
}

answers! {
    calls {
        "version": Version = |_, _| Ok(Version { engine: env!("CARGO_PKG_VERSION") }),
        "cases": Vec<CaseEntry> = |library, _| {
            Ok(library.cases_by_family()?.into_iter().map(|case| CaseEntry::of(library, case)).collect())
        },
        "case": &'a Case = |library, input| library.case(needed(input, "id")?).map(AsRef::as_ref),
        "schema": &'a Value = |_, _| Ok(seeklab_model::schema()),
        "presets": Vec<PresetEntry> = |library, _| Ok(library.presets().iter().map(PresetEntry::of).collect()),
        "tools": Vec<Tool> = |_, _| Ok(tools()),
        "scenario": Scenario = |library, input| Ok(simulation::read_case(library, input)?.1.into_parts().0),
        "validate": Scenario = validate,
        "in_effect": Scenario = in_effect,
        "control": Vec<Control> = control,
        "facts": Vec<FactRow> = facts::facts,
        "measure": f64 = facts::measure,
        "cache": Vec<Point> = |_, input| cache::replay(input),
        "curve": Vec<CurvePoint> = |_, input| curve::points(input),
        "design": PoolDesign = seeklab_library::design::answer,
        "drive": DriveAgreement = |_, input| drive::replay(input),
        "trace_info": TraceInfo = |_, input| replay::info(input),
        "fio_parse": ParsedJobFile = |library, input| seeklab_observe::fio::parse(input, library.presets()),
        "reduce": Reduced = |_, input| seeklab_observe::reduction::answer(input),
        "alignment": Alignment = |_, input| seeklab_observe::parted::alignment(input),
    }
    types { Problem, Summary, ColumnEntry, MetricEntry, }
}

/// The JSON Schema of all answers: an object with a property for each call, and the definitions of all types that cross. For build
/// steps: the code that does it is many times larger than its result.
#[must_use]
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize().with_transform(RecursiveTransform(absent_not_null));
    let mut generator = settings.into_generator();
    // First of all, so that its types have their own names here too.
    generator.subschema_for::<Scenario>();
    let calls = schemas(&mut generator);
    json!({
        "title": "Answers",
        "description": "The answer of each call.",
        "type": "object",
        "required": calls.keys().collect::<Vec<_>>(),
        "properties": calls,
        "$defs": generator.take_definitions(true),
    })
}

/// Mark optional fields as absent instead of null.
fn absent_not_null(schema: &mut Schema) {
    let required: Vec<Value> = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (_, property) in properties.iter_mut().filter(|(name, _)| !required.iter().any(|other| other == *name)) {
        if let Some(Value::Array(kinds)) = property.get_mut("type") {
            kinds.retain(|kind| kind != "null");
        }
        if let Some(Value::Array(choices)) = property.get_mut("anyOf") {
            choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_has_every_call_and_the_definition_of_every_type_it_names() {
        let schema = schema();
        let calls: Vec<&str> = CALLS.iter().map(|(name, _)| *name).collect();
        assert_eq!(schema["properties"].as_object().expect("calls").keys().collect::<Vec<_>>(), calls);
        let text = schema.to_string();
        for reference in text.split("\"#/$defs/").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(schema["$defs"].get(reference).is_some(), "{reference}");
        }
    }

    #[test]
    fn a_scenario_and_its_answers_share_no_name_for_different_types() {
        let (answers, scenario) = (schema(), seeklab_model::schema());
        let own = |name: &&String| scenario["$defs"].get(name.as_str()).is_none() && *name != "Scenario";
        // The generator tells two types of one name apart by a number.
        let numbered: Vec<&String> =
            answers["$defs"].as_object().expect("types").keys().filter(own).filter(|name| name.ends_with(char::is_numeric)).collect();
        assert_eq!(numbered, [""; 0], "give one of the two another name: #[schemars(rename = \"...\")]");
    }

    #[test]
    fn what_is_left_out_where_there_is_none_is_never_null() {
        let nearest = &schema()["$defs"]["Problem"]["properties"]["nearest"];
        assert_eq!(nearest["type"], json!(["string"]));
        let case = &schema()["$defs"]["Summary"]["properties"]["case"];
        assert_eq!(case["type"], json!(["string", "null"]), "this one is always there");
    }
}
