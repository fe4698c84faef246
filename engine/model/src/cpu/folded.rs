//! Processor time by stack of functions, in the folded form that flame-graph tools read: `node;server;function 1234`.
//!
//! The number is nanoseconds of work, exact by accounting: nothing is sampled.

use std::fmt::Write;

/// Time spent in one stack of functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frames {
    /// Functions from the outermost to the innermost.
    pub stack: Vec<String>,
    /// Work in nanoseconds.
    pub ns: u64,
}

/// The folded text: a line for each stack that took time.
#[must_use]
pub fn fold(all: &[Frames]) -> String {
    let mut text = String::new();
    for frames in all.iter().filter(|frames| frames.ns > 0) {
        // A semicolon parts functions and a line ends a stack, so neither may stand in a name; writing to a string cannot fail.
        let names: Vec<String> = frames.stack.iter().map(|name| name.replace([';', '\n', '\r'], " ")).collect();
        let _ = writeln!(text, "{} {}", names.join(";"), frames.ns);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stack_is_a_line_and_names_cannot_break_it() {
        let frames = |stack: &[&str], ns| Frames { stack: stack.iter().map(|name| (*name).to_owned()).collect(), ns };
        assert_eq!(fold(&[frames(&["node", "a;b"], 5), frames(&["node", "c"], 0), frames(&["node"], 7)]), "node;a b 5\nnode 7\n");
    }
}
