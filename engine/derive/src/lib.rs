//! `#[derive(FromJson)]`: a type is read from a JSON value by a table of its fields.
//!
//! serde's own derive writes a visitor for each type, and each of its fields is code several times over: where its name is found, where
//! it is read, and where it is dropped when another is wrong. What is written here asks one reader for one field after the other
//! (`seeklab_spec::reader`), and leaves once. That is a third of the code.
//!
//! The attributes are serde's, which writes the same types: `attributes.rs` says which are read. serde's `Deserialize` is implemented
//! on top, for whoever reads the types with serde.

mod attributes;
mod write;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Implements `seeklab_spec::reader::FromJson` and serde's `Deserialize` for a struct with named fields, an enum whose variants are
/// names, or a type that is made from another (`try_from`, `from`).
#[proc_macro_derive(FromJson, attributes(serde))]
pub fn from_json(input: TokenStream) -> TokenStream {
    write::implementation(&parse_macro_input!(input as DeriveInput)).unwrap_or_else(|error| error.to_compile_error()).into()
}
