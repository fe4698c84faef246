//! The write path of ZFS: what happens between an acknowledged write and the disk.
//!
//! ```text
//!  writes                          reads
//!    |  throttle   when may it enter?  |
//!    v                                 |
//!  [ open ] [ closed ] [ syncing ]     |     txg: transaction groups
//!    dirty data in memory   |          |     dirty: who holds what, released as it is written
//!                           v          v
//!                        scheduler           which request next, how many at once
//!                           |
//!                        devices
//! ```
//!
//! Each mechanism is a room of its own: [`throttle`] (five of them), [`txg`], [`dirty`], [`scheduler`] (two). [`intent_log`], its blocks, [`log_blocks`], and its
//! devices, [`slog`], are what synchronous writes wait for. [`cost`] is what
//! a record costs besides its bytes, `compression` what it saves of them. [`era`] names the
//! constants of each version, [`settings`] applies what a scenario changes of them, [`check`] refuses what contradicts itself, [`volume`] is the layer that joins them, [`record`]
//! what it leaves for views, `report` its metrics and tables, [`curves`] the mechanisms' own curves.

pub mod arc;
pub mod check;
mod compression;
pub mod cost;
pub mod curves;
pub mod dirty;
pub mod era;
pub mod free_space;
pub mod in_effect;
pub mod intent_log;
pub mod l2arc;
pub mod log_blocks;
pub mod places;
pub mod read_record;
pub mod record;
mod report;
pub mod scheduler;
pub mod settings;
pub mod slog;
pub mod throttle;
pub mod txg;
pub mod volume;
pub mod zfetch;

#[cfg(test)]
mod tests;
