//! Turns the case and preset files (TOML, for people) into JSON that the engine reads; a case is a text within it, read when it is asked for.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn read(folder: &str) -> Vec<serde_json::Value> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("..").join(folder);
    println!("cargo::rerun-if-changed={}", root.display());
    let mut paths: Vec<_> = fs::read_dir(&root)
        .unwrap_or_else(|error| panic!("{}: {error}", root.display()))
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    paths.sort();
    let one = |path: &PathBuf| {
        println!("cargo::rerun-if-changed={}", path.display());
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    paths.iter().map(one).collect()
}

fn write(output: &str, text: String) {
    let target = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join(output);
    fs::write(target, text).expect("a writable build folder");
}

fn main() {
    let text = |case: &serde_json::Value, name: &str| case.get(name).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
    let cases: Vec<_> = read("cases").iter().map(|case| [text(case, "id"), text(case, "code"), case.to_string()]).collect();
    write("cases.json", serde_json::json!({ "cases": cases }).to_string());
    write("presets.json", serde_json::Value::from(read("presets")).to_string());
}
