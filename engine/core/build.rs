//! Turns the case and preset files (TOML, for people) into JSON that is embedded in the engine.

use std::path::Path;
use std::{env, fs};

fn embed(folder: &str, output: &str) {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("..").join(folder);
    println!("cargo::rerun-if-changed={}", root.display());
    let mut paths: Vec<_> = fs::read_dir(&root)
        .unwrap_or_else(|error| panic!("{}: {error}", root.display()))
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    paths.sort();
    let documents: Vec<serde_json::Value> = paths
        .iter()
        .map(|path| {
            println!("cargo::rerun-if-changed={}", path.display());
            let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        })
        .collect();
    let target = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join(output);
    fs::write(target, serde_json::to_string(&documents).expect("JSON of JSON")).expect("a writable build folder");
}

fn main() {
    embed("cases", "cases.json");
    embed("presets", "presets.json");
}
