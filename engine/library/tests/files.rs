//! What the checkout's files hold.

mod support;

use serde_json::{Map, json};
use support::{library, read};

#[test]
fn a_case_is_found_by_its_id_and_by_its_code() {
    let cases = library().cases().expect("every case file reads");
    assert!(!cases.is_empty());
    for case in cases {
        let by_code = library().case(&case.code.to_lowercase()).expect("a case");
        assert_eq!((&library().case(&case.id).expect("a case").code, &by_code.id), (&case.code, &case.id));
    }
}

#[test]
fn every_variant_and_every_what_if_is_a_valid_scenario() {
    for case in library().cases().expect("every case file reads") {
        let variants = case.variants.iter().map(|variant| (&variant.name, &variant.name, Map::new()));
        let what_ifs = case.what_ifs.iter().map(|what_if| (&what_if.title, &what_if.variant, what_if.set.clone()));
        for (name, variant, set) in variants.chain(what_ifs) {
            if let Err(problems) = case.scenario(Some(variant), &set, library().presets()) {
                panic!("{} {name}: {problems:?}", case.id);
            }
        }
    }
}

#[test]
fn every_scenario_is_read_again_as_it_was_written() {
    for case in library().cases().expect("every case file reads") {
        for variant in &case.variants {
            let checked = case.scenario(Some(&variant.name), &Map::new(), library().presets()).expect("a valid variant");
            let written = serde_json::to_value(checked.scenario()).expect("JSON");
            let again = read(&written).unwrap_or_else(|problems| panic!("{} {}: {problems:?}", case.id, variant.name));
            assert_eq!(serde_json::to_value(again.scenario()).expect("JSON"), written, "{} {}", case.id, variant.name);
        }
    }
}

#[test]
fn every_preset_names_its_source_and_runs_alone() {
    for preset in library().presets().iter() {
        for field in ["name", "title", "source"] {
            assert!(preset.get(field).is_some(), "{preset}: {field}");
        }
        assert!(preset.get("device").is_some() != preset.get("system").is_some(), "{preset}: a device or a system");
        let mut alone = library().presets().system(preset["name"].as_str().expect("a name")).expect("a system");
        alone["jobs"] = json!([{"name": "a", "size": "1GiB"}]);
        read(&alone).unwrap_or_else(|problems| panic!("{preset}: {problems:?}"));
    }
}

#[test]
fn a_library_survives_the_way_through_json() {
    let written = library().to_json();
    let again = seeklab_library::Library::from_json(written.as_object().expect("an object")).expect("its form");
    assert_eq!(again.to_json(), written);
    assert_eq!(again.len(), library().len());
}
