//! The engine's calls and runs on this machine's own processor: `native CALL JSON`, or `native run JSON` for a run's summary.
//! For comparing hosts and for development.
#![allow(missing_docs)]

use seeklab_core::api;

/// Events between two looks at a run.
const STEP: u32 = 1 << 20;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, input] = &arguments[..] else {
        eprintln!("native: write `native run JSON` or `native CALL JSON`");
        std::process::exit(2);
    };
    let answer = if name == "run" {
        api::Run::open(input).map_or_else(
            |errors| errors,
            |mut run| {
                while (0.0..1.0).contains(&run.step(STEP)) {}
                run.summary()
            },
        )
    } else {
        api::call(name, input)
    };
    println!("{answer}");
}
