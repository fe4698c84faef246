//! Suspension of programs and erases for reads: times by hand, and the mean and tail that random arrivals must have.

use std::collections::VecDeque;

use super::super::die::{Die, Kind, NEVER, Next, Rules, State};
use super::{Done, flash, random, run, run_at, spec};
use crate::kernel::Phase;
use crate::layers::device::ssd::Ssd;
use seeklab_kernel::Stream;
use seeklab_spec::{Bytes, Collector, EraseSuspension, Flash, Nanos, Op, Precondition, ProgramSuspension, Suspend};

/// One die that reads, programs and erases what comes, in microseconds.
struct Bench {
    die: Die,
    rules: Rules,
    read: u64,
    reads: VecDeque<u64>,
    ops: VecDeque<(u64, Kind, u64)>,
    reading: Option<u64>,
    reads_end: Vec<u64>,
    ops_end: Vec<u64>,
    read_times: Vec<u64>,
    op_times: Vec<u64>,
}

impl Bench {
    fn new(rules: Rules) -> Self {
        let empty = Vec::new;
        Self {
            die: Die::new(1),
            rules,
            read: 50,
            reads: VecDeque::new(),
            ops: VecDeque::new(),
            reading: None,
            reads_end: empty(),
            ops_end: empty(),
            read_times: empty(),
            op_times: empty(),
        }
    }

    /// Runs reads and operations that arrive in order of time.
    fn run(mut self, reads: &[u64], ops: &[(u64, Kind, u64)]) -> Self {
        let (mut next_read, mut next_op, mut suspend_at) = (0, 0, NEVER);
        loop {
            let arrivals = [reads.get(next_read).copied(), ops.get(next_op).map(|op| op.0)];
            let read_end = self.reading.unwrap_or(NEVER);
            let busy = matches!(self.die.state(), State::Running | State::Suspending | State::Resuming);
            let die_end = if busy { self.die.until_ns() } else { NEVER };
            let Some(now) =
                [read_end, die_end, suspend_at].into_iter().chain(arrivals.into_iter().flatten()).min().filter(|now| *now < NEVER)
            else {
                return self;
            };
            if read_end == now {
                self.reading = None;
                self.die.has_read(0);
                let came = self.reads.pop_front().expect("a read");
                self.reads_end.push(now);
                self.read_times.push(now - came);
            } else if die_end == now {
                if self.die.ends(now) == State::Running {
                    let (came, ..) = self.ops.pop_front().expect("an operation");
                    self.ops_end.push(now);
                    self.op_times.push(now - came);
                }
            } else if suspend_at == now {
                if self.die.is_time(now) {
                    self.die.suspends(&self.rules, now);
                }
                suspend_at = NEVER;
            } else if arrivals[0] == Some(now) {
                self.reads.push_back(now);
                next_read += 1;
            } else {
                self.ops.push_back(ops[next_op]);
                next_op += 1;
            }
            // What the die begins: as the drive does it.
            if self.die.state() == State::Running {
                if !self.reads.is_empty() {
                    suspend_at = self.die.wants_suspension(&self.rules, now).unwrap_or(suspend_at);
                }
                continue;
            }
            match self.die.next(!self.reads.is_empty() && self.reading.is_none(), !self.ops.is_empty()) {
                Next::Reads => {
                    self.die.reads(0, !self.ops.is_empty());
                    self.reading = Some(now + self.read);
                }
                Next::Write => {
                    self.die.ends_row();
                    let (_, kind, time) = self.ops[0];
                    self.die.runs(kind, now, now + time);
                    if !self.reads.is_empty() {
                        suspend_at = self.die.wants_suspension(&self.rules, now).unwrap_or(NEVER);
                    }
                }
                Next::Resume => {
                    self.die.resumes(&self.rules, now);
                }
                Next::Wait | Next::Collect => {}
            }
        }
    }
}

fn rules(most: u32) -> Rules {
    let [us_20, us_5, us_100, us_50, us_500, us_200] = [20, 5, 100, 50, 500, 200].map(Nanos);
    Rules::new(Some(&Suspend {
        program: ProgramSuspension { suspend: us_20, resume: us_5, slice: us_100, rest: us_50, most },
        erase: EraseSuspension { suspend: us_100, resume: us_20, slice: us_500, rest: us_200, most },
    }))
}

#[test]
fn a_program_makes_way_for_reads_and_ends_later_by_what_that_took() {
    let program = [(0, Kind::Program, 600)];
    for (reads, most, reads_end, program_end) in [
        (&[][..], 4, &[][..], 600),
        (&[200], 4, &[270], 675),
        (&[40], 4, &[170], 675),
        (&[570], 4, &[650], 600),
        (&[200, 210], 4, &[270, 320], 725),
        (&[200, 300], 4, &[270, 445], 750),
        (&[200, 300], 1, &[270, 725], 675),
        (&[200, 300], 0, &[650, 700], 600),
    ] {
        let bench = Bench::new(rules(most)).run(reads, &program);
        assert_eq!((&bench.reads_end[..], bench.ops_end[0]), (reads_end, program_end), "reads at {reads:?}, at most {most} suspensions");
    }
    let bench = Bench::new(rules(10)).run(&[1000, 1010, 3000], &[(0, Kind::Erase, 5000)]);
    assert_eq!((&bench.reads_end[..], &bench.ops_end[..]), (&[1150, 1200, 3150][..], &[5390][..]));
}

/// Mean, 99 and 99.9 % of reads, and the mean of operations, of a minute of random arrivals.
fn poisson(suspension: Rules) -> [f64; 4] {
    let arrivals = |name: &str, mean: f64| {
        let (mut stream, mut at, mut times) = (Stream::new(5, name), 0.0, Vec::new());
        while at < 60e6 {
            at += stream.exponential(mean);
            times.push(at as u64);
        }
        times
    };
    let reads = arrivals("reads", 1000.0);
    // Programs of 600 us for 40 % of the time, erases of 5 ms for 5 %.
    let mut ops: Vec<_> = arrivals("programs", 1500.0).into_iter().map(|at| (at, Kind::Program, 600)).collect();
    ops.extend(arrivals("erases", 100_000.0).into_iter().map(|at| (at, Kind::Erase, 5_000)));
    ops.sort_unstable_by_key(|op| op.0);
    let mut bench = Bench::new(suspension).run(&reads, &ops);
    bench.read_times.sort_unstable();
    let mean = |times: &[u64]| times.iter().sum::<u64>() as f64 / times.len() as f64;
    let at = |share: f64| bench.read_times[(bench.read_times.len() as f64 * share) as usize] as f64;
    [mean(&bench.read_times), at(0.99), at(0.999), mean(&bench.op_times)]
}

#[test]
fn random_reads_among_programs_and_erases_wait_as_published_rules_make_them() {
    let same_rule = |most| {
        let [us_20, us_5, us_100, us_50] = [20, 5, 100, 50].map(Nanos);
        Rules::new(Some(&Suspend {
            program: ProgramSuspension { suspend: us_20, resume: us_5, slice: us_100, rest: us_50, most },
            erase: EraseSuspension { suspend: us_20, resume: us_5, slice: us_100, rest: us_50, most },
        }))
    };
    // A minute of one die; the numbers are those of another program with the same rules.
    for (most, expected) in [(0, [308.0, 4087.0, 4959.0, 1193.0]), (4, [84.0, 684.0, 2858.0, 1275.0]), (1, [170.0, 3193.0, 4531.0, 1244.0])]
    {
        let found = poisson(same_rule(most));
        println!("at most {most} suspensions: {found:.0?}, expected {expected:?}");
        for (number, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let tolerance = if number == 1 || number == 2 { 0.1 } else { 0.03 };
            assert!((found / expected - 1.0).abs() < tolerance, "at most {most}: {found} against {expected}");
        }
    }
}

/// A drive of one die whose channel and interface take next to no time, and whose programs take 600 us.
fn one_die(suspend: Option<Suspend>, channel_reads_first: bool) -> spec::Ssd {
    let flash = Flash { channels: 1, channel_rate: Bytes(100_000_000_000), suspend, channel_reads_first, ..flash() };
    spec::Ssd {
        units: 1,
        capacity: Bytes(8 << 20),
        program: Nanos(600_000),
        overhead: Nanos(0),
        interface_rate: Bytes(1_000_000_000_000),
        flash: Some(flash),
        ..spec()
    }
}

#[test]
fn the_drive_suspends_a_program_of_the_host_for_its_reads() {
    let write = (0, Op::Write, 0, 4096);
    for reads_first in [false, true] {
        for (reads, suspend, ends_us) in [
            (vec![200], Some(Suspend::default()), vec![675, 270]),
            (vec![200, 300], Some(Suspend::default()), vec![750, 270, 445]),
            (vec![200, 300], None, vec![600, 650, 700]),
        ] {
            let mut requests = vec![write];
            requests.extend(reads.iter().zip(2..).map(|(at_us, page)| (at_us * 1000, Op::Read, page * 4096, 4096)));
            let mut ssd = Ssd::new(&one_die(suspend, reads_first), 1, "ssd0");
            let (done, _) = run_at(&mut ssd, &requests);
            for (found, expected_us) in done.iter().zip(&ends_us) {
                assert!(found.abs_diff(expected_us * 1000) < 200, "{reads:?}: {done:?}, expected {ends_us:?} us");
            }
        }
    }
}

/// Half reads, half writes on a drive in steady state.
fn mixed(suspend: Option<Suspend>) -> (Vec<Done>, Ssd) {
    let flash = Flash { suspend, precondition: Precondition::Random, collector: Collector::Greedy, ..flash() };
    let mut ssd = Ssd::new(&spec::Ssd { write_buffer: Bytes(64 << 10), flash: Some(flash), ..spec() }, 1, "ssd0");
    let both = random(Op::Write, 4096, 16_384, 20_000).into_iter().zip(random(Op::Read, 4096, 16_384, 20_000));
    let done = run(&mut ssd, 4, &both.flat_map(|(write, read)| [write, read]).collect::<Vec<_>>());
    (done, ssd)
}

#[test]
fn suspension_cuts_the_tail_of_reads_and_costs_writes_little() {
    let reads_of = |done: &[Done]| {
        let mut reads: Vec<u64> = done.iter().filter(|row| row.number % 2 == 1).map(|row| row.response_ns).collect();
        reads.sort_unstable();
        (reads.iter().sum::<u64>() / reads.len() as u64, reads[reads.len() * 99 / 100])
    };
    let ((waits, plain), (makes_way, suspending)) = (mixed(None), mixed(Some(Suspend::default())));
    let ((mean, p99), (mean_then, p99_then)) = (reads_of(&waits), reads_of(&makes_way));
    println!("reads: mean {mean} -> {mean_then} ns, 99 % {p99} -> {p99_then} ns");
    assert!(2 * mean_then < mean && 2 * p99_then < p99, "mean {mean} -> {mean_then}, 99 % {p99} -> {p99_then}");
    // The same work was done, and collection is charged only while it runs.
    assert_eq!(plain.wear().map(|wear| wear.host_pages), suspending.wear().map(|wear| wear.host_pages));
    let collect = |done: &[Done]| done.iter().map(|row| row.phases[Phase::Collect as usize]).sum::<u64>();
    assert!(collect(&makes_way) < collect(&waits), "{} against {}", collect(&makes_way), collect(&waits));
    let end = |done: &[Done]| done[done.len() - 1].at_ns as f64;
    println!("all done after {} -> {} ms", end(&waits) / 1e6, end(&makes_way) / 1e6);
    assert!(end(&makes_way) < 1.05 * end(&waits));
}
