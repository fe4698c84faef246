//! The model from outside: whole stacks. One program: each that cargo links costs seconds.

mod cache_in_stack;
mod copies;
mod oracles;
mod rebuild;
