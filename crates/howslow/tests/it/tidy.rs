//! The house rules that a machine can check: layers, unsafe code, file sizes, and the commands in README.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use crate::help::every_verb;

/// From the bottom up: each crate may use only those before it.
fn layers() -> Vec<&'static str> {
    let all = "bench-macros bench testing schema-macros record system operation catalogue analysis measure instruments \
        terminal observe load store fleet report howslow";
    all.split(' ').collect()
}

/// The only crates that may contain unsafe code.
const UNSAFE: [&str; 8] = ["bench", "system", "measure", "operation", "catalogue", "instruments", "observe", "load"];
const LONGEST_FILE: usize = 400;
const LONGEST_FUNCTION: usize = 70;

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files below a folder whose paths end so, but for what is built.
pub fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && entry.file_name() != "target" {
            found.extend(files(&path, end));
        } else if path.to_string_lossy().ends_with(end) {
            found.push(path);
        }
    }
    found
}

#[test]
fn crates_depend_one_way() {
    let layers = layers();
    for (place, name) in layers.iter().enumerate() {
        let manifest = read(&root().join("crates").join(name).join("Cargo.toml"));
        let dependencies = manifest.split("[dev-dependencies]").next().unwrap_or_default();
        for above in &layers[place..] {
            let uses = dependencies.lines().any(|line| {
                line.starts_with(&format!("{above}.workspace")) || line.starts_with(&format!("{above} = {{"))
            });
            assert!(!uses, "{name} uses {above}, which is not below it");
        }
    }
    let crates = fs::read_dir(root().join("crates")).expect("crates").flatten().count();
    assert_eq!(crates, layers.len(), "a crate stands in no layer");
}

/// A module by its path, which is empty for the crate's root.
type Module = Vec<String>;

/// The modules of a crate that have their own file, with their text, without tests.
fn modules(source: &Path) -> BTreeMap<Module, String> {
    let mut modules = BTreeMap::new();
    for path in files(source, ".rs") {
        let below = path.strip_prefix(source).expect("a source lies below its folder").with_extension("");
        let mut module: Module = below.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if module.iter().any(|part| part == "tests") {
            continue;
        }
        if matches!(module.last().map(String::as_str), Some("lib" | "main" | "mod")) {
            module.pop();
        }
        let text = read(&path);
        let code = text.split("mod tests {").next().unwrap_or_default();
        let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
        modules.insert(module, lines.collect::<Vec<_>>().join("\n"));
    }
    modules
}

/// All paths of a use tree such as `a::{b, c::d}`. Returns the text after it.
fn expand<'a>(mut text: &'a str, mut path: Module, found: &mut Vec<Module>) -> &'a str {
    loop {
        text = text.trim_start();
        if let Some(mut rest) = text.strip_prefix('{') {
            while !rest.is_empty() && !rest.starts_with('}') {
                rest = expand(rest, path.clone(), found);
                rest = rest.trim_start_matches(|c| c != ',' && c != '}').trim_start_matches([',', ' ', '\n']);
            }
            return rest.get(1..).unwrap_or_default();
        }
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        path.push(text[..end].into());
        match text[end..].strip_prefix("::") {
            Some(rest) => text = rest,
            None => {
                found.push(path);
                return &text[end..];
            }
        }
    }
}

/// The modules that a module imports from, by the paths in its text that begin at the root, at itself, at its parent or at a child.
fn imports(module: &Module, text: &str, all: &BTreeMap<Module, String>) -> BTreeSet<Module> {
    let child = |name: &str| [module.as_slice(), &[name.to_owned()]].concat();
    let mut paths = Vec::new();
    let mut rest = text;
    while let Some(place) = rest.find("::") {
        let start = rest[..place].rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |before| before + 1);
        let head = &rest[start..place];
        rest = if matches!(head, "crate" | "self" | "super") || all.contains_key(&child(head)) {
            expand(&rest[start..], Module::new(), &mut paths)
        } else {
            // The text after it belongs to a path that begins elsewhere.
            rest[place..].trim_start_matches(|c: char| c.is_alphanumeric() || c == '_' || c == ':')
        };
    }
    let resolved = paths.into_iter().map(|path| {
        let mut at = if path[0] == "crate" { Module::new() } else { module.clone() };
        for part in path.iter().skip_while(|part| *part == "crate" || *part == "self") {
            let next = [at.as_slice(), std::slice::from_ref(part)].concat();
            match part.as_str() {
                "super" => drop(at.pop()),
                _ if all.contains_key(&next) => at = next,
                _ => break,
            }
        }
        at
    });
    resolved.filter(|other| other != module && all.contains_key(other)).collect()
}

/// The shortest circle of imports through a module.
fn circle(start: &Module, imports: &BTreeMap<Module, BTreeSet<Module>>) -> Option<Vec<Module>> {
    let mut reached: BTreeMap<&Module, &Module> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(from) = queue.pop_front() {
        for to in imports.get(from)? {
            if to == start {
                let mut way = vec![from.clone()];
                while let Some(before) = reached.get(way.last()?) {
                    way.push((*before).clone());
                }
                way.reverse();
                return Some(way);
            }
            if !reached.contains_key(to) {
                reached.insert(to, from);
                queue.push_back(to);
            }
        }
    }
    None
}

#[test]
fn files_do_not_import_each_other_in_circles() {
    for name in layers() {
        let modules = modules(&root().join("crates").join(name).join("src"));
        let imports: BTreeMap<_, _> =
            modules.iter().map(|(module, text)| (module.clone(), imports(module, text, &modules))).collect();
        let shown = |way: Vec<Module>| {
            let names = way.iter().map(|module| if module.is_empty() { "the root".into() } else { module.join("::") });
            names.collect::<Vec<String>>().join(" -> ")
        };
        let circles: Vec<String> = modules.keys().filter_map(|module| circle(module, &imports)).map(shown).collect();
        assert!(circles.is_empty(), "files of {name} import each other:\n{}", circles.join("\n"));
    }
}

/// The name of the type that a line defines. One inside of another item is indented.
fn defined(line: &str) -> Option<&str> {
    let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
    let mut words = words.skip_while(|word| matches!(*word, "pub" | "crate" | "super" | "self" | "in" | "unsafe" | ""));
    let is_type = matches!(words.next(), Some("struct" | "enum" | "trait" | "type" | "union"));
    words.next().filter(|_| is_type && !line.starts_with(' '))
}

#[test]
fn no_two_types_of_a_crate_have_one_name() {
    /// Modules that are compiled where others with the same types are not.
    const INSTEAD: [&str; 2] = ["aarch64", "not_held"];
    assert_eq!(defined("pub(in super::super) type A = u8;"), Some("A"));
    assert_eq!(defined("struct B<T>(T);"), Some("B"));
    assert_eq!(["    type C = u8;", "use D;", "}"].map(defined), [None; 3]);
    let mut count = 0;
    for name in layers() {
        let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let modules = modules(&root().join("crates").join(name).join("src"));
        for (module, text) in &modules {
            if !module.iter().any(|part| INSTEAD.contains(&part.as_str())) {
                text.lines()
                    .filter_map(defined)
                    .for_each(|name| places.entry(name).or_default().push(module.join("::")));
            }
        }
        let twice = places.iter().filter(|(_, modules)| modules.len() > 1);
        let twice: Vec<String> = twice.map(|(name, modules)| format!("{name}: {}", modules.join(", "))).collect();
        assert!(twice.is_empty(), "types of {name} share a name, so give one a plainer name:\n{}", twice.join("\n"));
        count += places.len();
    }
    assert!(count > 1000, "only {count} types were found");
}

#[test]
fn unsafe_code_stays_where_it_is_allowed() {
    for name in layers() {
        let source = root().join("crates").join(name).join("src");
        let head = ["lib.rs", "main.rs"].map(|file| source.join(file)).into_iter().find(|file| file.exists());
        let forbidden = read(&head.expect("a crate has a lib or a main")).contains("#![forbid(unsafe_code)]");
        assert_eq!(forbidden, !UNSAFE.contains(&name), "{name}");
    }
}

#[test]
fn files_are_short_and_begin_with_what_they_are_for() {
    for path in files(&root().join("crates"), ".rs") {
        let text = read(&path);
        assert!(text.starts_with("//!"), "{} does not say what it is for", path.display());
        let lines = text.lines().count();
        assert!(lines <= LONGEST_FILE, "{} has {lines} lines", path.display());
    }
}

/// The name and the number of lines of every function with several lines. rustfmt puts the closing brace in the column of
/// the function.
fn functions(text: &str) -> Vec<(&str, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let head = line.trim_start();
        let Some((modifiers, name)) = head.split_once("fn ") else { continue };
        let is_modifier = |word: &str| matches!(word, "" | "const" | "unsafe" | "extern" | "\"C\"");
        if !modifiers.split(' ').all(|word| is_modifier(word) || word.starts_with("pub")) {
            continue;
        }
        let signature_end = lines[start..].iter().find(|line| line.ends_with(['{', '}', ';']));
        let brace = format!("{}}}", &line[..line.len() - head.len()]);
        let end = lines[start..].iter().position(|line| *line == brace);
        if let Some(end) = end.filter(|_| signature_end.is_some_and(|line| line.ends_with('{'))) {
            found.push((name.split(['(', '<']).next().unwrap_or(name), end + 1));
        }
    }
    found
}

#[test]
fn functions_are_short() {
    let mut count = 0;
    for path in files(&root().join("crates"), ".rs") {
        for (name, lines) in functions(&read(&path)) {
            assert!(lines <= LONGEST_FUNCTION, "{name} has {lines} lines: {}", path.display());
            count += 1;
        }
    }
    assert!(count > 1000, "only {count} functions were found");
}

/// What no `mod` names is not compiled: its tests would never run.
#[test]
fn every_file_is_a_module_of_a_program() {
    for name in layers() {
        let folder = root().join("crates").join(name);
        let files = ["src", "tests"].map(|part| files(&folder.join(part), ".rs")).concat();
        let text: String = files.iter().map(|path| read(path)).collect();
        let word = |text: &str| -> String {
            text.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
        };
        let named: BTreeSet<String> = text.split("mod ").skip(1).map(word).collect();
        for path in &files {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let program =
                ["lib", "main", "mod"].contains(&stem.as_str()) || path.parent() == Some(&folder.join("tests"));
            let by_path = || text.contains(&format!("/{stem}.rs\"]")) || text.contains(&format!("\"{stem}.rs\"]"));
            assert!(program || named.contains(&stem) || by_path(), "{} is no module of any file", path.display());
        }
    }
}

#[test]
fn nothing_is_left_undone_in_the_sources() {
    let marks =
        [["TO", "DO"].concat(), ["FIX", "ME"].concat(), ["todo", "!("].concat(), ["unimplemented", "!("].concat()];
    for path in files(&root().join("crates"), ".rs") {
        let text = read(&path);
        for mark in &marks {
            assert!(!text.contains(mark.as_str()), "{} holds {mark}", path.display());
        }
    }
}

#[test]
fn readme_gives_the_two_commands_and_the_check_runs_the_second() {
    let readme = read(&root().join("README.md"));
    assert!(readme.contains("cargo run --release\n"), "README does not give the main command");
    assert!(readme.contains("cargo test --workspace\n"), "README does not give the test command");
    assert!(read(&root().join(".ci/run")).contains(" cargo test --workspace\n"));
}

#[test]
fn every_verb_is_in_the_readme() {
    let readme = read(&root().join("README.md"));
    for verb in every_verb().filter(|words| words.len() == 1) {
        assert!(readme.contains(&format!("howslow {}", verb[0])), "{verb:?}");
    }
}

/// The text of a file, and of each file of another crate that it names as a module.
fn with_shared(path: &Path) -> String {
    let text = read(path);
    let folder = path.parent().expect("a folder");
    let shared = text.lines().filter_map(|line| line.strip_prefix("#[path = \"")?.strip_suffix("\"]"));
    let shared: String = shared.map(|shared| read(&folder.join(shared))).collect();
    text + &shared
}

/// A dependency whose name does not occur in the sources is compiled without need.
#[test]
fn every_dependency_is_used() {
    for name in layers() {
        let folder = root().join("crates").join(name);
        let manifest = read(&folder.join("Cargo.toml"));
        let text: String = files(&folder, ".rs").iter().map(|path| with_shared(path)).collect();
        let mut section = "";
        for line in manifest.lines() {
            if line.starts_with('[') {
                section = line;
                continue;
            }
            let Some((dependency, _)) = line.split_once(" = ").filter(|_| section.contains("dependencies")) else {
                continue;
            };
            let word = dependency.trim_end_matches(".workspace").replace('-', "_");
            let used = ["{}::", "use {};", "{}!", "extern crate {};"].map(|form| form.replace("{}", &word));
            assert!(used.iter().any(|used| text.contains(used)), "{name} does not use {dependency}");
        }
    }
}

#[test]
fn the_places_that_contributing_names_are_there() {
    let text = read(&root().join("CONTRIBUTING.md"));
    let names = text.split('`').skip(1).step_by(2);
    let places: Vec<&str> =
        names.filter(|name| ["crates/", "books", "docs/"].iter().any(|at| name.starts_with(at))).collect();
    assert!(places.len() >= 10, "{places:?}");
    for place in places {
        assert!(root().join(place).exists(), "CONTRIBUTING.md names {place}, which is not there");
    }
}
