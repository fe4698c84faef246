//! Resources that requests share in order of arrival: a bus, the processors and the memory of a machine.

use seeklab_kernel::NS_PER_S;
use seeklab_spec::host::HostSpec;

use crate::layers::device::transfer_ns;

/// A resource that serves one request after the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shared {
    free_ns: u64,
}

impl Shared {
    /// Takes it for `ns`, from `now_ns` on or after all requests before; returns the end of that time.
    #[inline]
    pub fn take(&mut self, now_ns: u64, ns: u64) -> u64 {
        self.free_ns = self.free_ns.max(now_ns).saturating_add(ns);
        self.free_ns
    }
}

/// The cores of a machine: a request takes the one that is free first.
#[derive(Clone, Debug)]
pub struct Cores {
    count: usize,
    /// When each core becomes free, in order, in a ring of a power of two that begins at `first`.
    ends_ns: Vec<u64>,
    first: usize,
}

impl Cores {
    /// So many idle cores, at least one.
    #[must_use]
    pub fn new(count: u32) -> Self {
        let count = count.max(1) as usize;
        Self { count, ends_ns: vec![0; count.next_power_of_two()], first: 0 }
    }

    /// Takes a core for `ns` from `now_ns` on, or once one is free; returns the end of that time. O(1) where requests end in the order in
    /// which they begin.
    #[inline]
    pub fn take(&mut self, now_ns: u64, ns: u64) -> u64 {
        let (first, last) = (self.first, self.ends_ns.len() - 1);
        let end_ns = self.ends_ns[first].max(now_ns).saturating_add(ns);
        let mut place = first + self.count;
        while place > first + 1 && self.ends_ns[(place - 1) & last] > end_ns {
            self.ends_ns[place & last] = self.ends_ns[(place - 1) & last];
            place -= 1;
        }
        self.ends_ns[place & last] = end_ns;
        self.first = (first + 1) & last;
        end_ns
    }

    /// Cores that are busy if a request takes one at `now_ns`, this one included. O(log cores).
    #[must_use]
    pub fn busy(&self, now_ns: u64) -> u64 {
        let last = self.ends_ns.len() - 1;
        let (mut idle, mut end) = (1, self.count); // the first core is taken, whether idle or not
        while idle < end {
            let middle = usize::midpoint(idle, end);
            if self.ends_ns[(self.first + middle) & last] <= now_ns { idle = middle + 1 } else { end = middle }
        }
        (self.count - idle + 1) as u64
    }
}

/// More than the rounding of a product of two floating point numbers.
const ROUNDING: f64 = 1e-9;

/// The processors and the memory of a machine that answers requests from memory.
///
/// A copy takes a core, and its bytes take their share of the memory's bandwidth, as many shares as cores are busy when it begins.
#[derive(Clone, Debug)]
pub struct Machine {
    cores: Cores,
    hit_ns: u64,
    memory_rate: u64,
    /// Time of a byte while all cores are busy, rounded up.
    slowest_byte_ns: f64,
}

impl Machine {
    /// The machine that a scenario describes, or the default, with so many cores.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // ROUNDING is more
    pub fn new(spec: Option<&HostSpec>, cores: Option<u32>) -> Self {
        let spec = spec.copied().unwrap_or_default();
        let (cores, memory_rate) = (cores.unwrap_or(spec.cores).max(1), spec.memory_rate.0.max(1));
        let slowest_byte_ns = f64::from(cores) * NS_PER_S as f64 / memory_rate as f64 * (1.0 + ROUNDING);
        Self { cores: Cores::new(cores), hit_ns: spec.hit.0, memory_rate, slowest_byte_ns }
    }

    /// Time of a core to find so many records in memory.
    #[must_use]
    pub fn hit_ns(&self, records: u64) -> u64 {
        self.hit_ns.saturating_mul(records)
    }

    /// Takes a core for work that nobody waits for until cores are scarce.
    #[inline]
    pub fn work(&mut self, now_ns: u64, core_ns: u64) {
        self.cores.take(now_ns, core_ns);
    }

    /// Copies bytes into or out of memory, which alone takes a core for `core_ns`; returns its end.
    #[inline]
    #[allow(clippy::cast_precision_loss)] // ROUNDING is more
    pub fn copy(&mut self, now_ns: u64, core_ns: u64, bytes: u64) -> u64 {
        if bytes as f64 * self.slowest_byte_ns <= core_ns as f64 {
            return self.cores.take(now_ns, core_ns); // the memory has room for all cores: no count, no division
        }
        let memory_ns = transfer_ns(bytes.saturating_mul(self.cores.busy(now_ns)), self.memory_rate);
        self.cores.take(now_ns, core_ns.max(memory_ns))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{assert_within, metric, run};

    /// GB/s and reads a second of jobs that read from memory what is there already.
    fn cached(layer: &Value, job: &Value) -> (f64, f64) {
        let mut document = json!({
            "jobs": [
                {"name": "warm", "rw": "read", "bs": "1MiB", "size": "64MiB", "filename": "f"},
                {"name": "j", "rw": "randread", "norandommap": true, "time_based": true, "runtime": "5ms", "size": "64MiB", "filename": "f", "stonewall": true},
            ],
            "devices": [{"lun": {"rate": "1GB", "capacity": "1TB"}}],
            "record": {"log": false},
        });
        let fields = |value: &Value| value.as_object().expect("fields").clone();
        document.as_object_mut().expect("fields").extend(fields(layer));
        document["jobs"][1].as_object_mut().expect("a job").extend(fields(job));
        let stack = run(&document);
        (metric(&stack, "j.read_mb_per_s") / 1e3, metric(&stack, "j.read_iops"))
    }

    #[test]
    fn every_cache_shares_cores_and_memory_among_its_readers() {
        let caches = [
            json!({"zfs": {"era": "openzfs-2.2", "arc": {"size": "256MiB"}, "copy_rate": "20GB"}}),
            json!({"page_cache": {"read_ahead": {}, "memory_rate": "20GB"}}),
            json!({"volume": {"cache": {"size": "256MiB", "rate": "20GB"}}}),
        ];
        for cache in &caches {
            let (large, _) = cached(cache, &json!({"bs": "128KiB", "numjobs": 256}));
            assert_within(large, 100.0, 0.1);
            // Eight cores of 1 us and 4096 B at 20 GB/s each.
            let (_, small) = cached(cache, &json!({"bs": "4KiB", "iodepth": 16}));
            assert_within(small, 8.0 / 1.2048e-6, 0.02);
            let (_, alone) = cached(cache, &json!({"bs": "4KiB"}));
            assert_within(alone, 1.0 / 1.2048e-6, 0.02);
        }
        let mut free = caches[1].clone();
        free["host"] = json!({"hit": 0, "cores": 64, "memory_rate": "1TB"});
        assert_within(cached(&free, &json!({"bs": "4KiB", "iodepth": 16})).1, 16.0 / 0.2048e-6, 0.02);
    }

    #[test]
    fn one_copy_takes_its_own_time_and_many_take_all_cores_or_all_of_the_memory() {
        let last = |core_ns, bytes| {
            let mut machine = Machine::new(None, Some(4));
            (0..100).map(|_| machine.copy(10, core_ns, bytes)).max()
        };
        assert_eq!(last(1000, 1000), Some(25_010), "four cores");
        let by_memory = last(1000, 100_000).expect("a copy");
        assert!((96_000..=100_010).contains(&by_memory), "100 GB/s, {by_memory} ns");
        let mut machine = Machine::new(None, Some(4));
        machine.copy(0, 1_000_000, 1000);
        assert_eq!(machine.copy(10, 1000, 1000), 1010, "a small copy does not wait for a large one on another core");
    }

    proptest! {
        #[test]
        fn the_core_that_is_free_first_is_taken(count in 1u32..9, calls in proptest::collection::vec((0u64..50, 0u64..100, 0u64..80), 0..200)) {
            let (mut cores, mut free_ns, mut at_ns) = (Cores::new(count), vec![0; count as usize], 0);
            for (gap_ns, ns, ahead_ns) in calls {
                at_ns += gap_ns;
                let now_ns = at_ns + ahead_ns; // some ask for a core that they need later
                let (seen, end_ns) = (cores.busy(now_ns), cores.take(now_ns, ns));
                let first = (0..free_ns.len()).min_by_key(|core| free_ns[*core]).expect("a core");
                free_ns[first] = free_ns[first].max(now_ns);
                let others = free_ns.iter().enumerate().filter(|(core, free)| *core != first && **free > now_ns).count();
                free_ns[first] += ns;
                prop_assert_eq!((end_ns, seen), (free_ns[first], others as u64 + 1));
            }
        }
    }
}
