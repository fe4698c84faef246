//! What runs report, over all cases: metrics whose units are in their names, and tables that are declared once.

use std::collections::{BTreeMap, BTreeSet};

use seeklab_library::Library;
use seeklab_model::result::metrics::Unit;
use seeklab_model::stack::Stack;
use serde_json::Map;

/// Enough for each layer of a case to have done something.
const EVENTS: u64 = 20_000;

/// Looks at the beginning of a run of each variant of each case.
fn at_each_beginning(mut look: impl FnMut(&str, &Stack)) {
    let library = Library::of_checkout().unwrap_or_else(|problems| panic!("{problems:?}"));
    for case in library.cases().unwrap_or_else(|problems| panic!("{problems:?}")) {
        for variant in &case.variants {
            let name = format!("{} {}", case.id, variant.name);
            let checked = case.scenario(Some(&variant.name), &Map::new(), library.presets());
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
