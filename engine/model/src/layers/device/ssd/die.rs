//! The operations of a die, one after the other, and the suspension of programs and erases for reads.
//!
//! ```text
//!            a read waits              ts over            no read waits        tr over
//!  running ---------------> suspending --------> suspended --------------> resuming --------> running
//!            not before `slice` has run,          serves reads,
//!            not with less than `rest` to go,     a limited number in a row
//!            not more often than `most`
//! ```
//!
//! An operation that was suspended continues where it was: no work is lost, so it ends after its own time and, for each suspension,
//! `ts` + the reads + `tr`. While one is suspended nothing else is programmed or erased on the die. Only reads of the host
//! suspend; `ts` and `tr` occupy the die, not its channel.
//!
//! Sources: G. Wu and X. He, "Reducing SSD read latency via NAND flash program and erase suspension" (FAST 2012), for the
//! mechanism and what it gains; the limit on how often, and the least slice between two suspensions, as drive makers' patents
//! describe them, so that reads cannot starve an erase. Costs are the scenario's: files of published simulators span 20-100 us for
//! programs and 100-700 us for erases. Left out: an erase that loses part of its pulse when it is suspended, and writes that
//! suspend erases.

use seeklab_spec as spec;

/// Batches of reads that a die does, on each of its planes, while writes or a suspended operation wait. Assumed: drives keep such
/// rules to themselves.
const READS_IN_A_ROW: u32 = 8;

/// No such time.
pub(super) const NEVER: u64 = u64::MAX;

/// An operation that occupies all planes of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Programs pages of the host.
    Program,
    /// Moves pages for collection.
    Move,
    /// Erases a block.
    Erase,
}

/// When an operation of one kind may be suspended, and what it costs. `most` is 0 where it never is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rule {
    pub suspend_ns: u64,
    pub resume_ns: u64,
    pub slice_ns: u64,
    pub rest_ns: u64,
    pub most: u32,
}

/// The rules of a drive.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rules {
    program: Rule,
    erase: Rule,
}

impl Rules {
    pub fn new(suspend: Option<&spec::Suspend>) -> Self {
        let Some(spec::Suspend { program, erase }) = suspend else { return Self::default() };
        let rule = |[suspend, resume, slice, rest]: [spec::Nanos; 4], most| Rule {
            suspend_ns: suspend.0,
            resume_ns: resume.0,
            slice_ns: slice.0,
            rest_ns: rest.0,
            most,
        };
        Self {
            program: rule([program.suspend, program.resume, program.slice, program.rest], program.most),
            erase: rule([erase.suspend, erase.resume, erase.slice, erase.rest], erase.most),
        }
    }

    fn of(&self, kind: Kind) -> &Rule {
        if kind == Kind::Erase { &self.erase } else { &self.program }
    }
}

/// The state of the planes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing, or reads.
    #[default]
    Idle,
    /// An operation waits for its data.
    Loading,
    /// An operation runs.
    Running,
    /// An operation is being suspended.
    Suspending,
    /// An operation is suspended; reads have the die.
    Suspended,
    /// A suspended operation is taken up again.
    Resuming,
}

/// The operation that a die may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing: it is busy, or there is nothing to do.
    Wait,
    /// The reads that wait for planes which are free.
    Reads,
    /// A program, or the collection that is due before it.
    Write,
    /// Collection, if there is any.
    Collect,
    /// The suspended operation.
    Resume,
}

/// One die.
#[derive(Clone, Debug)]
pub(super) struct Die {
    state: State,
    kind: Kind,
    /// When the state ends, where that is known.
    until_ns: u64,
    /// Since when the operation has been running without a break.
    since_ns: u64,
    /// When it will be suspended.
    suspend_at_ns: u64,
    /// Remaining time of a suspended operation.
    left_ns: u64,
    suspensions: u32,
    /// Planes that read, one bit each.
    pub reading: u16,
    reads_in_a_row: u32,
    planes: u32,
    /// Time in collection, up to the last time that it stopped.
    collected_ns: u64,
}

impl Die {
    pub fn new(planes: u32) -> Self {
        Self {
            state: State::Idle,
            kind: Kind::Program,
            until_ns: 0,
            since_ns: 0,
            suspend_at_ns: NEVER,
            left_ns: 0,
            suspensions: 0,
            reading: 0,
            reads_in_a_row: 0,
            planes,
            collected_ns: 0,
        }
    }

    pub fn state(&self) -> State {
        self.state
    }

    /// Since when it has been running without a break.
    pub fn since_ns(&self) -> u64 {
        self.since_ns
    }

    /// When the state ends.
    pub fn until_ns(&self) -> u64 {
        self.until_ns
    }

    /// Whether it collects at this moment.
    pub fn collects(&self) -> bool {
        self.state == State::Running && self.kind != Kind::Program
    }

    /// Time in collection up to `now_ns`. An operation that is suspended, or about to be, collects nothing.
    pub fn collected_ns(&self, now_ns: u64) -> u64 {
        self.collected_ns + if self.collects() { now_ns - self.since_ns } else { 0 }
    }

    /// Return the operation to start, given whether reads and writes wait.
    #[inline]
    pub fn next(&self, reads: bool, writes: bool) -> Next {
        let reads_go = reads && self.reads_in_a_row < READS_IN_A_ROW * self.planes;
        match self.state {
            State::Idle if reads && (!writes || reads_go) => Next::Reads,
            State::Suspended if reads_go => Next::Reads,
            State::Idle | State::Suspended if self.reading != 0 => Next::Wait,
            State::Idle if writes => Next::Write,
            State::Idle => Next::Collect,
            State::Suspended => Next::Resume,
            _ => Next::Wait,
        }
    }

    /// A batch of reads begins on a plane, while writes wait or not.
    pub fn reads(&mut self, plane: u32, writes: bool) {
        self.reading |= 1 << plane;
        self.reads_in_a_row = if writes || self.state == State::Suspended { self.reads_in_a_row + 1 } else { 0 };
    }

    /// A batch of reads is done.
    pub fn has_read(&mut self, plane: u32) {
        self.reading &= !(1 << plane);
    }

    /// Reads had their turn.
    pub fn ends_row(&mut self) {
        self.reads_in_a_row = 0;
    }

    /// A program that takes `busy_ns` waits for its data.
    pub fn loads(&mut self, busy_ns: u64) {
        (self.state, self.kind, self.until_ns, self.left_ns) = (State::Loading, Kind::Program, NEVER, busy_ns);
    }

    /// The data are there. Returns when the program ends.
    pub fn is_loaded(&mut self, now_ns: u64) -> u64 {
        self.runs(Kind::Program, now_ns, now_ns + self.left_ns);
        self.until_ns
    }

    /// An operation runs from `since_ns` to `end_ns`.
    pub fn runs(&mut self, kind: Kind, since_ns: u64, end_ns: u64) {
        self.kind = kind;
        self.suspensions = 0;
        self.goes_on(since_ns, end_ns);
    }

    fn goes_on(&mut self, since_ns: u64, end_ns: u64) {
        (self.state, self.since_ns, self.until_ns, self.suspend_at_ns) = (State::Running, since_ns, end_ns, NEVER);
    }

    /// When the operation should be suspended for a read that waits: nothing if that is known, or not possible.
    #[inline]
    pub fn wants_suspension(&mut self, rules: &Rules, now_ns: u64) -> Option<u64> {
        let rule = rules.of(self.kind);
        if self.state != State::Running || self.suspend_at_ns != NEVER || self.suspensions >= rule.most {
            return None;
        }
        let at_ns = now_ns.max(self.since_ns + rule.slice_ns);
        if self.until_ns.saturating_sub(at_ns) <= rule.rest_ns {
            return None;
        }
        self.suspend_at_ns = at_ns;
        Some(at_ns)
    }

    /// Whether a suspension was meant for this moment.
    pub fn is_time(&self, now_ns: u64) -> bool {
        self.state == State::Running && self.suspend_at_ns == now_ns
    }

    /// Stops the operation. Returns when the die can read.
    pub fn suspends(&mut self, rules: &Rules, now_ns: u64) -> u64 {
        if self.collects() {
            self.collected_ns += now_ns - self.since_ns;
        }
        self.left_ns = self.until_ns - now_ns;
        self.suspensions += 1;
        self.reads_in_a_row = 0;
        self.until_ns = now_ns + rules.of(self.kind).suspend_ns;
        self.state = State::Suspending;
        self.until_ns
    }

    /// Takes the operation up again. Returns when it runs.
    pub fn resumes(&mut self, rules: &Rules, now_ns: u64) -> u64 {
        self.state = State::Resuming;
        self.until_ns = now_ns + rules.of(self.kind).resume_ns;
        self.until_ns
    }

    /// The state ends at `now_ns`. Returns what has ended: [`State::Running`] when the operation is done.
    pub fn ends(&mut self, now_ns: u64) -> State {
        let ended = self.state;
        match ended {
            State::Running => {
                if self.collects() {
                    self.collected_ns += now_ns - self.since_ns;
                }
                self.state = State::Idle;
            }
            State::Suspending => self.state = State::Suspended,
            State::Resuming => self.goes_on(now_ns, now_ns + self.left_ns),
            State::Idle | State::Loading | State::Suspended => {}
        }
        ended
    }
}
