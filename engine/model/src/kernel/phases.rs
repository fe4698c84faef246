//! What the time of a request is spent on.

/// The number of phases.
pub const PHASES: usize = 37;

/// What a request's time was spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// Waiting in the protocol's scheduler.
    Scheduler,
    /// Looking up and copying in memory.
    Memory,
    /// Waiting for data that were already on their way (a prefetch, or another request's read).
    InFlight,
    /// Waiting in a device's queue, or in that of a server or node; or for room in a controller's memory.
    Queue,
    /// Command processing of a device.
    Overhead,
    /// Moving the arm, switching heads, settling.
    Seek,
    /// Waiting for the platter to turn.
    Rotation,
    /// Moving bytes over the media or the interface.
    Transfer,
    /// Reading flash.
    FlashRead,
    /// Programming flash.
    FlashProgram,
    /// Making a write durable in the log.
    WriteLog,
    /// Waiting for a flash drive's garbage collection.
    Collect,
    /// Delayed on purpose by a write throttle.
    Delay,
    /// Stopped by a write throttle until there is room.
    Blocked,
    /// Asking other nodes of a cluster where a block is.
    Lookup,
    /// On the way between two nodes of a cluster: round trip and bytes.
    Remote,
    /// Waiting for a link between nodes.
    LinkWait,
    /// Waiting for a thread or a core of a node.
    CpuWait,
    /// Worked on by a controller, or by a database.
    Cpu,
    /// Handed by a primary to the controller that owns the range.
    Dispatch,
    /// Waiting for a lock.
    Lock,
    /// Waiting for the replica network, and sent over it.
    Replicate,
    /// Waiting for a network link or a connection that others use.
    NetworkQueue,
    /// Moving frames over network links.
    NetworkTransfer,
    /// On the way between client and server, in either direction.
    RoundTrip,
    /// Waiting for acknowledgements because the connection's window is full.
    Window,
    /// Waiting for an interrupt that a network card holds back.
    Blanked,
    /// Making other cores forget a mapping, or interrupted by a core that does.
    CrossCall,
    /// Waiting because a device stands still for a while.
    Paused,
    /// Waiting for the I/O credits of a volume, or for its pace.
    Credit,
    /// Waiting for an answer before a second replica is asked.
    Hedge,
    /// Worked on by a server of a fan-out, or a node of a fleet.
    Served,
    /// Waiting for whole revolutions because the head was off its track.
    Retry,
    /// Waiting until a database's log is flushed for it.
    LogWait,
    /// Waiting for a commit of a file system's journal, or for what one writes.
    Journal,
    /// Waiting for a shingled drive to clean zones.
    Clean,
    /// Waiting for a sender's retransmission timer, because packets were lost.
    Timer,
}

impl Phase {
    /// All phases, in the order of their numbers.
    pub const ALL: [Self; PHASES] = [
        Self::Scheduler,
        Self::Memory,
        Self::InFlight,
        Self::Queue,
        Self::Overhead,
        Self::Seek,
        Self::Rotation,
        Self::Transfer,
        Self::FlashRead,
        Self::FlashProgram,
        Self::WriteLog,
        Self::Collect,
        Self::Delay,
        Self::Blocked,
        Self::Lookup,
        Self::Remote,
        Self::LinkWait,
        Self::CpuWait,
        Self::Cpu,
        Self::Dispatch,
        Self::Lock,
        Self::Replicate,
        Self::NetworkQueue,
        Self::NetworkTransfer,
        Self::RoundTrip,
        Self::Window,
        Self::Blanked,
        Self::CrossCall,
        Self::Paused,
        Self::Credit,
        Self::Hedge,
        Self::Served,
        Self::Retry,
        Self::LogWait,
        Self::Journal,
        Self::Clean,
        Self::Timer,
    ];

    /// The phase's name in metrics and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scheduler => "scheduler",
            Self::Memory => "memory",
            Self::InFlight => "in_flight",
            Self::Queue => "queue",
            Self::Overhead => "overhead",
            Self::Seek => "seek",
            Self::Rotation => "rotation",
            Self::Transfer => "transfer",
            Self::FlashRead => "flash_read",
            Self::FlashProgram => "flash_program",
            Self::WriteLog => "write_log",
            Self::Collect => "gc",
            Self::Delay => "throttle_delay",
            Self::Blocked => "throttle_wait",
            Self::Lookup => "lookup",
            Self::Remote => "remote",
            Self::LinkWait => "link_wait",
            Self::CpuWait => "cpu_wait",
            Self::Cpu => "cpu",
            Self::Dispatch => "dispatch",
            Self::Lock => "lock",
            Self::Replicate => "replicate",
            Self::NetworkQueue => "network_queue",
            Self::NetworkTransfer => "network_transfer",
            Self::RoundTrip => "round_trip",
            Self::Window => "window_wait",
            Self::Blanked => "blanked",
            Self::CrossCall => "cross_call",
            Self::Paused => "paused",
            Self::Credit => "credit_wait",
            Self::Hedge => "hedge_wait",
            Self::Served => "served",
            Self::Retry => "retry",
            Self::LogWait => "log_wait",
            Self::Journal => "journal",
            Self::Clean => "clean_wait",
            Self::Timer => "timer_wait",
        }
    }
}

/// Nanoseconds by phase.
pub type Phases = [u64; PHASES];
