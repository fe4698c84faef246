//! What the checkout's files hold.

use crate::support::{library, read};
use seeklab_model::layers::zfs::check::NO_EFFECT;
use seeklab_spec::testing::has_values;
use serde_json::{Map, json};

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
fn every_variant_and_every_what_if_is_a_valid_scenario_whose_fields_have_an_effect() {
    for case in library().cases().expect("every case file reads") {
        let variants = case.variants.iter().map(|variant| (&variant.name, &variant.name, Map::new()));
        let what_ifs = case.what_ifs.iter().map(|what_if| (&what_if.title, &what_if.variant, what_if.set.clone()));
        for (name, variant, set) in variants.chain(what_ifs) {
            match case.scenario(Some(variant), &set, library().presets()) {
                Ok(checked) => {
                    let warned = seeklab_model::check::warnings(checked.scenario());
                    let without_effect = warned.iter().find(|problem| problem.message.starts_with(NO_EFFECT));
                    assert_eq!(without_effect, None, "{} {name}", case.id);
                }
                Err(problems) => panic!("{} {name}: {problems:?}", case.id),
            }
        }
    }
}

#[test]
fn every_variant_can_be_drawn_coarse_and_with_journeys() {
    for case in library().cases().expect("every case file reads") {
        assert!(case.variant(case.opens.as_deref()).is_ok(), "{}: opens", case.id);
        for variant in &case.variants {
            let mut coarse = case.coarse_of(variant);
            coarse.insert("record.journeys".into(), case.journeys.clone().into());
            let read = case.scenario(Some(&variant.name), &coarse, library().presets());
            assert!(read.is_ok(), "{} {}: {:?}", case.id, variant.name, read.err());
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
        let is_product = preset["device"].get("hdd").or(preset["device"].get("ssd")).is_some();
        assert_eq!(preset.get("basis").is_some(), is_product, "{preset}: the basis of a disk or drive, and of nothing else");
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

#[test]
fn the_error_of_a_case_survives_the_way_through_json() {
    let mut written = library().to_json();
    let document = written["cases"][0]["document"].take();
    written["cases"][0] = json!({"document": document, "error": {"path": "cases/mine.toml:7", "message": "wrong"}});
    let again = seeklab_library::Library::from_json(written.as_object().expect("an object")).expect("its form");
    assert_eq!(again.cases().expect_err("a wrong case")[0].to_string(), "cases/mine.toml:7: wrong");
    assert_eq!(again.to_json(), written);
}

/// The document of a case that reads, with one field replaced.
fn changed(pointer: &str, value: serde_json::Value) -> Result<(), String> {
    let mut library = library().to_json();
    *library["cases"][0]["document"].pointer_mut(pointer).expect("a field") = value;
    let library = seeklab_library::Library::from_json(library.as_object().expect("an object")).expect("its form");
    library.cases().map(|_| ()).map_err(|problems| problems[0].to_string())
}

#[test]
fn words_of_a_case_are_refused_with_the_words_that_are_accepted() {
    let wrong = |pointer: &str, value: serde_json::Value| changed(pointer, value).expect_err("refused");
    for (pointer, value, expected) in [
        ("/view", json!("speed"), "view, `speed`, `prefetch-strip`, `cluster-map`, `fan-out`"),
        ("/views", json!(["histogram", "Heatmap"]), "views[1], `Heatmap`, `histogram`"),
        ("/family", json!("Copy ofload"), "family, \"Copy ofload\", \"Copy offload\", ZFS"),
        ("/facts/0/documented", json!("about 25"), "facts[0].documented, \"about 25\", [40, 50]"),
        ("/facts/0/documented", json!([3, 2]), "facts[0].documented, [3,2], [40, 50]"),
        ("/facts/0/measure", json!({"ratoi": []}), "facts[0].measure, `ratoi`, metric"),
    ] {
        let problem = wrong(pointer, value);
        assert!(has_values(&problem, expected), "{problem}");
    }
}

#[test]
fn a_fact_has_what_its_kind_needs_and_nothing_that_it_rules_out() {
    let fact = |kind: &str, more: serde_json::Value| {
        let mut written = json!({
            "id": "Q1.1", "kind": kind, "title": "", "documented": 10, "tolerance": "10%", "unit": "ms", "measure": {"metric": "a"},
        });
        written.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        written
    };
    // The field that is named, for each wrong fact; what is right with it is the same as of the last, which reads.
    let input = json!({"set": {"volume.cache.size": "1GiB"}, "law": "as it was"});
    let ablation = json!({"what": "the cache", "set": {"volume.cache.size": 0}});
    let check = json!([{"title": "", "documented": 5, "tolerance": "exact", "unit": "ms", "measure": {"metric": "a"}}]);
    let wrong = [
        ("misses_because", fact("discrepancy", json!({}))),
        ("misses_because", fact("discrepancy", json!({"misses_because": ""}))),
        ("instead", fact("calibrated", json!({"instead": check}))),
        ("instead", fact("predicted", json!({"instead": check, "break": ablation, "inputs": [input, input]}))),
        ("break", fact("predicted", json!({"inputs": [input, input]}))),
        ("inputs", fact("predicted", json!({"break": ablation, "inputs": [input]}))),
        ("inputs[1].set", fact("predicted", json!({"break": ablation, "inputs": [input, {"set": {}, "law": "as it was"}]}))),
    ];
    for (field, fact) in wrong {
        let problem = changed("/facts/0", fact).expect_err("refused");
        assert!(problem.contains(&format!(".toml:1: facts[0].{field}: ")), "{problem}");
    }
    let measured = json!({"set": {}, "law": "as it was", "measure": {"metric": "b"}});
    for fact in [
        fact("discrepancy", json!({"misses_because": "it does not add up", "instead": check})),
        fact("calibrated", json!({})),
        fact("predicted", json!({"break": ablation, "inputs": [input, measured]})),
    ] {
        assert_eq!(changed("/facts/0", fact), Ok(()));
    }
}

#[test]
fn cases_are_shown_family_by_family_and_by_number() {
    let codes: Vec<&str> = library().cases_by_family().expect("every case file reads").iter().map(|case| case.code.as_str()).collect();
    let place = |code: &str| codes.iter().position(|own| *own == code).expect("a case");
    assert!(["Q1", "Q3", "Z1", "N1", "N4", "N2", "S2", "S10"].map(place).is_sorted(), "{codes:?}");
}
