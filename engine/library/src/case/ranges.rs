//! Ranges of facts as they were last measured: over several seeds, and at other values of their inputs.
//!
//! Measuring them takes minutes, so they stand in a file beside the cases, `engine/ranges.json`, which `make ranges` writes and nobody
//! edits. `make full` measures all of them again, `make test` a sample, and what is stored must come out. A verdict uses them: a fact
//! that holds with one seed only is a miss.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use seeklab_spec::reader::FromJson;
use serde::Serialize;

use super::facts::{Check, Fact, Kind};
use super::verdict::StoredRow;

/// Ranges by the fact's id.
pub type Ranges = BTreeMap<String, Stored>;

/// The stored results of one fact.
#[derive(Clone, Debug, PartialEq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stored {
    /// Number of seeds.
    pub seeds: u64,
    /// Least and greatest simulated value of the fact, of its further checks, and of what holds instead, in this order.
    pub ranges: Vec<[f64; 2]>,
    /// The simulated value at each of the fact's other inputs, with the first seed, in the case file's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<f64>,
}

impl Stored {
    /// The stored ranges beside what the case file says today. Tolerances are intervals, so a range lies within one when its ends do.
    pub(super) fn row(&self, fact: &Fact) -> StoredRow {
        let holds = |check: &Check, value: &f64| check.tolerance.holds(check.documented, *value);
        let within = |(check, range): (&Check, &[f64; 2])| range.iter().all(|value| holds(check, value));
        let checks: Vec<&Check> = [&fact.check].into_iter().chain(&fact.also).chain(&fact.instead).collect();
        // What must hold of a discrepancy is not the source's claim.
        let claims = if fact.kind == Kind::Discrepancy { 1 + fact.also.len() } else { 0 };
        let inputs: Vec<Check> = fact.inputs.iter().map(|input| input.check(fact)).collect();
        StoredRow {
            seeds: self.seeds,
            held: self.ranges.len() == checks.len() && checks.into_iter().zip(&self.ranges).skip(claims).all(within),
            range: self.ranges.first().copied().unwrap_or([f64::NAN; 2]),
            inputs_held: self.inputs.len() == inputs.len() && inputs.iter().zip(&self.inputs).all(|(check, value)| holds(check, value)),
            inputs: self.inputs.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fact(kind: &str, more: &serde_json::Value) -> Fact {
        let mut written = json!({
            "id": "X1.1", "kind": kind, "title": "", "documented": 10, "tolerance": "10%", "unit": "ms", "measure": {"metric": "a"},
        });
        written.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        serde_json::from_value(written).expect("a fact")
    }

    #[test]
    fn a_fact_that_one_seed_leaves_is_not_held() {
        let stored = |range| Stored { seeds: 5, ranges: vec![range], inputs: vec![] }.row(&fact("predicted", &json!({})));
        assert!(stored([9.5, 11.0]).held);
        assert!(!stored([9.5, 11.1]).held);
        assert!(!stored([8.9, 10.0]).held);
    }

    #[test]
    fn each_further_input_is_held_to_its_own_expectation() {
        let fact = fact("predicted", &json!({"inputs": [{"set": {}, "law": "twice", "documented": 20}, {"set": {}, "law": "as it was"}]}));
        let held = |inputs: &[f64]| Stored { seeds: 5, ranges: vec![[10.0; 2]], inputs: inputs.to_vec() }.row(&fact).inputs_held;
        assert!(held(&[20.0, 10.0]));
        assert!(!held(&[10.0, 10.0]));
        assert!(!held(&[20.0]), "an input that was never measured");
    }

    #[test]
    fn of_a_discrepancy_only_what_holds_instead_is_held() {
        let instead = json!({"instead": [{"title": "", "documented": 5, "tolerance": "exact", "unit": "ms", "measure": {"metric": "a"}}]});
        let fact = fact("discrepancy", &instead);
        let held = |instead| Stored { seeds: 5, ranges: vec![[5.0; 2], instead], inputs: vec![] }.row(&fact).held;
        assert!(held([5.0; 2]) && !held([5.0, 6.0]));
    }
}
