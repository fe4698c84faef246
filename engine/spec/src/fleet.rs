//! A fleet in a scenario: thousands of nodes, where the copies of each chunk lie, and outages that leave some of the nodes dark.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, to_f64};

/// How the nodes of a chunk are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// Any nodes: each chunk has a set of its own.
    Random,
    /// A first node, and the others among the `scatter` nodes that follow it.
    Window,
    /// Permutations of all nodes, cut into groups of as many nodes as there are copies: a chunk lies on one of the groups.
    Copysets,
    /// The node sets of `sets`, each with the same share of the chunks.
    Given,
}

/// What fails together in an outage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DarkBy {
    /// Each node for itself.
    #[default]
    Node,
    /// Whole groups of the first permutation of copysets, as if they shared a power supply; neighbours by number where there is none.
    Group,
}

/// A fleet of nodes: where copies lie, what outages lose, and how fast a lost node's data are copied again. The jobs read what the lost
/// node held, each request a chunk from one of the nodes that still have it.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FleetSpec {
    /// Nodes.
    #[schemars(title = "Nodes", range(min = 3, max = 100_000), extend("x-scale" = "log2"))]
    pub nodes: u32,
    /// Copies of each chunk, each on another node.
    #[serde(default = "three")]
    #[schemars(title = "Copies", range(min = 2, max = 8))]
    pub copies: u32,
    /// How the nodes of a chunk are chosen.
    #[schemars(title = "Placement")]
    pub placement: Placement,
    /// Other nodes that shall share chunks with a node: the followers of a window, or what copysets have permutations for. Random
    /// placement has no use for it.
    #[serde(default = "ten")]
    #[schemars(title = "Scatter width", range(min = 1, max = 1000), extend("x-scale" = "log2"))]
    pub scatter: u32,
    /// The nodes of given placement, by their numbers from 0: as many as there are copies for the first set, then those of the next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Sets", length(max = 1_000_000))]
    pub sets: Vec<u32>,
    /// Chunks of all nodes together, copies not counted.
    #[serde(default = "million")]
    #[schemars(title = "Chunks", range(min = 1, max = 10_000_000_000_u64), extend("x-scale" = "log2"))]
    pub chunks: u64,
    /// Bytes on a node, copies included.
    #[serde(default = "node_bytes")]
    #[schemars(title = "Bytes of a node", extend("minimum" = 1_048_576, "maximum" = 1_125_899_906_842_624_u64, "x-scale" = "log2"))]
    pub node_bytes: Bytes,
    /// Share of the nodes that an outage leaves dark, rounded to whole nodes, at least one.
    #[serde(default = "one_percent")]
    #[schemars(title = "Dark nodes", range(min = 0.001, max = 100.0), extend("x-unit" = "%"))]
    pub dark_percent: f64,
    /// What goes dark together.
    #[serde(default)]
    #[schemars(title = "Dark by")]
    pub dark_by: DarkBy,
    /// Outages that are drawn; the placement stays the same over all of them.
    #[serde(default = "ten_thousand")]
    #[schemars(title = "Outages", range(min = 1, max = 1_000_000), extend("x-scale" = "log2"))]
    pub outages: u32,
    /// Bytes per second that a node reads while a lost one is copied again, one chunk after the other.
    #[serde(default = "rate")]
    #[schemars(title = "Rate of a node", extend("minimum" = 1, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s", "x-scale" = "log2"))]
    pub rate: Bytes,
}

impl FleetSpec {
    /// Nodes that an outage leaves dark.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most all nodes
    pub fn dark(&self) -> u32 {
        ((f64::from(self.nodes) * self.dark_percent / 100.0 + 0.5) as u32).clamp(1, self.nodes)
    }

    /// Permutations that copysets of this scatter width take.
    #[must_use]
    pub fn permutations(&self) -> u32 {
        self.scatter.div_ceil(self.copies - 1)
    }

    /// Sets of a placement that has as many as its rule makes; as many as chunks where each has its own.
    #[must_use]
    pub fn expected_sets(&self) -> f64 {
        match self.placement {
            Placement::Random => to_f64(self.chunks),
            Placement::Window => f64::from(self.nodes) * choose(self.scatter, self.copies - 1),
            Placement::Copysets => f64::from(self.permutations()) * f64::from(self.nodes / self.copies),
            Placement::Given => to_f64(self.sets.len() as u64 / u64::from(self.copies)),
        }
    }

    /// Bytes that all nodes hold, copies not counted.
    #[must_use]
    pub fn unique_bytes(&self) -> f64 {
        f64::from(self.nodes) * to_f64(self.node_bytes.0) / f64::from(self.copies)
    }
}

/// How many sets of `k` there are among `n`.
#[must_use]
#[inline(never)]
pub fn choose(n: u32, k: u32) -> f64 {
    if k > n { 0.0 } else { (0..k).fold(1.0, |product, nth| product * f64::from(n - nth) / f64::from(nth + 1)) }
}

fn three() -> u32 {
    3
}
fn ten() -> u32 {
    10
}
fn million() -> u64 {
    1_000_000
}
fn node_bytes() -> Bytes {
    Bytes(64 << 30)
}
fn one_percent() -> f64 {
    1.0
}
fn ten_thousand() -> u32 {
    10_000
}
fn rate() -> Bytes {
    Bytes(100_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_three_are_counted() {
        assert!((choose(50, 3) - 19_600.0).abs() < 1e-9);
        assert!((choose(5000, 3) - 20_820_835_000.0).abs() < 1e-3);
        assert!(choose(2, 3).abs() < 1e-9);
    }
}
