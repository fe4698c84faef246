//! What the engine answers, as a host asks it. One program: each that cargo links costs seconds.

mod asked_throttle;
mod bad_input;
mod designs;
mod fuzz_smoke;
mod replay;
mod replay_invariants;
mod support;
