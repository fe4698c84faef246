//! Outages: which nodes are dark, and which sets of nodes are dark as a whole.
//!
//! Sets that are kept are counted from the dark nodes' own. Windows are looked along. Of random placement no set is kept: among so many
//! of all possible sets, each chosen with the same probability, the number of dark ones has a hypergeometric distribution, and is drawn
//! from it.

use seeklab_kernel::Stream;
use seeklab_spec::fleet::{DarkBy, FleetSpec, Placement, choose};
use seeklab_spec::to_f64;

use super::sets::{Sets, shuffle};

/// Outages of which nodes and sets are kept for the moving picture.
const KEPT: u32 = 40;
/// As many that lose something are kept besides.
const KEPT_LOSSES: u32 = 8;
/// Most lost sets that are kept of an outage.
const KEPT_SETS: usize = 64;

/// How dark sets are found.
enum Found {
    Drawn(Hypergeometric),
    Along,
    Among(Sets),
}

/// The results of outages.
#[derive(Default)]
pub struct Record {
    /// Outages so far.
    pub drawn: u32,
    /// Of these, those that lost something.
    pub losses: u32,
    /// Bytes lost, each counted once.
    pub lost_bytes: f64,
    /// Dark nodes: number of the outage, node.
    pub dark: Vec<[u32; 2]>,
    /// Nodes of lost sets: number of the outage, of the set within it, node.
    pub lost: Vec<[u32; 3]>,
    kept_losses: u32,
}

/// The outages of a run.
pub struct Outages {
    copies: usize,
    dark: usize,
    scatter: u32,
    found: Found,
    /// Bytes of a set, where all have the same.
    set_bytes: f64,
    unique_bytes: f64,
    /// Nodes; the dark ones of an outage first.
    deck: Vec<u32>,
    /// Groups that go dark together, their numbers and their nodes; empty where each node is its own.
    groups: Vec<u32>,
    grouped: Vec<u32>,
    is_dark: Vec<bool>,
    /// Dark nodes of each set in the outage in hand.
    hits: Vec<u8>,
    sets_lost: Vec<u32>,
    draws: Stream,
    /// Results so far.
    pub record: Record,
}

impl Outages {
    #[cold]
    pub fn new(spec: &FleetSpec, seed: u64) -> Self {
        let stream = |what: &str| Stream::new(seed, &format!("fleet.{what}"));
        let (copies, dark) = (spec.copies, spec.dark());
        let found = match spec.placement {
            Placement::Random => Found::Drawn(Hypergeometric::new(choose(spec.nodes, copies), to_f64(spec.chunks), choose(dark, copies))),
            Placement::Window => Found::Along,
            Placement::Copysets => Found::Among(Sets::permuted(spec, &mut stream("placement"))),
            Placement::Given => Found::Among(Sets::given(spec)),
        };
        let groups = spec.nodes / copies;
        let grouped: Vec<u32> = match (&found, spec.dark_by) {
            (_, DarkBy::Node) => Vec::new(),
            (Found::Among(sets), DarkBy::Group) if spec.placement == Placement::Copysets => {
                (0..groups).flat_map(|set| sets.members(set)).copied().collect()
            }
            (_, DarkBy::Group) => (0..groups * copies).collect(),
        };
        Self {
            copies: copies as usize,
            dark: dark as usize,
            scatter: spec.scatter,
            hits: vec![0; if let Found::Among(sets) = &found { sets.len() } else { 0 }],
            found,
            set_bytes: spec.unique_bytes() / spec.expected_sets(),
            unique_bytes: spec.unique_bytes(),
            deck: (0..spec.nodes).collect(),
            groups: (0..if grouped.is_empty() { 0 } else { groups }).collect(),
            grouped,
            is_dark: vec![false; spec.nodes as usize],
            sets_lost: Vec::new(),
            draws: stream("outages"),
            record: Record::default(),
        }
    }

    /// The sets, where they are kept.
    pub fn sets(&self) -> Option<&Sets> {
        if let Found::Among(sets) = &self.found { Some(sets) } else { None }
    }

    /// Draws an outage and counts what it loses.
    pub fn draw(&mut self) {
        let number = self.record.drawn;
        // Random placement needs its nodes for the picture only.
        let counted = if let Found::Drawn(counts) = &self.found { Some(counts.draw(&mut self.draws)) } else { None };
        let is_kept = number < KEPT || (counted.is_some_and(|count| count > 0) && self.record.kept_losses < KEPT_LOSSES);
        if counted.is_none() || is_kept {
            self.darken();
        }
        let lost_bytes = if let Some(count) = counted { to_f64(count) * self.set_bytes } else { self.count() };
        self.record.drawn += 1;
        self.record.lost_bytes += lost_bytes;
        let has_lost = lost_bytes > 0.0;
        self.record.losses += u32::from(has_lost);
        if number < KEPT || (has_lost && self.record.kept_losses < KEPT_LOSSES) {
            self.record.kept_losses += u32::from(number >= KEPT);
            self.keep(number, counted.unwrap_or(0));
        }
    }

    /// Puts the nodes that go dark first into the deck.
    fn darken(&mut self) {
        if matches!(self.found, Found::Along) {
            self.deck[..self.dark].iter().for_each(|node| self.is_dark[*node as usize] = false);
        }
        if self.grouped.is_empty() {
            return shuffle(&mut self.deck, self.dark, &mut self.draws);
        }
        let count = self.dark.div_ceil(self.copies).min(self.groups.len());
        shuffle(&mut self.groups, count, &mut self.draws);
        let nodes = self.groups[..count].iter().flat_map(|group| &self.grouped[*group as usize * self.copies..][..self.copies]);
        self.deck.clear();
        self.deck.extend(nodes);
        self.dark = self.dark.min(self.deck.len());
    }

    /// Bytes that the dark nodes take with them.
    #[allow(clippy::cast_possible_truncation)] // at most 100,000 nodes, and eight copies
    fn count(&mut self) -> f64 {
        let (nodes, copies) = (self.is_dark.len() as u32, self.copies as u32);
        let dark = &self.deck[..self.dark];
        match &self.found {
            Found::Drawn(_) => 0.0,
            Found::Among(sets) => {
                let mut share = 0.0;
                self.sets_lost.clear();
                for set in dark.iter().flat_map(|node| sets.of(*node)) {
                    let hits = &mut self.hits[*set as usize];
                    *hits += 1;
                    if usize::from(*hits) == self.copies {
                        share += sets.share(*set);
                        self.sets_lost.push(*set);
                    }
                }
                dark.iter().flat_map(|node| sets.of(*node)).for_each(|set| self.hits[*set as usize] = 0);
                share * self.unique_bytes
            }
            Found::Along => {
                for node in dark {
                    self.is_dark[*node as usize] = true;
                }
                let mut sets = 0.0;
                for node in dark {
                    let after = (1..=self.scatter).map(|step| (*node + step) % nodes);
                    let dark_after: u32 = after.map(|next| u32::from(self.is_dark[next as usize])).sum();
                    sets += choose(dark_after, copies - 1);
                }
                sets * self.set_bytes
            }
        }
    }

    /// Keeps an outage for the picture. Of random placement the dark sets are drawn among those of the dark nodes, each as probable as
    /// any other; of a window with more dark nodes than it takes, the first are kept.
    #[cold]
    #[allow(clippy::cast_possible_truncation)] // few
    fn keep(&mut self, number: u32, counted: u64) {
        let Self { copies, dark, found, deck, draws, record, .. } = self;
        let (copies, mut set) = (*copies, 0);
        let dark = &mut deck[..*dark];
        record.dark.extend(dark.iter().map(|node| [number, *node]));
        let lost = &mut record.lost;
        let begin = lost.len();
        let mut put = |nodes: &[u32]| {
            let is_new = |sets: &[[u32; 3]]| !sets.chunks_exact(copies).any(|set| set.iter().all(|row| nodes.contains(&row[2])));
            if set < KEPT_SETS as u32 && is_new(&lost[begin..]) {
                lost.extend(nodes.iter().map(|node| [number, set, *node]));
                set += 1;
            }
            set
        };
        match found {
            Found::Drawn(_) => {
                let wanted = counted.min(KEPT_SETS as u64) as u32;
                let mut sets = 0;
                while sets < wanted {
                    shuffle(dark, copies, draws);
                    sets = put(&dark[..copies]);
                }
            }
            Found::Along => {
                let mut nodes = Vec::with_capacity(copies);
                for node in dark.iter() {
                    nodes.clear();
                    nodes.push(*node);
                    let after = (1..=self.scatter).map(|step| (*node + step) % self.is_dark.len() as u32);
                    nodes.extend(after.filter(|next| self.is_dark[*next as usize]).take(copies - 1));
                    if nodes.len() == copies {
                        put(&nodes);
                    }
                }
            }
            Found::Among(sets) => self.sets_lost.iter().for_each(|set| _ = put(sets.members(*set))),
        }
    }

    /// Bytes of memory.
    pub fn memory_bytes(&self) -> u64 {
        let kept = self.record.dark.capacity() * size_of::<[u32; 2]>() + self.record.lost.capacity() * size_of::<[u32; 3]>();
        (self.deck.capacity() * size_of::<u32>() + self.hits.len() + kept) as u64 + self.sets().map_or(0, Sets::memory_bytes)
    }
}

/// How many of `drawn` things are marked, where `marked` of `all` are.
struct Hypergeometric {
    first: u64,
    /// The probability of at most `first`, `first` + 1, ...
    cumulative: Vec<f64>,
}

impl Hypergeometric {
    /// From the most probable number outwards, by the ratio of neighbours, until nothing is left that a draw could meet.
    #[cold]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most ten thousand million
    fn new(all: f64, marked: f64, drawn: f64) -> Self {
        const NOTHING: f64 = 1e-18;
        let rest = all - marked - drawn;
        let above = |k: f64| (marked - k) * (drawn - k) / ((k + 1.0) * (rest + k + 1.0));
        let mode = libm::floor((drawn + 1.0) * (marked + 1.0) / (all + 2.0));
        let mut weights = vec![1.0];
        let (mut first, mut weight) = (mode, 1.0);
        while first > 0.0 && rest + first > 0.0 && weight > NOTHING {
            first -= 1.0;
            weight /= above(first);
            weights.push(weight);
        }
        weights.reverse();
        let (mut last, mut weight) = (mode, 1.0);
        while last < marked.min(drawn) && weight > NOTHING {
            weight *= above(last);
            last += 1.0;
            weights.push(weight);
        }
        let all: f64 = weights.iter().sum();
        let mut sum = 0.0;
        let cumulative = weights.into_iter().map(|weight| {
            sum += weight / all;
            sum
        });
        Self { first: first as u64, cumulative: cumulative.collect() }
    }

    fn draw(&self, draws: &mut Stream) -> u64 {
        let at = draws.unit();
        let place = self.cumulative.partition_point(|sum| *sum <= at);
        self.first + place.min(self.cumulative.len() - 1) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_things_among_drawn_ones_have_the_probabilities_of_an_urn() {
        // 4 of 10 are marked, 3 are drawn: C(4, k) C(6, 3 - k) / C(10, 3) = 20, 60, 36, 4 of 120.
        let found = Hypergeometric::new(10.0, 4.0, 3.0);
        assert_eq!(found.first, 0);
        for (found, expected) in found.cumulative.iter().zip([20.0, 80.0, 116.0, 120.0]) {
            assert!((found - expected / 120.0).abs() < 1e-12, "{found}");
        }
        assert_eq!(found.cumulative.len(), 4);
        let all = Hypergeometric::new(10.0, 4.0, 10.0);
        assert_eq!((all.first, all.cumulative.len()), (4, 1));
        let none = Hypergeometric::new(10.0, 4.0, 0.0);
        assert_eq!((none.first, none.cumulative.len()), (0, 1));
    }

    #[test]
    fn a_draw_above_all_probabilities_as_they_were_rounded_is_the_last_number() {
        let rounded = Hypergeometric { first: 7, cumulative: vec![0.0, 0.0] };
        assert_eq!(rounded.draw(&mut Stream::new(1, "draws")), 8);
    }
}
