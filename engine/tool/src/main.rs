//! `seeklab-tool`: build steps that must agree with the engine's own `Cargo.lock`.

mod order;
mod types;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use seeklab_api::Engine;
use seeklab_library::Library;
use seeklab_model::kernel::journeys::Mark;
use seeklab_model::kernel::{LayerId, Phase};
use seeklab_spec::schema::generate;
use serde_json::{Map, Value};
use types::{Elsewhere, labels, names, typescript};
use wasm_bindgen_cli_support::Bindgen;

const USAGE: &str = "usage: seeklab-tool bindgen --input MODULE.wasm --out FOLDER
       seeklab-tool library --from FOLDER --out FILE.json
       seeklab-tool schema --out FILE.json
       seeklab-tool types --out FOLDER
       seeklab-tool fingerprints RUNS.json";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["bindgen", "--input", input, "--out", out] => bindgen(input.as_ref(), out.as_ref()),
        ["library", "--from", root, "--out", out] => library(root.as_ref(), out.as_ref()),
        ["schema", "--out", out] => write(out.as_ref(), &generate().to_string()),
        ["types", "--out", out] => write_types(out.as_ref()),
        ["fingerprints", runs] => print_fingerprints(runs.as_ref()),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("seeklab-tool: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes `seeklab.js`, `seeklab.d.ts` and `seeklab_bg.wasm` beside each other.
fn bindgen(input: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    Bindgen::new()
        .input_path(input)
        .out_name("seeklab")
        .web(true)?
        .typescript(true)
        // Every host hands over the module itself (bytes or an address), and without the default the glue also loads
        // where `import.meta.url` says nothing: inside a notebook widget and under Pyodide.
        .omit_default_module_path(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(out)
        .map_err(|error| format!("{}: {error:#}", input.display()))?;
    let module = out.join("seeklab_bg.wasm");
    std::fs::write(&module, order::cluster_similar(&std::fs::read(&module)?)?)?;
    Ok(())
}

/// The library in the folders `cases` and `presets` of `root`.
fn read_library(root: &Path) -> Result<Library, String> {
    Library::from_folder(root).map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

/// Writes the library as hosts carry it. A case that cannot be read is told here already, and is an error where it is asked for.
fn library(root: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let library = read_library(root)?;
    for problem in library.cases().err().unwrap_or_default() {
        eprintln!("{problem}");
    }
    write(out, &library.to_json().to_string())
}

/// Writes the types of the web part: those that a scenario is written in, those of the engine's answers, and the names that tables
/// of a run hold as numbers.
fn write_types(folder: &Path) -> Result<(), Box<dyn Error>> {
    let scenario = generate();
    write(&folder.join("scenario.ts"), &typescript(&scenario, None))?;
    let elsewhere = Elsewhere { module: "./scenario.ts", schema: &scenario };
    write(&folder.join("answers.ts"), &typescript(&seeklab_api::schema_of_answers(), Some(&elsewhere)))?;
    let lists = [
        ("layer", "Layers by the engine's number, from the top of the stack down.", LayerId::NAMES.to_vec()),
        ("phase", "Phases of a request's life by the engine's number.", Phase::ALL.map(Phase::name).to_vec()),
        ("mark", "Kinds of marks by the engine's number.", Mark::ALL.map(Mark::name).to_vec()),
    ];
    let layers: Vec<(&str, &str)> = LayerId::NAMES.iter().copied().zip(seeklab_model::stack::labels()).collect();
    write(&folder.join("names.ts"), &(names(&lists) + &labels("layer", "Layers as a page calls them.", &layers)))
}

/// Writes a text, and its folder if there is none.
fn write(out: &Path, text: &str) -> Result<(), Box<dyn Error>> {
    let folder = out.parent().map_or_else(PathBuf::new, Path::to_path_buf);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    std::fs::write(out, text).map_err(|error| format!("{}: {error}", out.display()))?;
    Ok(())
}

/// Prints the fingerprint that each run has on this machine: `{name: fingerprint}` for `{name: request}`.
fn print_fingerprints(runs: &Path) -> Result<(), Box<dyn Error>> {
    let text = std::fs::read_to_string(runs).map_err(|error| format!("{}: {error}", runs.display()))?;
    let runs: Map<String, Value> = serde_json::from_str(&text)?;
    let engine = Engine::new(read_library(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))?);
    let mut found = Map::new();
    for (name, request) in runs {
        let refused = |envelope: String| format!("{name}: {envelope}");
        let mut run = engine.open(&request.to_string()).map_err(refused)?;
        while (0.0..1.0).contains(&run.step(u32::MAX)) {}
        let summary: Value = serde_json::from_str(&run.summary())?;
        let fingerprint = summary["ok"]["fingerprint"].clone();
        if fingerprint.is_null() {
            return Err(refused(summary.to_string()).into());
        }
        found.insert(name, fingerprint);
    }
    println!("{}", Value::from(found));
    Ok(())
}
