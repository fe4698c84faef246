//! The maximum of each test by limiting part. Each bound is an invariant that is known before a run.
//!
//! | what | at most | from |
//! |---|---|---|
//! | random reads | 200/s a disk, of which a read from RAID-Z needs all that hold its record; 77/s a thread | S9.1, S9.5, S9.6 |
//! | streams read | 80 MB/s a disk that holds data | S9.2 |
//! | log device | 110 MB/s; without one, what the disks that hold data write, and 77/s a thread, which waits for a disk as a read does | S9.8, S9.2, S9.6 |
//! | read SSD | 3100/s of 8 KiB, and 150 MB/s | S9.7 |
//! | a link | its rate less headers | S1, S11 |
//! | cores | their cycles over those of a request | S4 |
//! | names | threads over their round trips | S1.7 |
//!
//! Streams written have no bound by disks: the tests are so short that all may end in memory.

use super::{ASHIFT, Design, READ_SSD_BYTES, SET_BLOCK, Test, WORKING_SET};
use seeklab_model::layers::server::least_cycles;
use seeklab_spec::Scenario;
use seeklab_spec::to_f64;

const MB: f64 = 1e6;
const MIB: f64 = 1_048_576.0;
const DISK_READS_PER_S: f64 = 200.0;
const THREAD_READS_PER_S: f64 = 77.0;
const DISK_STREAM: f64 = 80.0 * MB;
const LOG_STREAM: f64 = 110.0 * MB;
const READ_SSD_S: f64 = 1.0 / 3100.0;
/// Read rate of a read SSD.
pub const READ_SSD_BYTES_PER_S: u64 = 150_000_000;

/// Bounds by name, the least first.
#[derive(Default)]
pub struct Bounds(Vec<(&'static str, f64)>);

impl Bounds {
    fn add(&mut self, what: &'static str, most: f64) {
        let place = self.0.iter().position(|(_, other)| *other > most).unwrap_or(self.0.len());
        self.0.insert(place, (what, most));
    }
}

impl IntoIterator for Bounds {
    type Item = (&'static str, f64);
    type IntoIter = std::vec::IntoIter<Self::Item>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// The bounds of a test of a design; the scenario has its server and its network.
pub fn of(design: &Design, scenario: &Scenario, test: &Test) -> Bounds {
    let mut bounds = Bounds::default();
    let (Some(network), Some(server)) = (&scenario.network, &scenario.server) else { return bounds };
    let (bytes, threads, disks) = (to_f64(test.bytes), to_f64(test.threads), to_f64(design.disks));
    // Results by operations and by bytes a second.
    let (of_operations, of_bytes) = if test.counts { (1.0, 1.0 / bytes) } else { (bytes / MIB, 1.0 / MIB) };
    let cores = to_f64(design.cores) * to_f64(server.hz) / least_cycles(server, network, test.bytes, test.reads) * of_operations;
    if test.bytes == 0 {
        let round_trips = threads * 1e9 / to_f64(network.round_trip.0.max(1));
        let operations = if test.reads { 1 } else { scenario.nfs.as_ref().map_or(1, |nfs| nfs.create_operations) };
        bounds.add("cores", cores / f64::from(operations));
        bounds.add("threads", round_trips / f64::from(operations));
        return bounds;
    }
    let link = |gbit: u64| to_f64(gbit) * 1e9 / 8.0 * bytes / to_f64(network.message_bytes(test.bytes)) * of_bytes;
    bounds.add("cores", cores);
    bounds.add("clients' links", link(design.client_gbit) * threads);
    bounds.add("server's link", link(design.server_gbit));
    // A read from RAID-Z needs all disks that hold a part of its data.
    let spindles = |block: u64| match design.parity {
        0 => disks,
        parity => disks / to_f64((design.width - parity).min(block >> ASHIFT)),
    };
    let random_reads = |block: u64| spindles(block) * DISK_READS_PER_S;
    match test.name {
        "1-stream-cold" | "3-streams-cold" => {
            let share = if design.parity == 0 { 1.0 } else { design.data_share() };
            bounds.add("disks", disks * DISK_STREAM * share * of_bytes);
        }
        "5-random-cold" => {
            bounds.add("disks", random_reads(design.record_bytes));
            bounds.add("threads", threads * THREAD_READS_PER_S);
        }
        "9-sync-writes" if design.log_ssds > 0 => bounds.add("log SSDs", to_f64(design.log_ssds) * LOG_STREAM * of_bytes),
        "9-sync-writes" => {
            let copies = if design.parity == 0 { design.width } else { 1 };
            bounds.add("disks", disks * DISK_STREAM / to_f64(copies) * of_bytes);
            bounds.add("threads", threads * THREAD_READS_PER_S);
        }
        WORKING_SET => {
            let miss = |held: u64| 1.0 - (to_f64(held) / to_f64(design.set_bytes)).min(1.0);
            let not_memory = miss(design.cache_bytes);
            let nowhere = miss(design.cache_bytes + READ_SSD_BYTES * design.read_ssds);
            if nowhere > 0.0 {
                bounds.add("disks", random_reads(SET_BLOCK) / nowhere);
                bounds.add("threads", threads * THREAD_READS_PER_S / nowhere);
            }
            if not_memory > nowhere {
                // A block is read whole.
                let each_s = READ_SSD_S.max(to_f64(SET_BLOCK) / to_f64(READ_SSD_BYTES_PER_S));
                bounds.add("read SSDs", to_f64(design.read_ssds) / each_s / (not_memory - nowhere));
            }
        }
        _ => {}
    }
    bounds
}
