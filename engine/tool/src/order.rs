//! The functions of a module in an order in which it is smaller when compressed: each behind those that it has most in common with.
//!
//! The glue's generator writes the largest first. gzip finds what repeats within 32 kB only, and much of a module are siblings: what
//! a generic function became for one type and another. Near each other they cost a few bytes each. Nothing but the order changes.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::error::Error;

use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{CodeSection, FunctionSection, Module};
use wasmparser::{CodeSectionReader, FunctionSectionReader, Parser, Payload, TypeRef};

/// The length of the pieces of code that are compared, in bytes: about two instructions.
const PIECE_BYTES: usize = 6;
/// A piece that is in more functions than this says nothing about any of them, and comparing them all would take long.
const MAX_FUNCTIONS: usize = 300;
/// How far back gzip finds what repeats.
const WINDOW_BYTES: usize = 32_000;

/// The module with its functions in another order.
///
/// # Errors
/// When it is no module.
pub fn cluster_similar(module: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let (mut imported, mut bodies) = (0, Vec::new());
    for payload in Parser::new(0).parse_all(module) {
        match payload? {
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    imported += u32::from(matches!(import?.ty, TypeRef::Func(_) | TypeRef::FuncExact(_)));
                }
            }
            Payload::CodeSectionEntry(body) => bodies.push(body.as_bytes()),
            _ => {}
        }
    }
    let order = chain(&bodies);
    let mut places = vec![0; order.len()];
    for (place, function) in order.iter().enumerate() {
        places[*function] = imported + u32::try_from(place)?;
    }
    let mut written = Module::new();
    Ordered { imported, order, places }.parse_core_module(&mut written, Parser::new(0), module)?;
    Ok(written.finish())
}

/// An order of the functions in which each is the one, of those left, that finds the largest share of its pieces in the window before it.
fn chain(bodies: &[&[u8]]) -> Vec<usize> {
    let mut numbers: HashMap<&[u8], usize> = HashMap::new();
    let mut holders: Vec<Vec<usize>> = Vec::new();
    let mut of_function: Vec<Vec<usize>> = Vec::new();
    for (function, body) in bodies.iter().enumerate() {
        let found: Vec<usize> = pieces(body)
            .into_iter()
            .map(|piece| {
                let next = numbers.len();
                *numbers.entry(piece).or_insert(next)
            })
            .collect();
        holders.resize_with(numbers.len(), Vec::new);
        for piece in &found {
            holders[*piece].push(function);
        }
        of_function.push(found);
    }
    let sizes: Vec<usize> = of_function.iter().map(|pieces| pieces.len().max(1)).collect();
    for pieces in &mut of_function {
        pieces.retain(|piece| (2..=MAX_FUNCTIONS).contains(&holders[*piece].len()));
    }

    let (mut order, mut is_left) = (Vec::with_capacity(bodies.len()), vec![true; bodies.len()]);
    let (mut window, mut window_bytes) = (VecDeque::<usize>::new(), 0);
    // How often each piece is in the window, and how many of a function's pieces are.
    let (mut seen, mut common) = (vec![0_u32; holders.len()], vec![0_usize; bodies.len()]);
    while let Some(next) = (0..bodies.len())
        .filter(|function| is_left[*function])
        .reduce(|best, other| if common[other] * sizes[best] > common[best] * sizes[other] { other } else { best })
    {
        is_left[next] = false;
        order.push(next);
        window.push_back(next);
        window_bytes += bodies[next].len();
        for piece in &of_function[next] {
            seen[*piece] += 1;
            if seen[*piece] == 1 {
                for function in &holders[*piece] {
                    common[*function] += 1;
                }
            }
        }
        while window_bytes > WINDOW_BYTES
            && let Some(oldest) = window.pop_front()
        {
            window_bytes -= bodies[oldest].len();
            for piece in &of_function[oldest] {
                seen[*piece] -= 1;
                if seen[*piece] == 0 {
                    for function in &holders[*piece] {
                        common[*function] -= 1;
                    }
                }
            }
        }
    }
    order
}

/// The pieces of a function's code, each once.
fn pieces(body: &[u8]) -> Vec<&[u8]> {
    let mut pieces: Vec<&[u8]> = body.windows(PIECE_BYTES).collect();
    pieces.sort_unstable();
    pieces.dedup();
    pieces
}

/// Writes a module anew.
struct Ordered {
    imported: u32,
    /// The functions in their new order, by their old places among those that are not imported.
    order: Vec<usize>,
    /// The new number of each, by its old place.
    places: Vec<u32>,
}

impl Reencode for Ordered {
    type Error = Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, reencode::Error> {
        Ok(function.checked_sub(self.imported).map_or(function, |place| self.places[place as usize]))
    }

    fn parse_function_section(&mut self, written: &mut FunctionSection, section: FunctionSectionReader<'_>) -> Result<(), reencode::Error> {
        let types = section.into_iter().collect::<Result<Vec<_>, _>>()?;
        for function in &self.order {
            written.function(types[*function]);
        }
        Ok(())
    }

    fn parse_code_section(&mut self, written: &mut CodeSection, section: CodeSectionReader<'_>) -> Result<(), reencode::Error> {
        let bodies = section.into_iter().collect::<Result<Vec<_>, _>>()?;
        for function in self.order.clone() {
            self.parse_function_body(written, bodies[function].clone())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{EntityType, ExportKind, ExportSection, Function, ImportSection, TypeSection, ValType};

    use super::*;

    #[test]
    fn siblings_stand_beside_each_other() {
        let [first, other, sibling, small] = [&b"abcdefghijklmnop"[..], b"0123456789012345", b"abcdefghijkl-nop", b"ab"];
        assert_eq!(chain(&[first, other, sibling, small]), [0, 2, 1, 3]);
        assert_eq!(chain(&[]), [0; 0]);
    }

    /// A module with an imported function and three others: of a number, of the next one's result, and of a number like the first.
    fn module() -> Vec<u8> {
        let mut types = TypeSection::new();
        types.ty().function([], [ValType::I64]);
        types.ty().function([], []);
        let mut imports = ImportSection::new();
        imports.import("host", "tell", EntityType::Function(1));
        let (mut functions, mut exports, mut code) = (FunctionSection::new(), ExportSection::new(), CodeSection::new());
        for (number, kind, name) in [(1, 0, "first"), (2, 1, "caller"), (3, 0, "second")] {
            functions.function(kind);
            exports.export(name, ExportKind::Func, number);
        }
        let number = |number: i64| {
            let mut function = Function::new([]);
            for _ in 0..3 {
                function.instructions().i64_const(0x0102_0304_0506_0708).drop();
            }
            function.instructions().i64_const(number).end();
            function
        };
        let mut caller = Function::new([]);
        caller.instructions().call(0).call(3).drop().call(1).drop().end();
        code.function(&number(10)).function(&caller).function(&number(20));
        let mut module = Module::new();
        module.section(&types).section(&imports).section(&functions).section(&exports).section(&code);
        module.finish()
    }

    #[test]
    fn whoever_names_a_function_finds_it_at_its_new_place() {
        let written = cluster_similar(&module()).expect("a module");
        let (mut exports, mut types, mut bodies) = (Vec::new(), Vec::new(), Vec::new());
        for payload in Parser::new(0).parse_all(&written) {
            match payload.expect("a part") {
                Payload::ExportSection(section) => {
                    exports.extend(section.into_iter().map(|export| export.expect("an export")).map(|export| (export.name, export.index)));
                }
                Payload::FunctionSection(section) => types.extend(section.into_iter().map(|kind| kind.expect("a type"))),
                Payload::CodeSectionEntry(body) => bodies.push(body.as_bytes().to_vec()),
                _ => {}
            }
        }
        assert_eq!(exports, [("first", 1), ("caller", 3), ("second", 2)]);
        assert_eq!(types, [0, 0, 1]);
        // No locals, call 0, call 2, drop, call 1, drop, end.
        assert_eq!(bodies[2], [0, 0x10, 0, 0x10, 2, 0x1a, 0x10, 1, 0x1a, 0x0b]);
        assert!(bodies[0].ends_with(&[0x42, 10, 0x0b]) && bodies[1].ends_with(&[0x42, 20, 0x0b]));
    }

    #[test]
    fn what_is_no_module_is_refused() {
        assert!(cluster_similar(b"no module").is_err());
    }
}
