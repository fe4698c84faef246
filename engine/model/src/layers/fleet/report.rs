//! The report of a fleet: metrics, and the tables `dark` and `lost_sets` of the first outages and of some that lost data.

use seeklab_spec::fleet::{Placement, choose};
use seeklab_spec::to_f64;

use super::Fleet;
use crate::result::columns::Take::Index;
use crate::result::columns::{Table, Tables};
use crate::result::metrics::{Metrics, Unit, each};

/// Nodes that an outage left dark.
const DARK: Table<[u32; 2]> = Table::new("dark", &[("outage", Index(|row| row[0])), ("node", Index(|row| row[1]))]);

/// Nodes of sets of which nothing was left.
const LOST_SETS: Table<[u32; 3]> =
    Table::new("lost_sets", &[("outage", Index(|row| row[0])), ("set", Index(|row| row[1])), ("node", Index(|row| row[2]))]);

impl Fleet {
    /// Reports the fleet's metrics.
    #[cold]
    pub(super) fn report(&self, metrics: &mut Metrics) {
        let (spec, record) = (&self.spec, &self.outages.record);
        let sets = self.outages.sets();
        let (dark, copies) = (spec.dark(), spec.copies);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // whole, and at most 100,000 windows of 1000
        let distinct = sets.map_or_else(|| spec.expected_sets() as u64, super::Sets::distinct);
        metrics.count("fleet_copysets", "Different sets of nodes that hold all copies of some chunk.", distinct);
        let (mean, least) = match (spec.placement, &self.widths) {
            (_, Some(widths)) => (widths.mean, widths.least),
            (Placement::Window, None) => (f64::from(2 * spec.scatter), u64::from(2 * spec.scatter)),
            (_, None) => {
                // A node's chunks each have that many others, drawn with replacement from chunk to chunk.
                let (others, chunks) = (f64::from(spec.nodes - 1), to_f64(spec.chunks) * f64::from(copies) / f64::from(spec.nodes));
                let missed = libm::pow(1.0 - f64::from(copies - 1) / others, chunks);
                (others * (1.0 - missed), 0)
            }
        };
        metrics.add(
            "fleet_scatter_width_mean",
            "Number of other nodes that share chunks with a node, averaged over nodes. With random placement, the expected number.",
            Unit::One,
            mean,
        );
        if least > 0 || sets.is_some() {
            metrics.count("fleet_scatter_width_least", "Minimum number of other nodes that share chunks with a node.", least);
        }
        metrics.count("fleet_dark_nodes", "Nodes that an outage takes down.", dark.into());
        metrics.count("fleet_outages", "Number of random outages.", record.drawn.into());
        metrics.share(
            "fleet_loss_percent",
            "Share of outages that lost a chunk because all of its nodes were down.",
            record.losses.into(),
            record.drawn.into(),
        );
        let one = choose(dark, copies) / choose(spec.nodes, copies);
        let expected = 1.0 - libm::pow(1.0 - one, to_f64(distinct));
        metrics.percent(
            "fleet_expected_loss_percent",
            "The same share for this number of independent sets: 1 - (1 - p)^sets, with p = C(dark, copies) / C(nodes, copies).",
            100.0 * expected,
        );
        metrics.add(
            "fleet_expected_outages_per_loss",
            "Number of outages from one that loses data to the next, by that formula.",
            Unit::One,
            each(1.0, expected),
        );
        let drawn = f64::from(record.drawn);
        metrics.add(
            "fleet_lost_mean_bytes",
            "Bytes lost per outage, each counted once: mean over all outages.",
            Unit::Bytes,
            each(record.lost_bytes, drawn),
        );
        metrics.add(
            "fleet_lost_given_loss_bytes",
            "Bytes lost per outage, each counted once: mean over the outages with losses.",
            Unit::Bytes,
            each(record.lost_bytes, record.losses.into()),
        );
        let sources = self.free_ns.iter().filter(|free_ns| **free_ns > 0).count();
        metrics.count("fleet_sources", "Nodes that a lost node's chunks were read from.", sources as u64);
    }

    /// Reports the outages that were kept.
    pub(super) fn report_tables(fleet: Option<&Self>, tables: &mut Tables) {
        let record = fleet.map(|fleet| &fleet.outages.record);
        tables.table(&DARK, record.into_iter().flat_map(|record| record.dark.iter().copied()));
        tables.table(&LOST_SETS, record.into_iter().flat_map(|record| record.lost.iter().copied()));
    }
}
