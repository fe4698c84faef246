//! The fuzzing targets of `engine/fuzz` over their corpus and some mutations of it, with no fuzzer: a bounded check that
//! no reader panics. The search itself is run apart; what it finds is added to the corpus, so that it stays found here.

#[path = "../../../fuzz/src/targets.rs"]
mod targets;

use std::fs;
use std::path::Path;

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use targets::TARGETS;

/// Mutated inputs for each target.
const MUTATIONS: u32 = 1500;

/// Most changes made to one input.
const CHANGES: u32 = 4;

/// Numbers at which readers go wrong.
const EDGES: [&str; 14] = [
    "0",
    "-1",
    "1",
    "0.5",
    "-0",
    "1e400",
    "nan",
    "255",
    "65536",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "18446744073709551615",
];

fn below(random: &mut Xoshiro256PlusPlus, end: usize) -> usize {
    usize::try_from(random.next_u64() % end.max(1) as u64).expect("below a usize")
}

/// A few cuts, copies, flips and replaced numbers.
fn mutate(random: &mut Xoshiro256PlusPlus, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = corpus[below(random, corpus.len())].clone();
    for _ in 0..=random.next_u32() % CHANGES {
        let at = below(random, bytes.len() + 1);
        let end = (at + below(random, 40)).min(bytes.len());
        match random.next_u32() % 6 {
            0 => drop(bytes.drain(at..end)),
            1 => bytes.truncate(at),
            2 if at < bytes.len() => bytes[at] ^= 1 << (random.next_u32() % 8),
            3 => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
            4 => {
                let other = &corpus[below(random, corpus.len())];
                let from = below(random, other.len() + 1);
                let piece = &other[from..(from + below(random, 60)).min(other.len())];
                drop(bytes.splice(at..end, piece.iter().copied()));
            }
            _ => {
                // The next number becomes one that is hard.
                let first = bytes[at..].iter().position(u8::is_ascii_digit).map_or(bytes.len(), |offset| at + offset);
                let length = bytes[first..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                let edge = EDGES[below(random, EDGES.len())];
                drop(bytes.splice(first..first + length, edge.bytes()));
            }
        }
    }
    bytes
}

#[test]
fn no_reader_panics_on_the_corpus_or_near_it() {
    for (name, _) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(name);
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
        paths.sort();
        let corpus: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).expect("a readable file")).collect();
        assert!(!corpus.is_empty(), "{name} has no corpus");
        for (path, bytes) in paths.iter().zip(&corpus) {
            eprintln!("{}", path.display()); // shown when the target panics
            targets::run(name, bytes);
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(20_261_120);
        for number in 0..MUTATIONS {
            let bytes = mutate(&mut random, &corpus);
            let found = std::panic::catch_unwind(|| targets::run(name, &bytes));
            assert!(found.is_ok(), "{name}, mutation {number}: {}", String::from_utf8_lossy(&bytes));
        }
    }
}
