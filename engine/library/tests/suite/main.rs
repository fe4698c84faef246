//! Cases and presets in whole runs, and the order of the house. One program: each that cargo links costs seconds.

mod architecture;
mod drive_queue;
mod files;
mod invariants;
mod reading;
mod report;
mod spindles;
mod ssd_presets;
mod support;
