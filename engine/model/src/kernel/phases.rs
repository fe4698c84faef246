//! The phases of a request's time.

crate::named! {
    /// A phase of a request's time.
    pub enum Phase {
        /// Waiting in the protocol's scheduler.
        Scheduler = "scheduler",
        /// Looking up and copying in memory.
        Memory = "memory",
        /// Waiting for data that were already in flight (a prefetch, or another request's read).
        InFlight = "in_flight",
        /// Waiting in a device's queue, or in that of a server or node; or for room in a controller's memory.
        Queue = "queue",
        /// Command processing of a device.
        Overhead = "overhead",
        /// Moving the arm, switching heads, settling.
        Seek = "seek",
        /// Waiting for the platter to turn.
        Rotation = "rotation",
        /// Moving bytes over the media or the interface.
        Transfer = "transfer",
        /// Reading flash.
        FlashRead = "flash_read",
        /// Programming flash.
        FlashProgram = "flash_program",
        /// Making a write durable in the log.
        WriteLog = "write_log",
        /// Waiting for a flash drive's garbage collection.
        Collect = "gc",
        /// Delayed on purpose by a write throttle.
        Delay = "throttle_delay",
        /// Stopped by a write throttle until there is room.
        Blocked = "throttle_wait",
        /// Asking other nodes of a cluster where a block is.
        Lookup = "lookup",
        /// On the way between two nodes of a cluster: round trip and bytes.
        Remote = "remote",
        /// Waiting for a link between nodes.
        LinkWait = "link_wait",
        /// Waiting for a thread or a core of a node.
        CpuWait = "cpu_wait",
        /// Worked on by a controller, or by a database.
        Cpu = "cpu",
        /// Handed by a primary to the controller that owns the range.
        Dispatch = "dispatch",
        /// Waiting for a lock.
        Lock = "lock",
        /// Waiting for the replica network, and sent over it.
        Replicate = "replicate",
        /// Waiting for a network link or a connection that others use.
        NetworkQueue = "network_queue",
        /// Moving frames over network links.
        NetworkTransfer = "network_transfer",
        /// On the way between client and server, in either direction.
        RoundTrip = "round_trip",
        /// Waiting for acknowledgements because the connection's window is full.
        Window = "window_wait",
        /// Waiting for an interrupt that a network card holds back.
        Blanked = "blanked",
        /// Making other cores forget a mapping, or interrupted by a core that does.
        CrossCall = "cross_call",
        /// Waiting because a device is paused for a while.
        Paused = "paused",
        /// Waiting for the I/O credits of a volume, or for its pace.
        Credit = "credit_wait",
        /// Waiting for an answer before a second replica is asked.
        Hedge = "hedge_wait",
        /// Worked on by a server of a fan-out, or a node of a fleet.
        Served = "served",
        /// Waiting for whole revolutions because the head was off its track.
        Retry = "retry",
        /// Waiting until a database's log is flushed for it.
        LogWait = "log_wait",
        /// Waiting for a commit of a file system's journal, or for what one writes.
        Journal = "journal",
        /// Waiting for a shingled drive to clean zones.
        Clean = "clean_wait",
        /// Waiting for a sender's retransmission timer, because packets were lost.
        Timer = "timer_wait",
    }
}

/// The number of phases.
pub const PHASES: usize = Phase::ALL.len();

/// Nanoseconds by phase.
pub type Phases = [u64; PHASES];
