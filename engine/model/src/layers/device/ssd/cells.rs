//! How long it takes to read a page of flash: by its type, and by how often it must be tried.
//!
//! **Type.** Cells of several bits hold as many pages, and the more voltages tell a page's bits apart, the longer it takes to read:
//! in the tables of FEMU (github.com/MoatLab/FEMU, hw/femu/nand) the pages of a TLC cell take 56.5, 77.5 and 106 us, those of QLC
//! 59.3 to 170 us. Factors with a mean of 1 keep `read` the mean. A page's type is its physical place in the block; where the drive
//! does not know places, because nothing was written to it yet, a hash of the page spreads the types in the same way.
//!
//! **Retries.** A page that cannot be corrected is read again with other voltages. Each sensing fails with probability `q`, so a
//! page takes `tR / (1 - q)` on average. How often is fixed for a page between two erases of its block: the cells do not change.
//! J. Park et al., "Reducing solid-state drive read latency by optimizing read-retry" (ASPLOS 2021) describe it; less than 0.01
//! retries a read are reported for drives with tuned voltages, more than three for worn ones.
//!
//! Left out: soft decoding, voltages that the drive learns, wear that raises `q`.

/// Retries of a page at most.
const MAX_RETRIES: usize = 8;

/// Read times of a drive's pages.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    /// By page type.
    times_ns: Vec<u64>,
    /// Pages of a physical page, which are of one type.
    stripe: u32,
    /// Planes that physical pages lie on in turn.
    planes: u32,
    /// A page is read once more for each of these that its draw is below.
    retries: Vec<f64>,
}

/// Where a page is, as far as its cells are concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub die: usize,
    /// Physical page of the die, or a logical one where places are not known.
    pub page: u32,
    pub is_place: bool,
    /// Erases of its block.
    pub erases: u32,
}

impl Cells {
    pub fn new(read_ns: u64, factors: &[f64], retry: f64, stripe: u32, planes: u32) -> Self {
        let time = |factor: &f64| libm::round(read_ns as f64 * factor) as u64;
        let times_ns = if factors.is_empty() { vec![read_ns] } else { factors.iter().map(time).collect() };
        let powers = std::iter::successors(Some(retry), |power| Some(power * retry));
        Self { times_ns, stripe, planes, retries: powers.take_while(|power| *power > 0.0).take(MAX_RETRIES).collect() }
    }

    /// Whether all pages take the same time, always.
    pub fn are_alike(&self) -> bool {
        self.times_ns.len() == 1 && self.retries.is_empty()
    }

    /// The plane that reads a page.
    pub fn plane(&self, spot: Spot) -> u32 {
        let row =
            if spot.is_place { u64::from(spot.page / self.stripe) } else { hash([spot.die as u64, u64::from(spot.page / self.stripe), 1]) };
        (row % u64::from(self.planes)) as u32
    }

    /// Time to read the page.
    pub fn read_ns(&self, spot: Spot) -> u64 {
        let types = self.times_ns.len() as u64;
        let row = if spot.is_place {
            u64::from(spot.page / self.stripe / self.planes)
        } else {
            hash([spot.die as u64, u64::from(spot.page / self.stripe), 2])
        };
        let once_ns = self.times_ns[(row % types) as usize];
        if self.retries.is_empty() {
            return once_ns;
        }
        let draw = (hash([spot.die as u64, u64::from(spot.page), 3 + u64::from(spot.erases)]) >> 11) as f64 / (1u64 << 53) as f64;
        once_ns * (1 + self.retries.iter().filter(|power| draw < **power).count() as u64)
    }
}

/// Spreads three words over 64 bits: multiply and fold, the odd number the fractional part of the golden ratio.
fn hash(words: [u64; 3]) -> u64 {
    words.iter().fold(0x6a09_e667_f3bc_c909, |sum, word| {
        let mixed = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let folded = (mixed ^ (mixed >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        folded ^ (folded >> 29)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TLC: [f64; 3] = [0.706, 0.969, 1.325];

    /// Read times of 300,000 pages, sorted.
    fn times(retry: f64, is_place: bool) -> Vec<u64> {
        let cells = Cells::new(60_000, &TLC, retry, 1, 1);
        let mut times: Vec<u64> = (0..300_000).map(|page| cells.read_ns(Spot { die: 3, page, is_place, erases: 0 })).collect();
        times.sort_unstable();
        times
    }

    fn mean_us(times: &[u64]) -> f64 {
        times.iter().sum::<u64>() as f64 / times.len() as f64 / 1e3
    }

    #[test]
    fn pages_of_three_types_take_42_58_and_80_us_a_third_each() {
        for is_place in [true, false] {
            let times = times(0.0, is_place);
            for (us, at) in [(42.36, 50_000), (58.14, 150_000), (79.5, 250_000)] {
                assert!((times[at] as f64 / 1e3 - us).abs() < 0.01, "{} at {at}", times[at]);
            }
            let thirds = [42_360, 58_140, 79_500].map(|ns| times.iter().filter(|time| **time == ns).count());
            assert!(thirds.iter().all(|count| count.abs_diff(100_000) < 1_500), "{thirds:?}");
            assert!((mean_us(&times) - 60.0).abs() < 0.1, "{}", mean_us(&times));
        }
    }

    #[test]
    fn retries_make_the_tail_and_hardly_move_the_mean() {
        let rare = times(0.002, true);
        let at = |times: &[u64], share: f64| times[(times.len() as f64 * share) as usize] as f64 / 1e3;
        assert!((at(&rare, 0.999) - 116.0).abs() < 1.0, "{}", at(&rare, 0.999));
        assert!((at(&rare, 0.9999) - 159.0).abs() < 1.0, "{}", at(&rare, 0.9999));
        let often = times(0.01, true);
        assert!((mean_us(&often) - 60.6).abs() < 0.15, "{}", mean_us(&often));
        let cells = Cells::new(60_000, &[], 0.01, 1, 1);
        let twice = (0..1_000_000).filter(|page| cells.read_ns(Spot { die: 0, page: *page, is_place: true, erases: 0 }) >= 180_000).count();
        assert!((70..140).contains(&twice), "{twice} of a million pages with two retries or more");
    }

    #[test]
    fn a_page_is_as_hard_to_read_each_time_until_its_block_is_erased() {
        let cells = Cells::new(60_000, &[], 0.3, 1, 1);
        let times =
            |erases| (0..1_000).map(move |page| Spot { die: 0, page, is_place: true, erases }).map(|spot| cells.read_ns(spot)).collect();
        let (first, again, erased): (Vec<u64>, Vec<u64>, Vec<u64>) = (times(0), times(0), times(1));
        assert_eq!(first, again);
        assert_ne!(first, erased);
    }

    #[test]
    fn one_physical_page_is_of_one_type_and_on_one_plane() {
        let cells = Cells::new(60_000, &TLC, 0.0, 4, 2);
        let spots = |from: u32| (from..from + 4).map(|page| Spot { die: 0, page, is_place: true, erases: 0 });
        for from in (0..240).step_by(4) {
            assert!(spots(from).all(|spot| cells.plane(spot) == from / 4 % 2));
            let first = spots(from).next().map(|spot| cells.read_ns(spot));
            assert!(spots(from).all(|spot| Some(cells.read_ns(spot)) == first));
        }
    }
}
