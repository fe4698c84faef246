//! The house stays in order: which crate may use which, and no circles among the modules of a crate.
//!
//! Cargo forbids circles among crates, and this file the arrows that nobody drew. Within a crate nothing forbids a circle, so it is
//! looked for here: in the sources, without what is compiled for tests only. The layers of the model are rooms of their own, beside
//! the modules at its top; deeper, the modules of each folder are held against each other. What a module uses of its parent, and
//! a parent of its modules, is no circle: they are one thing in several files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates, from the bottom up, and what each stands on. Arrows are transitive.
const ARROWS: [(&str, &[&str]); 13] = [
    ("derive", &[]),
    ("kernel", &[]),
    ("cache", &["kernel"]),
    ("spec", &["cache", "derive"]),
    ("model", &["spec"]),
    ("formats", &["spec"]),
    ("observe", &["model", "formats"]),
    ("library", &["observe"]),
    ("api", &["library"]),
    ("wasm", &["api"]),
    ("tool", &["api"]),
    ("fuzz", &["api"]),
    ("benches", &["library"]),
];

fn engine() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All that a crate may use of the others.
fn below(name: &str) -> BTreeSet<&'static str> {
    let direct = ARROWS.iter().find(|(own, _)| *own == name).map_or(&[][..], |(_, direct)| direct);
    direct.iter().flat_map(|name| below(name).into_iter().chain([*name])).collect()
}

/// The dependencies of a crate: the section, and the name in it.
fn dependencies(name: &str) -> Vec<(String, String)> {
    let text = read(&engine().join(name).join("Cargo.toml"));
    let mut section = String::new();
    let mut found = Vec::new();
    for line in text.lines() {
        if let Some(header) = line.strip_prefix('[') {
            header.trim_end_matches(']').clone_into(&mut section);
        } else if section.ends_with("dependencies") && line.contains('=') && !line.starts_with('#') {
            let end = line.find(['.', ' ', '=']).unwrap_or(line.len());
            found.push((section.clone(), line[..end].to_owned()));
        }
    }
    found
}

#[test]
fn crates_use_only_what_is_below_them() {
    let manifest = read(&engine().join("Cargo.toml"));
    let members = manifest.lines().find_map(|line| line.strip_prefix("members = ")).expect("the workspace's members");
    let members: BTreeSet<&str> = members.split('"').skip(1).step_by(2).collect();
    let drawn = ARROWS.iter().map(|(name, _)| *name).filter(|name| *name != "fuzz").collect();
    assert_eq!(members, drawn, "every crate of the workspace has its place");
    for (name, _) in ARROWS {
        let below = below(name);
        for (section, used) in dependencies(name) {
            let Some(used) = used.strip_prefix("seeklab-").filter(|used| *used != name) else { continue };
            assert!(below.contains(used), "{name} may not use {used} ({section}); it stands on {below:?}");
        }
    }
}

#[test]
fn no_dependency_is_declared_and_not_used() {
    let mut unused = Vec::new();
    for (name, _) in ARROWS {
        let folder = engine().join(name);
        let sources = |parts: &[&str]| -> String {
            let mut files = Vec::new();
            for part in parts {
                list(&folder.join(part), &mut files);
            }
            files.iter().map(|path| read(path)).collect()
        };
        let (product, all) = (sources(&["src"]), sources(&["src", "tests", "benches", "fuzz_targets", "build.rs"]));
        for (section, dependency) in dependencies(name) {
            let word = dependency.replace('-', "_");
            let text = if section == "dependencies" && name != "fuzz" { &product } else { &all };
            // A crate that is its own dependency asks for a feature in its tests.
            let used =
                text.contains(&format!("{word}::")) || text.contains(&format!("use {word}")) || dependency == format!("seeklab-{name}");
            if !used {
                unused.push(format!("{name}: {dependency}"));
            }
        }
    }
    assert_eq!(unused, [""; 0]);
}

/// The Rust files below a folder, or the file itself.
fn list(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let mut entries: Vec<PathBuf> = fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
        entries.sort();
        for entry in &entries {
            list(entry, files);
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") && path.exists() {
        files.push(path.to_path_buf());
    }
}

type Module = Vec<String>;

/// A crate's modules, each with its text, without comments, strings and what only tests see.
#[derive(Default)]
struct Crate {
    modules: BTreeMap<Module, String>,
    /// Names that a module has from elsewhere in the crate.
    imports: BTreeMap<Module, BTreeMap<String, Module>>,
}

impl Crate {
    fn read(name: &str) -> Self {
        let mut krate = Self::default();
        krate.add(&engine().join(name).join("src"), Vec::new());
        let modules: Vec<Module> = krate.modules.keys().cloned().collect();
        for module in modules {
            let mut names = BTreeMap::new();
            for path in krate.paths(&module, true) {
                if let [.., name] = &path[..] {
                    names.insert(name.clone(), path.clone());
                }
            }
            krate.imports.insert(module, names);
        }
        krate
    }

    /// Adds the module whose file or folder stands at `place`, and those in it.
    fn add(&mut self, place: &Path, module: Module) {
        let inside = place.join(if module.is_empty() { "lib.rs" } else { "mod.rs" });
        let text = if inside.exists() { read(&inside) } else { read(&place.with_extension("rs")) };
        let text = without_tests(&plain(&text));
        for line in text.lines() {
            let line = line.trim().trim_start_matches("pub").trim_start_matches("(crate)").trim_start_matches("(super)").trim();
            if let Some(child) = line.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';')) {
                let child = child.trim().to_owned();
                let place = place.join(&child);
                self.add(&place, module.iter().cloned().chain([child]).collect());
            }
        }
        self.modules.insert(module, text);
    }

    /// The paths within the crate that a module writes, from the crate's top; of its imports only, or all.
    fn paths(&self, module: &[String], imports: bool) -> Vec<Module> {
        let text = &self.modules[module];
        let mut found = Vec::new();
        let mut rest = text.as_str();
        while let Some(start) = word_start(rest) {
            let before = &rest[..start];
            rest = &rest[start..];
            let end = rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            let is_use = word == "use";
            if is_use {
                let end = after.find(';').unwrap_or(after.len());
                for path in tree(&after[..end]) {
                    found.extend(self.absolute(module, &path));
                }
                rest = &after[end..];
                continue;
            }
            let begins = !before.trim_end().ends_with("::");
            if !imports && begins && matches!(word, "crate" | "super" | "self") && after.starts_with("::") {
                let end = rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == ':')).unwrap_or(rest.len());
                let path: Module = rest[..end].split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
                found.extend(self.absolute(module, &path));
                rest = &rest[end..];
            } else {
                if !imports && begins && after.starts_with("::") {
                    found.extend(self.absolute(module, &[word.to_owned()]));
                }
                rest = after;
            }
        }
        found
    }

    /// A written path from the crate's top; [`None`] when it leads out of the crate.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<Module> {
        let mut at: Module = module.to_vec();
        let mut path = path;
        match path.first()?.as_str() {
            "crate" => {
                at.clear();
                path = &path[1..];
            }
            "self" => path = &path[1..],
            "super" => {
                while path.first().is_some_and(|part| part == "super") {
                    at.pop();
                    path = &path[1..];
                }
            }
            // A path that begins with a name: a module in this one, or something imported, or another crate.
            name => {
                at.push(name.to_owned());
                if !self.modules.contains_key(&at) {
                    return None;
                }
                path = &path[1..];
            }
        }
        at.extend(path.iter().cloned());
        Some(at)
    }

    /// The module in which the thing at `path` stands, imports followed.
    fn home(&self, path: &[String], steps: u32) -> Module {
        let mut at = Module::new();
        for (index, part) in path.iter().enumerate() {
            at.push(part.clone());
            if self.modules.contains_key(&at) {
                continue;
            }
            at.pop();
            if let Some(target) = self.imports.get(&at).and_then(|names| names.get(part)).filter(|_| steps > 0)
                && target[..] != path[..=index]
            {
                let full: Module = target.iter().chain(&path[index + 1..]).cloned().collect();
                return self.home(&full, steps - 1);
            }
            return at;
        }
        at
    }

    /// Who uses whom: by folder, the pairs of modules in it, each with an example.
    fn edges(&self) -> BTreeMap<String, Edges> {
        let mut edges: BTreeMap<String, Edges> = BTreeMap::new();
        for module in self.modules.keys() {
            for path in self.paths(module, false) {
                let home = self.home(&path, 8);
                let common = module.iter().zip(&home).take_while(|(a, b)| a == b).count();
                let (Some(from), Some(to)) = (module.get(common), home.get(common)) else { continue };
                // The layers are rooms of the house, as the modules at the top are.
                let room = |module: &[String]| match module {
                    [layers, layer, ..] if layers == "layers" => Some(format!("layers::{layer}")),
                    [layers] if layers == "layers" => None,
                    [top, ..] => Some(top.clone()),
                    [] => None,
                };
                let among_layers = common == 1 && module[0] == "layers";
                let (folder, pair) = if common == 0 || among_layers {
                    let (Some(from), Some(to)) = (room(module), room(&home)) else { continue };
                    (String::new(), (from, to))
                } else {
                    (module[..common].join("::"), (from.clone(), to.clone()))
                };
                let example = format!("{} uses {}", module.join("::"), path.join("::"));
                edges.entry(folder).or_default().entry(pair).or_insert(example);
            }
        }
        edges
    }
}

/// Where the next word begins.
fn word_start(text: &str) -> Option<usize> {
    text.find(|letter: char| letter.is_alphabetic() || letter == '_')
}

/// The paths of a `use`: `a::{b, c::d}` is `a::b` and `a::c::d`; a name that is given by `as` is left as it was.
fn tree(text: &str) -> Vec<Module> {
    let text = text.trim();
    let Some(open) = text.find('{') else {
        let text = text.split(" as ").next().unwrap_or_default();
        return vec![text.split("::").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()];
    };
    let before: Module = text[..open].split("::").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect();
    let inside = text[open + 1..].trim_end().trim_end_matches('}');
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (index, letter) in text[open + 1..].char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => {
                parts.push(&text[open + 1..][start..index]);
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[open + 1..][start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    if parts.is_empty() {
        parts.push(inside);
    }
    let inner = parts.into_iter().filter(|part| !part.trim().is_empty()).flat_map(tree);
    inner
        .map(|path| {
            let path = if path.first().is_some_and(|part| part == "self") { path[1..].to_vec() } else { path };
            before.iter().cloned().chain(path).collect()
        })
        .collect()
}

/// A source without comments, strings and letters in quotes.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut last = ' ';
    while let Some(letter) = letters.next() {
        match letter {
            '/' if letters.peek() == Some(&'/') => {
                for skipped in letters.by_ref() {
                    if skipped == '\n' {
                        break;
                    }
                }
                out.push('\n');
            }
            '"' => {
                // Raw strings end at their own mark; others may have escapes.
                let hashes = out.chars().rev().take_while(|mark| *mark == '#').count();
                let raw = out.trim_end_matches('#').ends_with('r') && (hashes > 0 || last == 'r');
                let mut escaped = false;
                while let Some(inner) = letters.next() {
                    if !raw && inner == '\\' && !escaped {
                        escaped = true;
                        continue;
                    }
                    if inner == '"' && !escaped && (!raw || letters.clone().take(hashes).filter(|mark| *mark == '#').count() == hashes) {
                        letters.by_ref().take(if raw { hashes } else { 0 }).for_each(drop);
                        break;
                    }
                    escaped = false;
                }
                out.push_str("\"\"");
            }
            '\'' => {
                // A letter in quotes, or else a lifetime.
                let mut ahead = letters.clone();
                let first = ahead.next();
                let is_escape = first == Some('\\');
                if is_escape {
                    letters.next();
                    letters.next();
                    for skipped in letters.by_ref() {
                        if skipped == '\'' {
                            break;
                        }
                    }
                } else if ahead.next() == Some('\'') {
                    letters.next();
                    letters.next();
                }
            }
            other => out.push(other),
        }
        last = letter;
    }
    out
}

/// A source without the items marked `#[cfg(test)]`.
fn without_tests(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("#[cfg(test)]") {
        out.push_str(&rest[..start]);
        rest = &rest[start + "#[cfg(test)]".len()..];
        let mut depth = 0;
        let end = rest.char_indices().find_map(|(index, letter)| {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            (depth == 0 && matches!(letter, '}' | ';')).then_some(index + 1)
        });
        rest = &rest[end.unwrap_or(rest.len())..];
    }
    out + rest
}

/// Who uses whom, with an example.
type Edges = BTreeMap<(String, String), String>;

/// The arrows of a graph that are part of a circle: one can come back from where they lead.
fn in_circles(edges: &Edges) -> Edges {
    let reached = |from: &str| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.to_owned()]);
        while let Some(at) = open.pop() {
            for (_, to) in edges.keys().filter(|(from, _)| *from == at) {
                if seen.insert(to.clone()) {
                    open.push(to.clone());
                }
            }
        }
        seen
    };
    edges
        .iter()
        .filter(|((from, to), _)| from != to && reached(to).contains(from))
        .map(|(pair, example)| (pair.clone(), example.clone()))
        .collect()
}

#[test]
fn no_circle_among_the_modules_of_a_crate() {
    let mut found = Vec::new();
    for (name, _) in ARROWS.iter().filter(|(name, _)| !matches!(*name, "benches" | "fuzz" | "tool")) {
        for edges in Crate::read(name).edges().values() {
            found.extend(in_circles(edges).into_values().map(|example| format!("{name}: {example}")));
        }
    }
    assert!(found.is_empty(), "circles: {found:#?}");
}

/// The layers that a scenario has one of: what two of them need is below both.
const STORAGE_SYSTEMS: [&str; 3] = ["layers::filesystem", "layers::zfs", "layers::page_cache"];

#[test]
fn no_storage_system_uses_another() {
    let edges = Crate::read("model").edges();
    let of_rooms = &edges[""];
    for system in STORAGE_SYSTEMS {
        assert!(of_rooms.keys().any(|(from, _)| from == system), "{system} is not a room of the model");
    }
    let is_storage = |name: &String| STORAGE_SYSTEMS.contains(&name.as_str());
    let wrong: Vec<&String> =
        of_rooms.iter().filter(|((from, to), _)| from != to && is_storage(from) && is_storage(to)).map(|(_, example)| example).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_circle_is_found_and_what_leads_into_it_is_not() {
    let arrow = |from: &str, to: &str| ((from.to_owned(), to.to_owned()), format!("{from} {to}"));
    let edges = [arrow("a", "b"), arrow("b", "c"), arrow("c", "a"), arrow("d", "a"), arrow("d", "d")].into();
    assert_eq!(in_circles(&edges).into_values().collect::<Vec<_>>(), ["a b", "b c", "c a"]);
}

#[test]
fn paths_are_found_in_the_text_as_the_compiler_finds_them() {
    let paths = |text: &str| tree(text).iter().map(|path| path.join("::")).collect::<Vec<_>>();
    assert_eq!(paths("crate::a::{self, b::C, d::{E, F as G}}"), ["crate::a", "crate::a::b::C", "crate::a::d::E", "crate::a::d::F"]);
    let text = plain("let a = 'x'; // crate::no\nlet b: &'a str = \"crate::no \\\" no\"; r#\"crate::no\"#; crate::yes::Z");
    assert!(text.contains("crate::yes::Z") && !text.contains("no"), "{text}");
    assert_eq!(
        without_tests("a; #[cfg(test)] mod tests { x { y } } b; #[cfg(test)] mod t; c").split_whitespace().collect::<String>(),
        "a;b;c"
    );
}
