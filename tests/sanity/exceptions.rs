//! What the sweeps find and what is right nevertheless, or known and not mended: each with its reason.
//!
//! An exception names a unit, its *witness*, which runs in every sample and must still break the rule there. One whose witness
//! no longer does is an error: take it out.

use crate::rules::{Finding, Rule};

/// A finding that may stay.
pub struct Exception {
    /// The family whose sweeps find it.
    pub family: &'static str,
    pub rule: Rule,
    /// Units; an asterisk stands for any text.
    pub units: &'static str,
    /// Axes, or the part that is exceeded.
    pub axis: &'static str,
    /// The most that is slower, as a share.
    pub fall: f64,
    /// A unit in which it is found.
    pub witness: &'static str,
    /// The effect that explains it.
    pub reason: &'static str,
}

impl Exception {
    /// Whether it explains a finding.
    pub fn explains(&self, finding: &Finding) -> bool {
        self.rule == finding.rule && finding.fall <= self.fall && fits(self.units, &finding.unit) && fits(self.axis, &finding.axis)
    }
}

/// Whether a text is what a pattern describes, in which an asterisk stands for any text.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(after) = text.strip_prefix(start) else {
        return false;
    };
    rest.is_empty() || (0..=after.len()).any(|at| after.is_char_boundary(at) && fits(rest, &after[at..]))
}

/// Something with more that is slower by at most `percent`.
const fn slower(
    family: &'static str,
    units: &'static str,
    axis: &'static str,
    percent: u32,
    witness: &'static str,
    reason: &'static str,
) -> Exception {
    Exception { family, rule: Rule::Slower, units, axis, fall: percent as f64 / 100.0, witness, reason }
}

const DISPATCH: &str = "With several shards every request passes the primary first, which takes 10 us of a core. One request at a time has nothing to gain from shards, and a node whose cores are all busy with other disks loses what the primaries take.";
const RINGS: &str = "A transmit ring that nobody posts on must be taken over, which costs the core that does it 45,000 cycles. With more rings, or more clients that each post less, more of them are idle when they are needed.";
const ONE_CORE: &str = "With one core nobody else has had the ring: nothing is taken over.";
const UNMAPS: &str =
    "Each buffer that is unmapped calls every other core, one call at a time: from some number of cores on, the calls are the limit.";
const LOCKSTEP: &str = "A link that is shared fairly by segments ends transfers of one size all at the same moment, and then stands idle for a round trip. On one connection they follow each other.";
const SPREAD: &str = "Eight requests in order over four units, behind a link that is slower than these: a host that submits them at once lets them meet at the same unit, and the link stands idle for a moment. A slower host spreads them. With twelve in flight the link is full either way.";
const SHARE: &str = "Of n nodes, as many know where a block is as it has copies, and as many have one: on more nodes more lookups and blocks are somewhere else, and a load that waits for each answer pays the round trip. Loads that fill the links gain by nodes.";
const ASYNC: &str = "Read-ahead and write-behind share the client's eight async threads: what is read ahead keeps writes waiting. With 128 threads it does not.";
const MIXED: &str =
    "Known and not mended, cause not found: a stream of reads and one of writes over the same blocks get slower with a deeper queue.";
const SKEW: &str = "Known and not mended: requests of less than 16 KiB from one stream wait a little longer for the platter than those of 16 KiB, whose transfer gives the next command time to come.";
const FIVE: &str = "Eight streams on a queue of five, one of which is in order ahead of time: the others wait outside in the order of arrival, and of four requests the nearest is often one that loses a turn later. With a queue of 32 and none in order ahead, the drive's own order is 55% faster than that of arrival.";
const FEW: &str = "A cache that sorts few writes goes back and forth between them and the reads. The measured disks do the same: the HGST 7K100 makes 44 random writes a second with its cache on, and 59 reads.";
const SHORT: &str = "128 segments of a buffer of 8 MB hold 62 KiB each, less than a request.";
const INDIRECT: &str = "The data block of a synchronous write that goes to its place in the pool and its log block lie behind each other on one disk, which writes both in one turn. On several disks, and where records are smaller than a stripe unit, they lie in units of their own, and each is waited for: 212 writes/s on one disk, 166 on two, at eight sets of starting angles 164 to 167. The allocator has a cursor for each alignment (metaslab.c), so real pools have units of their own on one disk too: not mended.";
const SIDES: &str = "Sides answer in turn, for 2 MiB or for 10 ms each: what a drive has read ahead is not asked for, and a stream pays for the arm's way back to it. So these versions did; the rule by load keeps a stream on its side.";
const STARVED: &str = "32 requests over so many disks are two to four for each, and a drive without read-ahead whose queue runs dry loses a turn. With 64 in flight, or with a read-ahead of 1 MiB, there is no fall: 16 disks in mirrors read 772 MiB/s, 1,875 and 1,897; 12 disks in RAID-6 815, 1,644 and 1,601.";
const HISTORY: &str = "Known and not mended, cause supposed: one file that is written in order frees whole blocks for the collector, many at once free parts of many. With small writes on an old drive, or in a cache of one-bit cells, that costs up to a quarter.";
const MEET: &str = "Streams of small reads that meet on a plane take each other's page out of its register, and stay together from then on: each read senses the page again. A controller that keeps pages in its memory, which is not modelled, would part them.";
const CODEWORD: &str = "A request of 512 bytes moves the whole page that it is corrected by over its channel, and 32 in order lie on one die and one channel, while larger ones keep several busy.";
const REST: &str = "A write of less than a page reads the rest of it before it is programmed.";
const ONE_DIE: &str = "Synchronous writes of 512 bytes in order go to one die 32 times in a row, and each takes a whole program of it. With 2.2% of spare flash that die must collect between them, for up to 23 ms. The first 300 writes make 506 requests/s, 3,000 make 171; of 16 KiB, which change the die each time, 767 and 711.";
const FITS: &str = "The cache of one-bit cells keeps its size, and what is simulated of the drive grows with its units: with four of them all of it fits into the cache.";
const POOL: &str = "Sequential streams part the arms of a pool, and RAID-Z moves all of them for each record. More streams than the 16 segments of a drive's buffer lose what was read ahead for them.";
const COMBINED: &str = "All that waits is combined into one transaction, so that the drive below has one request at a time: without read-ahead or a write cache it loses a turn after each. Transactions no larger than a request keep its queue filled.";
const UNKNOWN: &str = "Known and not mended, cause not found: a few percent.";
const TURNS: &str = "The data of a large synchronous write and its log block are in two places. One at a time, a commit takes exactly one turn (119/s at eight sets of starting angles); with a second writer it takes 1.4 turns (82 to 95/s). On one disk, where both places are one, the second writer changes nothing (112 and 112/s). A measured disk loses 3% with the second writer.";
const SAME: &str = "Compressed records lie two or four in a stripe unit: one request at a time goes to the same disk again, which without read-ahead loses a turn. With a disk that reads ahead, twice the ratio reads twice as fast.";
const EAGER: &str = "Not bursts: no more than 2 MiB are dirty with any of these limits. A fifth of 4 MiB closes a group after every second commit (787 groups in 16 s instead of 16), and its writes move the place of the next commit, which then waits 7% less for the platter (380 to 417/s at eight sets of starting angles, otherwise 365 to 382).";
/// The bound of commits on one disk.
pub const COMMITS: &str = "rotation: 125 commits a second at 7200 rpm";

/// All of them.
pub const EXCEPTIONS: &[Exception] = &[
    slower(
        "network",
        "1 Gbit/s, 20 ms away: * 1 MiB depth 4 x 4 jobs",
        "network.connections",
        15,
        "1 Gbit/s, 20 ms away: read 1 MiB depth 4 x 4 jobs",
        LOCKSTEP,
    ),
    slower("disks", "*: readwrite *", "depth", 42, "hdd-7200: readwrite 1 MiB", MIXED),
    slower("disks", "hdd-hgst-7k100: streams, read *", "its own order", 12, "hdd-hgst-7k100: streams, read 128 KiB depth 1", FIVE),
    slower("disks", "hdd-*: rand* KiB depth *", "hdd.write_cache", 20, "hdd-7200-2008: randrw 8 KiB depth 16", FEW),
    slower("disks", "hdd-hgst-7k100: read 128 KiB depth 1", "hdd.segments", 27, "hdd-hgst-7k100: read 128 KiB depth 1", SHORT),
    slower("disks", "*of all sizes*", "smaller requests", 35, "disk-array-2021: write of all sizes, depth 32", SKEW),
    slower(
        "zfs",
        "ZFS on 4 disks: sync * 128 KiB depth *",
        "devices[0].count",
        83,
        "ZFS on 4 disks: sync randwrite 128 KiB depth 4",
        INDIRECT,
    ),
    slower("zfs", "ZFS on 4 disks: read 128 KiB depth 1", "zfs.compression", 48, "ZFS on 4 disks: read 128 KiB depth 1", SAME),
    slower(
        "zfs",
        "ZFS on 4 disks: sync randwrite 128 KiB depth 4",
        "zfs.compression",
        20,
        "ZFS on 4 disks: sync randwrite 128 KiB depth 4",
        INDIRECT,
    ),
    slower(
        "zfs",
        "ZFS on 4 disks: sync write 128 KiB depth 8",
        "zfs.dirty_data_max",
        8,
        "ZFS on 4 disks: sync write 128 KiB depth 8",
        EAGER,
    ),
    slower(
        "zfs",
        "ZFS with a log device: sync write 4 KiB depth 1",
        "devices[0].count",
        11,
        "ZFS with a log device: sync write 4 KiB depth 1",
        UNKNOWN,
    ),
    slower("zfs", "ZFS on 4 disks: sync randwrite 128 KiB", "depth", 33, "ZFS on 4 disks: sync randwrite 128 KiB", TURNS),
    slower("zfs", "ZFS on 4 disks: sync randwrite 128 KiB", "workers", 34, "ZFS on 4 disks: sync randwrite 128 KiB", TURNS),
    slower("layouts", "pool-2008-*: read *", "workers", 76, "pool-2008-raidz: read 1 MiB", POOL),
    slower(
        "layouts",
        "one mirror by pending on hdd-7200: *",
        "sides",
        57,
        "one mirror by pending on hdd-7200: read 128 KiB depth 1",
        SIDES,
    ),
    slower("layouts", "one mirror by region on hdd-7200: *", "sides", 37, "one mirror by region on hdd-7200: read 128 KiB depth 1", SIDES),
    slower(
        "layouts",
        "mirrors*on disk-array-2021: * 128 KiB depth 32",
        "devices[0].count",
        17,
        "mirrors of 2 on disk-array-2021: read 128 KiB depth 32",
        STARVED,
    ),
    slower(
        "layouts",
        "raid* on disk-array-2021: read 128 KiB depth *",
        "devices[0].count",
        17,
        "raid6 of 6 on disk-array-2021: read 128 KiB depth 32",
        STARVED,
    ),
    slower("flash", "*write*", "workers", 28, "nvme-consumer: write 16 KiB", HISTORY),
    slower("flash", "*: read* 512 B", "workers", 81, "ssd-sata: read 512 B", MEET),
    slower("flash", "*: read 4 KiB", "workers", 26, "ssd-sata-tlc: read 4 KiB", MEET),
    slower("flash", "*: read of all sizes, depth 32", "smaller requests", 32, "nvme-consumer: read of all sizes, depth 32", CODEWORD),
    slower("flash", "*write of all sizes, depth *", "smaller requests", 68, "ssd-qlc: readwrite of all sizes, depth 1", REST),
    slower(
        "flash",
        "sabrent-rocket-4-plus: sync write of all sizes, depth 1",
        "smaller requests",
        73,
        "sabrent-rocket-4-plus: sync write of all sizes, depth 1",
        ONE_DIE,
    ),
    slower("flash", "ssd-qlc-consumer: randrw 8 KiB depth 16", "ssd.units", 94, "ssd-qlc-consumer: randrw 8 KiB depth 16", FITS),
    slower(
        "volume",
        "combining scheduler: * 128 KiB depth 4",
        "protocol.target_transaction",
        81,
        "combining scheduler: read 128 KiB depth 4",
        COMBINED,
    ),
    slower("server", "4 cores*", "server.nic.rings", 30, "4 cores: randread 8 KiB depth 1 x 32 jobs", RINGS),
    slower("server", "4 cores: read *", "workers", 12, "4 cores: read 1 MiB", RINGS),
    slower("server", "4 cores*: randread 4 KiB depth 1", "server.cores", 15, "4 cores: randread 4 KiB depth 1", ONE_CORE),
    slower("server", "4 cores that unmap buffers: *", "server.cores", 75, "4 cores that unmap buffers: randread 4 KiB depth 32", UNMAPS),
    slower("host", "host of 4 cores: read 128 KiB depth 8", "host.*", 10, "host of 4 cores: read 128 KiB depth 8", SPREAD),
    slower("cluster", "cluster by *", "nodes", 50, "cluster by hash: randread 4 KiB depth 1", SHARE),
    slower(
        "client",
        "NFS client: readwrite 32 KiB depth 1 x 2 jobs",
        "nfs.read_ahead",
        20,
        "NFS client: readwrite 32 KiB depth 1 x 2 jobs",
        ASYNC,
    ),
    slower("controller", "controller*", "controller.shards", 20, "controller: randread 4 KiB depth 1", DISPATCH),
];

#[test]
fn an_asterisk_stands_for_any_text() {
    assert!(fits("a*c", "abbc") && fits("*", "") && fits("a*", "a") && fits("*x*", "axb") && fits("ab", "ab"));
    assert!(!fits("a*c", "abb") && !fits("ab", "abc") && !fits("*x*", "ab"));
}
