//! Cases and presets as a value: what is known about incidents and devices, read from files while the engine runs.
//!
//! A library comes from a checkout's folders `cases` and `presets` (TOML, for people; natively, with the feature `files`) or from
//! the JSON that was made of them ([`Library::to_json`]), which hosts carry. Both know the line of every field, so that a case file
//! that is wrong is refused with file, line and what is accepted. A case is read when it is first asked for: a run of one case does
//! not wait for the others, and a wrong case file is an error only where that case is asked for.

#![forbid(unsafe_code)]

pub mod case;
pub mod design;
#[cfg(feature = "files")]
mod files;
mod library;

pub use library::Library;
