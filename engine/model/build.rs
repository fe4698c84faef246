//! Writes the JSON Schema of scenarios beside the model, made of the types that scenarios are written in.

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = env::var("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&folder).join("schema.json"), seeklab_spec::schema::generate().to_string()).expect("a writable build folder");
}
