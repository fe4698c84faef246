//! Sets of nodes that are kept in memory: groups of permutations, or those that a scenario gives.

use seeklab_kernel::Stream;
use seeklab_spec::fleet::FleetSpec;
use seeklab_spec::to_f64;

/// Sets of as many nodes as there are copies.
pub struct Sets {
    copies: usize,
    /// The nodes of all sets, one set after the other.
    members: Vec<u32>,
    /// The share of all chunks that each set has.
    shares: Vec<f64>,
    /// The sets of a node are `numbers[from[node]..from[node + 1]]`.
    from: Vec<u32>,
    numbers: Vec<u32>,
}

/// How widely the chunks of nodes are scattered.
pub struct Widths {
    /// Other nodes that a node shares a set with, averaged over nodes.
    pub mean: f64,
    /// The fewest of them.
    pub least: u64,
    /// The first node that has the most.
    pub widest: u32,
}

impl Sets {
    /// As many permutations as the scatter width takes, each cut into groups. A chunk's first node is drawn among all, then one of the
    /// groups that the node is in; nodes that a permutation leaves over have one less to draw from.
    #[cold]
    pub fn permuted(spec: &FleetSpec, draws: &mut Stream) -> Self {
        let (nodes, copies) = (spec.nodes as usize, spec.copies as usize);
        let mut deck: Vec<u32> = (0..spec.nodes).collect();
        let mut members = Vec::with_capacity(spec.permutations() as usize * nodes);
        for _ in 0..spec.permutations() {
            shuffle(&mut deck, nodes, draws);
            members.extend_from_slice(&deck[..nodes / copies * copies]);
        }
        let mut sets = Self::of_members(copies, nodes, members);
        let each = |node: &u32| 1.0 / to_f64(sets.of(*node).len() as u64);
        sets.shares = sets.members.chunks_exact(copies).map(|set| set.iter().map(each).sum::<f64>()).collect();
        let all: f64 = sets.shares.iter().sum();
        sets.shares.iter_mut().for_each(|share| *share /= all);
        sets
    }

    /// The sets that a scenario gives.
    pub fn given(spec: &FleetSpec) -> Self {
        Self::of_members(spec.copies as usize, spec.nodes as usize, spec.sets.clone())
    }

    /// Sets with the same share each.
    #[cold]
    #[inline(never)]
    #[allow(clippy::cast_possible_truncation)] // checked to be at most a hundred million
    fn of_members(copies: usize, nodes: usize, members: Vec<u32>) -> Self {
        let mut from = vec![0u32; nodes + 1];
        for node in &members {
            from[*node as usize + 1] += 1;
        }
        for node in 0..nodes {
            from[node + 1] += from[node];
        }
        let mut next = from.clone();
        let mut sets = vec![0; members.len()];
        for (place, node) in members.iter().enumerate() {
            let at = &mut next[*node as usize];
            sets[*at as usize] = (place / copies) as u32;
            *at += 1;
        }
        let count = members.len() / copies;
        Self { copies, members, shares: vec![1.0 / to_f64(count as u64); count], from, numbers: sets }
    }

    /// How many there are, equal ones counted each.
    pub fn len(&self) -> usize {
        self.shares.len()
    }

    /// The sets that a node is in.
    #[inline]
    pub fn of(&self, node: u32) -> &[u32] {
        &self.numbers[self.from[node as usize] as usize..self.from[node as usize + 1] as usize]
    }

    /// The nodes of a set.
    #[inline]
    pub fn members(&self, set: u32) -> &[u32] {
        &self.members[set as usize * self.copies..][..self.copies]
    }

    /// The share of all chunks that a set has.
    pub fn share(&self, set: u32) -> f64 {
        self.shares[set as usize]
    }

    /// How many different ones there are.
    /// Each is known by the sum of its nodes' hashes, in which their order is nothing; that two others of a million have the same sum
    /// is one chance in forty million.
    #[cold]
    pub fn distinct(&self) -> u64 {
        let mut sums: Vec<u64> =
            self.members.chunks_exact(self.copies).map(|set| set.iter().fold(0, |sum, node| sum_of_hashes(sum, *node))).collect();
        sums.sort_unstable();
        sums.dedup();
        sums.len() as u64
    }

    /// With how many others each node shares a set.
    #[cold]
    pub fn widths(&self) -> Widths {
        let nodes = self.from.len() - 1;
        let mut seen = vec![u32::MAX; nodes];
        let (mut sum, mut least, mut most, mut widest) = (0, u64::MAX, 0, 0);
        for node in (0..).take(nodes) {
            seen[node as usize] = node;
            let mut others = 0;
            for other in self.of(node).iter().flat_map(|set| self.members(*set)) {
                others += u64::from(seen[*other as usize] != node);
                seen[*other as usize] = node;
            }
            sum += others;
            least = least.min(others);
            if others > most {
                (most, widest) = (others, node);
            }
        }
        Widths { mean: to_f64(sum) / to_f64(nodes as u64), least, widest }
    }

    /// Bytes of memory.
    pub fn memory_bytes(&self) -> u64 {
        ((self.members.len() + self.numbers.len() + self.from.len()) * size_of::<u32>() + self.shares.len() * size_of::<f64>()) as u64
    }
}

/// Adds the hash of a node: that of `SplitMix64`.
fn sum_of_hashes(sum: u64, node: u32) -> u64 {
    let once = (u64::from(node) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let twice = (once ^ (once >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let last = (twice ^ (twice >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    sum.wrapping_add(last ^ (last >> 31))
}

/// Redraws the first `count` places of a deck. The rest of a shuffled deck is as good as a new one.
#[inline(never)]
#[allow(clippy::cast_possible_truncation)] // below a number of nodes
pub fn shuffle(deck: &mut [u32], count: usize, draws: &mut Stream) {
    for nth in 0..count {
        let other = nth + draws.below((deck.len() - nth) as u64) as usize;
        deck.swap(nth, other);
    }
}
