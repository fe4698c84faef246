//! Sizes and places of a worker's requests beyond one size and one order: mixes of sizes, strides, runs between random places, zones,
//! several files. The rules are those of fio 3.33, read from its I/O logs.
//!
//! Left out: in a zone a random job draws with repetition.

use seeklab_kernel::Stream;
use seeklab_spec::access::{FileService, Stride, StridedZones};
use seeklab_spec::{Job, Op};

use super::offsets::Order;

/// Directions that have a position of their own.
const DIRECTIONS: usize = 3;

/// One of a worker's files: a part of its region.
struct File {
    start: u64,
    /// Where the next sequential request of each direction goes, from the file's start.
    position: [u64; DIRECTIONS],
    /// Where the last request of each direction went.
    last: [u64; DIRECTIONS],
    order: Option<Order>,
    issued_bytes: u64,
}

/// A zone that is being written.
struct Zone {
    spec: StridedZones,
    start: u64,
    done_bytes: u64,
}

/// The pattern of a worker.
pub struct Pattern {
    /// Sizes with the share of requests up to each, in percent, of reads and of writes; empty without a mix.
    mixes: [Vec<(f64, u64)>; 2],
    files: Vec<File>,
    file_bytes: u64,
    least_bytes: u64,
    /// Random requests begin at multiples of this.
    grid_bytes: u64,
    service: FileService,
    service_ios: u32,
    /// The file in turn, and how many requests it still has.
    turn: (usize, u32),
    percentage_random: u64,
    random_every: u32,
    repeat_place: bool,
    until_random: u32,
    stride: Option<Stride>,
    zone: Option<Zone>,
    time_based: bool,
}

impl Pattern {
    /// The pattern of a job over a region of `length` bytes; nothing when it has one size, one order and one file.
    pub fn of(job: &Job, length: u64, stream: &mut Stream) -> Option<Self> {
        let plain = job.bssplit.is_none() && job.stride.is_none() && job.zones.is_none();
        if plain && job.nrfiles == 1 && job.percentage_random == 100 && job.random_every == 1 && job.blockalign.is_none() {
            return None;
        }
        let least_bytes = job.min_request_bytes();
        let file_bytes = (length / u64::from(job.nrfiles) / least_bytes * least_bytes).max(least_bytes);
        let grid_bytes = job.blockalign.map_or(least_bytes, |align| align.0.min(file_bytes));
        let mixed = job.max_request_bytes() > least_bytes && job.zones.is_none();
        let mut file = |number: u64| File {
            start: number * file_bytes,
            position: [0; DIRECTIONS],
            last: [0; DIRECTIONS],
            order: job
                .rw
                .is_random()
                .then(|| Order::of(job, mixed && grid_bytes == least_bytes, file_bytes / grid_bytes, grid_bytes, stream)),
            issued_bytes: 0,
        };
        let mix = |writes: bool| {
            let mut up_to = 0.0;
            let shares = job.bssplit.as_ref().map_or(&[][..], |mix| mix.of(writes)).iter();
            shares
                .map(|share| {
                    up_to += share.percent;
                    (up_to, share.bs.0)
                })
                .collect()
        };
        Some(Self {
            mixes: [mix(false), mix(true)],
            files: (0..u64::from(job.nrfiles)).map(&mut file).collect(),
            file_bytes,
            least_bytes,
            grid_bytes,
            service: job.file_service,
            service_ios: job.file_service_ios,
            turn: (0, job.file_service_ios),
            percentage_random: job.percentage_random.into(),
            random_every: job.random_every,
            repeat_place: job.repeat_place,
            until_random: 0,
            stride: job.stride,
            zone: job.zones.map(|spec| Zone { spec, start: 0, done_bytes: 0 }),
            time_based: job.time_based,
        })
    }

    /// The size that a mix gives the next request; nothing without a mix.
    pub fn size(&self, op: Op, choices: &mut Stream) -> Option<u64> {
        let mix = &self.mixes[usize::from(op != Op::Read)];
        let last = mix.last()?;
        let drawn = choices.unit() * 100.0;
        Some(mix.iter().find(|(up_to, _)| drawn < *up_to).unwrap_or(last).1)
    }

    /// Where a request of `bytes` goes, in the worker's region, and how long it may be; nothing when the files are read to their ends.
    pub fn place(&mut self, op: Op, bytes: u64, offsets: &mut Stream) -> Option<(u64, u64)> {
        let (length, least) = (self.file_bytes, self.least_bytes);
        let number = self.choose(offsets)?;
        let direction = op as usize;
        let offset = match &mut self.zone {
            Some(zone) => {
                if zone.done_bytes >= zone.spec.size.0 {
                    let range = zone.spec.range.unwrap_or(zone.spec.size).0;
                    zone.done_bytes = 0;
                    zone.start += range + zone.spec.skip.0;
                    if zone.start >= length {
                        zone.start = 0;
                    }
                    self.files[number].position[direction] = zone.start;
                }
                self.in_zone(number, direction, offsets)
            }
            None => self.anywhere(number, direction, offsets)?,
        };
        let mut taken = bytes.min((length - offset) / least * least);
        let file = &mut self.files[number];
        if let Some(order) = &mut file.order {
            taken = order.take(offset / least, taken / least).map_or(taken, |blocks| blocks * least);
        }
        file.last[direction] = offset;
        file.position[direction] = offset + taken;
        file.issued_bytes += taken;
        self.zone.iter_mut().for_each(|zone| zone.done_bytes += taken);
        Some((file.start + offset, taken))
    }

    /// The request of direction `op` went to `offset` instead of where it was drawn, and continues at `next` (without several files).
    pub fn moved(&mut self, op: Op, offset: u64, next: u64) {
        let (file, direction) = (&mut self.files[0], op as usize);
        (file.last[direction], file.position[direction]) = (offset, next);
    }

    /// The files begin again.
    pub fn rewind(&mut self) {
        for file in &mut self.files {
            (file.position, file.issued_bytes) = ([0; DIRECTIONS], 0);
        }
        self.turn = (0, self.service_ios);
    }

    /// The file of the next request.
    fn choose(&mut self, offsets: &mut Stream) -> Option<usize> {
        if self.files.len() == 1 {
            return Some(0);
        }
        if self.files.iter().all(|file| file.issued_bytes >= self.file_bytes) {
            if !self.time_based {
                return None;
            }
            self.rewind();
        }
        let done = |file: &File| file.issued_bytes >= self.file_bytes;
        let count = self.files.len();
        match self.service {
            FileService::Random => loop {
                let number = usize::try_from(offsets.below(count as u64)).unwrap_or(0); // below the number of files
                if !done(&self.files[number]) {
                    return Some(number);
                }
            },
            FileService::Sequential => {
                if done(&self.files[self.turn.0]) {
                    self.turn.0 = (self.turn.0 + 1) % count;
                }
            }
            FileService::RoundRobin => {
                let (mut number, mut left) = self.turn;
                while left == 0 || done(&self.files[number]) {
                    (number, left) = ((number + 1) % count, self.service_ios);
                }
                self.turn = (number, left - 1);
            }
        }
        Some(self.turn.0)
    }

    fn in_zone(&self, number: usize, direction: usize, offsets: &mut Stream) -> u64 {
        let (file, least) = (&self.files[number], self.least_bytes);
        let Some(zone) = &self.zone else { return 0 };
        let end = (zone.start + zone.spec.range.unwrap_or(zone.spec.size).0).min(self.file_bytes);
        if file.order.is_some() {
            return zone.start + offsets.below(((end - zone.start) / least).max(1)) * least;
        }
        let position = file.position[direction].max(zone.start);
        if position + least > end { zone.start } else { position }
    }

    fn anywhere(&mut self, number: usize, direction: usize, offsets: &mut Stream) -> Option<u64> {
        let (length, least, grid) = (self.file_bytes, self.least_bytes, self.grid_bytes);
        let file = &mut self.files[number];
        let Some(order) = &mut file.order else {
            return match strided(file.position[direction], length, self.stride) {
                Some(position) if position + least <= length => Some(position),
                _ if self.stride.is_some() && !self.time_based => None,
                _ => Some(0),
            };
        };
        let position = file.position[direction];
        let goes_on = if self.random_every > 1 {
            let between = self.until_random > 0;
            self.until_random = if between { self.until_random - 1 } else { self.random_every - 1 };
            between
        } else {
            self.percentage_random < 100 && offsets.below(100) >= self.percentage_random
        };
        if goes_on && self.repeat_place {
            return Some(file.last[direction]);
        }
        if goes_on && position + least <= length {
            return Some(position);
        }
        Some(order.next(length / grid, offsets) * grid)
    }
}

/// The next place of a sequential job whose last request ended at `position`; nothing at the end of the file.
fn strided(position: u64, length: u64, stride: Option<Stride>) -> Option<u64> {
    let Some(Stride { skip, backwards }) = stride else { return Some(position) };
    match position {
        0 => Some(0),
        _ if backwards => Some(position.checked_sub(skip.0).unwrap_or_else(|| length.saturating_sub(skip.0))),
        _ if position >= length => None,
        _ if position + skip.0 >= length => Some(0),
        _ => Some(position + skip.0),
    }
}
