//! Writes the JSON Schema of scenarios beside the model, made of the types that scenarios are written in, without their help.

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = env::var("OUT_DIR").expect("cargo sets it");
    let schema = seeklab_spec::schema::without_help(&seeklab_spec::schema::generate());
    fs::write(Path::new(&folder).join("schema.json"), schema.to_string()).expect("a writable build folder");
}
