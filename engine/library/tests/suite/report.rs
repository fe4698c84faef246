//! What runs report, over all cases: metrics whose units are in their names, and tables that are declared once.

use std::collections::{BTreeMap, BTreeSet};

use seeklab_library::Library;
use seeklab_model::result::metrics::Unit;
use seeklab_model::stack::Stack;
use serde_json::{Map, json};

/// Enough for each layer of a case to have done something.
const EVENTS: u64 = 20_000;

/// Looks at the beginning of a run of each variant of each case, with journeys, which are recorded when asked for.
fn at_each_beginning(mut look: impl FnMut(&str, &Stack)) {
    let watched = Map::from_iter([("record.journeys".to_owned(), json!({}))]);
    let library = Library::of_checkout().unwrap_or_else(|problems| panic!("{problems:?}"));
    for case in library.cases().unwrap_or_else(|problems| panic!("{problems:?}")) {
        for variant in &case.variants {
            let name = format!("{} {}", case.id, variant.name);
            let checked = case.scenario(Some(&variant.name), &watched, library.presets());
            let mut stack = Stack::new(checked.unwrap_or_else(|problems| panic!("{name}: {problems:?}")), 1);
            stack.step(EVENTS).unwrap_or_else(|problem| panic!("{name}: {problem}"));
            look(&name, &stack);
        }
    }
}

#[test]
fn each_metric_has_one_name_and_the_unit_that_it_ends_with() {
    let mut units = BTreeSet::new();
    at_each_beginning(|run, stack| {
        let mut names = BTreeSet::new();
        for metric in seeklab_observe::metrics(stack) {
            assert_eq!(metric.unit, Unit::of(&metric.name), "{run}: {}", metric.name);
            assert!(names.insert(metric.name.clone()), "{run}: {} is there twice", metric.name);
            units.insert(metric.unit.symbol());
        }
    });
    assert!(units.len() > 10, "nearly all units are in use: {units:?}");
}

#[test]
fn each_metric_says_what_it_is_in_one_sentence() {
    let mut helps = BTreeMap::new();
    at_each_beginning(|run, stack| {
        for metric in seeklab_observe::metrics(stack) {
            let (name, help) = (metric.name, metric.help);
            assert!(
                help.len() > 8 && help.ends_with('.') && help.starts_with(char::is_uppercase),
                "{run}: {name} is said to be \"{help}\""
            );
            helps.insert(help, name);
        }
    });
    assert!(helps.len() > 120, "nearly all metrics are in use: {}", helps.len());
}

#[test]
fn the_list_of_metrics_has_what_the_run_reports() {
    let library = Library::of_checkout().unwrap_or_else(|problems| panic!("{problems:?}"));
    let case = library.case("odx-prefetch").expect("a case");
    let checked = case.scenario(None, &Map::new(), library.presets()).expect("a scenario");
    let mut stack = Stack::new(checked, 1);
    stack.step(EVENTS).expect("a run");
    let metrics = seeklab_observe::metrics(&stack);
    let print = |tool: &str| seeklab_observe::print(&stack, tool, &Map::new()).expect("a text");
    let rows: Vec<serde_json::Value> = serde_json::from_str(&print("metrics-json")).expect("JSON");
    let text = print("metrics");
    assert_eq!((rows.len(), text.lines().count()), (metrics.len(), metrics.len()));
    for ((row, line), metric) in rows.iter().zip(text.lines()).zip(&metrics) {
        let value = row["value"].as_f64().expect("a number");
        assert!((value - metric.value).abs() <= 1e-15 * value.abs(), "{}: the last digit may be lost in reading", metric.name);
        assert_eq!(row["name"], metric.name);
        assert_eq!((row["unit"].as_str(), row["help"].as_str()), (Some(metric.unit.symbol()), Some(metric.help)));
        assert!(line.starts_with(&metric.name) && line.ends_with(metric.help), "{line}");
    }
}

#[test]
fn no_two_columns_have_the_same_name() {
    let names = seeklab_observe::column_names();
    let different: BTreeSet<&String> = names.iter().collect();
    assert_eq!(different.len(), names.len());
}

#[test]
fn each_declared_column_can_be_read_of_each_run_and_is_as_long_as_its_table() {
    let names = seeklab_observe::column_names();
    let mut dtypes = BTreeMap::new();
    let mut filled = BTreeSet::new();
    at_each_beginning(|run, stack| {
        let mut lengths = BTreeMap::new();
        for name in &names {
            let column = seeklab_observe::column(stack, name).unwrap_or_else(|| panic!("{run}: no {name}"));
            let (table, _) = name.split_once('.').expect("a table and a column");
            assert_eq!(*lengths.entry(table).or_insert(column.len()), column.len(), "{run}: rows of {name}");
            assert_eq!(*dtypes.entry(name).or_insert(column.dtype()), column.dtype(), "{run}: type of {name}");
            if !column.is_empty() {
                filled.insert(table);
            }
        }
    });
    let tables: BTreeSet<&str> = names.iter().filter_map(|name| Some(name.split_once('.')?.0)).collect();
    assert_eq!(filled, tables, "each table has rows in some run");
}
