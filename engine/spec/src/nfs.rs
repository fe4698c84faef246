//! The NFS client in a scenario, and its checks.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// System call of each request of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Call {
    /// `read` or `write` of `bs` bytes.
    #[default]
    Block,
    /// Call `getc` or `putc` `bs` times; the C library turns these calls into one `read` or `write`.
    Char,
    /// Create an empty file. `bs` is the size of the server's log record for it.
    Create,
    /// Read a file's attributes.
    Stat,
    /// Remove a file. `bs` is the size of the server's log record for it.
    Delete,
}

impl Call {
    /// Return whether the call concerns a file's name instead of its data.
    #[must_use]
    pub fn is_meta(self) -> bool {
        matches!(self, Self::Create | Self::Stat | Self::Delete)
    }
    /// Return whether the server must make the call durable before it answers.
    #[must_use]
    pub fn commits(self) -> bool {
        matches!(self, Self::Create | Self::Delete)
    }
}

/// The NFS client on each machine that is a client of the network.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NfsSpec {
    /// Bytes per read or write on the wire.
    #[schemars(title = "Transfer size", extend("minimum" = 512, "maximum" = 4_194_304, "x-scale" = "log2"))]
    pub transfer: Bytes,
    /// Threads that write behind and read ahead.
    #[schemars(title = "Async threads", range(min = 1, max = 1024), extend("x-scale" = "log2"))]
    pub threads: u32,
    /// Transfers that are read ahead for a sequential reader.
    #[schemars(title = "Read-ahead", range(min = 0, max = 1024))]
    pub read_ahead: u32,
    /// Memory of the page cache.
    #[schemars(title = "Client's cache", extend("minimum" = 512, "maximum" = 1_099_511_627_776_u64, "x-scale" = "log2"))]
    pub cache: Bytes,
    /// Dirty bytes above which writers wait for the server.
    #[schemars(title = "Dirty limit", extend("minimum" = 512, "maximum" = 1_099_511_627_776_u64, "x-scale" = "log2"))]
    pub dirty: Bytes,
    /// Lifetime of cached attributes. 0 asks the server each time.
    #[schemars(title = "Attribute cache")]
    pub attributes: Nanos,
    /// Operations to create a file, one after the other. The last one commits.
    #[schemars(title = "Operations per create", range(min = 1, max = 256))]
    pub create_operations: u32,
    /// Operations to remove a file, one after the other. The last one commits.
    #[schemars(title = "Operations per delete", range(min = 1, max = 256))]
    pub delete_operations: u32,
    /// Number of processors of the client.
    #[schemars(title = "Client's CPUs", range(min = 1, max = 256))]
    pub cpus: u32,
    /// Speed of the processors. All costs below are divided by it.
    #[schemars(title = "Client's CPU speed", range(min = 0.01, max = 100.0), extend("x-unit" = "x", "x-scale" = "log2"))]
    pub cpu_speed: f64,
    /// CPU time of a process for each system call.
    #[schemars(title = "CPU per call", extend("maximum" = 1_000_000_000))]
    pub per_call: Nanos,
    /// CPU time of a process for each byte that a call copies.
    #[schemars(title = "CPU per byte", range(min = 0, max = 10_000), extend("x-unit" = "ns"))]
    pub per_byte: f64,
    /// Additional CPU time for each character of `putc`.
    #[schemars(title = "CPU per putc", range(min = 0, max = 10_000), extend("x-unit" = "ns"))]
    pub per_putc: f64,
    /// Additional CPU time for each character of `getc`.
    #[schemars(title = "CPU per getc", range(min = 0, max = 10_000), extend("x-unit" = "ns"))]
    pub per_getc: f64,
    /// CPU time for each operation on the wire. The process pays for operations on names and attributes that it waits for, the protocol
    /// thread for all others.
    #[schemars(title = "CPU per operation", extend("maximum" = 1_000_000_000))]
    pub per_operation: Nanos,
    /// CPU time of a connection's protocol thread for each byte of data on the wire.
    #[schemars(title = "CPU per byte on the wire", range(min = 0, max = 10_000), extend("x-unit" = "ns"))]
    pub per_wire_byte: f64,
}

impl Default for NfsSpec {
    fn default() -> Self {
        Self {
            transfer: Bytes(32 << 10),
            threads: 8,
            read_ahead: 4,
            cache: Bytes(1 << 30),
            dirty: Bytes(1 << 20),
            attributes: Nanos(60_000_000_000),
            create_operations: 18,
            delete_operations: 7,
            cpus: 2,
            cpu_speed: 1.0,
            per_call: Nanos(2_000),
            per_byte: 3.0,
            per_putc: 8.8,
            per_getc: 10.8,
            per_operation: Nanos(8_000),
            per_wire_byte: 3.9,
        }
    }
}
