//! A fleet in a scenario: thousands of nodes, the placement of each chunk's copies, and outages that take down some of the nodes.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, to_f64};

/// How the nodes of a chunk are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// Random nodes, chosen separately for each chunk.
    Random,
    /// A first node, and the others among the `scatter` nodes that follow it.
    Window,
    /// Permutations of all nodes, cut into groups with one node for each copy. A chunk is on one of the groups.
    Copysets,
    /// The node sets in `sets`, each with the same share of the chunks.
    Given,
}

/// Which nodes fail together in an outage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DarkBy {
    /// Each node independently.
    #[default]
    Node,
    /// Whole groups of the first permutation of copysets, as if they shared a power supply. Other placements use groups of adjacent node
    /// numbers.
    Group,
}

/// A fleet of nodes: placement of copies, data loss in outages, and the speed of re-replication after a node is lost. The jobs read the
/// lost node's chunks, each from one of the nodes that still have it.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FleetSpec {
    /// Number of nodes.
    #[schemars(title = "Nodes", range(min = 3, max = 100_000), extend("x-scale" = "log2"))]
    pub nodes: u32,
    /// Copies of each chunk, on different nodes.
    #[serde(default = "three")]
    #[schemars(title = "Copies", range(min = 2, max = 8))]
    pub copies: u32,
    /// How the nodes of a chunk are chosen.
    #[schemars(title = "Placement")]
    pub placement: Placement,
    /// Scatter width: how many other nodes share chunks with a node. A window takes that many followers, and copysets take enough
    /// permutations to reach it. Random placement ignores it.
    #[serde(default = "ten")]
    #[schemars(title = "Scatter width", range(min = 1, max = 1000), extend("x-scale" = "log2"))]
    pub scatter: u32,
    /// Nodes of given placement, by number from 0. The first `copies` entries are the first set, and so on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Sets", length(max = 1_000_000))]
    pub sets: Vec<u32>,
    /// Chunks in the whole fleet, without copies.
    #[serde(default = "million")]
    #[schemars(title = "Chunks", range(min = 1, max = 10_000_000_000_u64), extend("x-scale" = "log2"))]
    pub chunks: u64,
    /// Bytes on a node, including copies.
    #[serde(default = "node_bytes")]
    #[schemars(title = "Bytes of a node", extend("minimum" = 1_048_576, "maximum" = 1_125_899_906_842_624_u64, "x-scale" = "log2"))]
    pub node_bytes: Bytes,
    /// Share of nodes that an outage takes down, rounded to whole nodes, at least one.
    #[serde(default = "one_percent")]
    #[schemars(title = "Dark nodes", range(min = 0.001, max = 100.0), extend("x-unit" = "%"))]
    pub dark_percent: f64,
    /// Which nodes fail together.
    #[serde(default)]
    #[schemars(title = "Fail together")]
    pub dark_by: DarkBy,
    /// Number of random outages. The placement is the same in all of them.
    #[serde(default = "ten_thousand")]
    #[schemars(title = "Outages", range(min = 1, max = 1_000_000), extend("x-scale" = "log2"))]
    pub outages: u32,
    /// Bytes per second that a node reads for re-replication, one chunk at a time.
    #[serde(default = "rate")]
    #[schemars(title = "Rate of a node", extend("minimum" = 1, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s", "x-scale" = "log2"))]
    pub rate: Bytes,
}

impl FleetSpec {
    /// Return the number of nodes that an outage takes down.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most all nodes
    pub fn dark(&self) -> u32 {
        ((f64::from(self.nodes) * self.dark_percent / 100.0 + 0.5) as u32).clamp(1, self.nodes)
    }

    /// Return the number of permutations for copysets of this scatter width.
    #[must_use]
    pub fn permutations(&self) -> u32 {
        self.scatter.div_ceil(self.copies - 1)
    }

    /// Return the number of sets that the placement rule makes; it is the number of chunks if each chunk has its own set.
    #[must_use]
    pub fn expected_sets(&self) -> f64 {
        match self.placement {
            Placement::Random => to_f64(self.chunks),
            Placement::Window => f64::from(self.nodes) * choose(self.scatter, self.copies - 1),
            Placement::Copysets => f64::from(self.permutations()) * f64::from(self.nodes / self.copies),
            Placement::Given => to_f64(self.sets.len() as u64 / u64::from(self.copies)),
        }
    }

    /// Return the bytes on all nodes, without copies.
    #[must_use]
    pub fn unique_bytes(&self) -> f64 {
        f64::from(self.nodes) * to_f64(self.node_bytes.0) / f64::from(self.copies)
    }
}

/// Return the number of `k`-subsets of `n`.
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
