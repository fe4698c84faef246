//! Facts as rows: documented beside simulated, and the verdict. What command line, pages, notebooks and README print.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::facts::Kind;
use super::tolerance::{Documented, Tolerance};

/// The verdict on a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub enum Verdict {
    /// The simulated values meet the documented ones, on every seed and at every further point that was looked at.
    #[serde(rename = "holds")]
    Holds,
    /// They do not, and the model is at fault until somebody shows otherwise.
    #[serde(rename = "model misses")]
    ModelMisses,
    /// They do not, because the source's own arithmetic does not hold: a finding.
    #[serde(rename = "source contradicts itself")]
    SourceContradictsItself,
}

/// A documented value beside the simulated one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CheckRow {
    /// Name of the fact.
    pub title: String,
    /// Value that the source documents.
    pub documented: Documented,
    /// Result of the model with the first seed.
    pub simulated: f64,
    /// Unit of both.
    pub unit: String,
    /// How near they must come.
    pub tolerance: Tolerance,
    /// Whether every simulated value comes so near.
    pub ok: bool,
    /// Least and greatest simulated value, when several seeds were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// The simulated value of each seed, when several were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<f64>,
}

/// A fact judged at other values of its inputs, with the first seed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct InputRow {
    /// Changes at that point.
    pub set: Map<String, Value>,
    /// The expected and the measured value. The title explains the expectation.
    #[serde(flatten)]
    pub check: CheckRow,
}

/// The stored results of the last measurement, over several seeds and at other values of the inputs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StoredRow {
    /// Number of seeds.
    pub seeds: u64,
    /// Whether the fact held on each of them; of a discrepancy, what holds instead.
    pub held: bool,
    /// Least and greatest simulated value.
    pub range: [f64; 2],
    /// Whether the fact held at each of the other values of its inputs.
    pub inputs_held: bool,
    /// The number of these.
    pub inputs: u64,
}

/// A fact: documented, simulated, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FactRow {
    /// The value and what the model makes of it. `ok` speaks of all the fact's checks, seeds and inputs that were looked at.
    #[serde(flatten)]
    pub check: CheckRow,
    /// The case's id.
    pub case: String,
    /// Number of the fact, such as Q1.1.
    pub id: String,
    /// How the simulated value came about.
    pub kind: Kind,
    /// The verdict.
    pub verdict: Verdict,
    /// Note for the reader.
    pub note: String,
    /// Why the fact is known to miss, or what is wrong with the source.
    pub misses_because: Option<String>,
    /// The mechanism that its ablation switches off.
    #[serde(rename = "break")]
    pub ablation: Option<String>,
    /// Further values that the fact needs.
    pub checks: Vec<CheckRow>,
    /// Of a discrepancy: what holds instead of the source's claim.
    pub instead: Vec<CheckRow>,
    /// The fact at other values of its inputs, when these were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<InputRow>,
    /// The stored results of its last measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored: Option<StoredRow>,
}

impl FactRow {
    /// Return the verdict on a fact. A source contradicts itself when its claim is not met but the alternative checks are. If
    /// the claim of a discrepancy is met, or an alternative check fails, the model misses it.
    pub(super) fn verdict(&self) -> Verdict {
        let held = self.stored.as_ref().is_none_or(|stored| stored.held && stored.inputs_held);
        let instead = self.instead.iter().all(|check| check.ok);
        match self.kind {
            Kind::Discrepancy if !self.check.ok && instead && held => Verdict::SourceContradictsItself,
            Kind::Predicted | Kind::Calibrated if self.check.ok && held => Verdict::Holds,
            _ => Verdict::ModelMisses,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The verdict on a fact of a kind: whether this run meets it, whether what holds instead does, what is stored of it.
    fn verdict(kind: Kind, ok: bool, instead: bool, stored: Option<(bool, bool)>) -> Verdict {
        let check = |ok| CheckRow {
            title: String::new(),
            documented: Documented::Value(1.0),
            simulated: 1.0,
            unit: String::new(),
            tolerance: Tolerance::Exact,
            ok,
            range: None,
            values: Vec::new(),
        };
        let row = FactRow {
            check: check(ok),
            case: String::new(),
            id: String::new(),
            kind,
            verdict: Verdict::ModelMisses,
            note: String::new(),
            misses_because: None,
            ablation: None,
            checks: Vec::new(),
            instead: vec![check(instead)],
            inputs: Vec::new(),
            stored: stored.map(|(held, inputs_held)| StoredRow { seeds: 5, held, range: [1.0; 2], inputs_held, inputs: 1 }),
        };
        row.verdict()
    }

    #[test]
    fn a_fact_holds_when_this_run_and_all_that_is_stored_meet_it() {
        for kind in [Kind::Predicted, Kind::Calibrated] {
            assert_eq!(verdict(kind, true, true, None), Verdict::Holds);
            assert_eq!(verdict(kind, true, true, Some((true, true))), Verdict::Holds);
            assert_eq!(verdict(kind, false, true, Some((true, true))), Verdict::ModelMisses);
            assert_eq!(verdict(kind, true, true, Some((false, true))), Verdict::ModelMisses, "a seed misses");
            assert_eq!(verdict(kind, true, true, Some((true, false))), Verdict::ModelMisses, "an input misses");
        }
    }

    #[test]
    fn a_source_contradicts_itself_when_its_claim_misses_and_what_holds_instead_is_met() {
        let discrepancy = |ok, instead, stored| verdict(Kind::Discrepancy, ok, instead, stored);
        assert_eq!(discrepancy(false, true, None), Verdict::SourceContradictsItself);
        assert_eq!(discrepancy(true, true, None), Verdict::ModelMisses);
        assert_eq!(discrepancy(false, false, None), Verdict::ModelMisses);
        assert_eq!(discrepancy(false, true, Some((true, false))), Verdict::ModelMisses);
    }
}
