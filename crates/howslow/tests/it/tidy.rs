//! The house rules that a machine can check: layers, unsafe code, sizes of files, the commands that README gives.

use std::fs;
use std::path::{Path, PathBuf};

/// From the bottom up: each may use only those before it.
const LAYERS: [&str; 12] = [
    "testing",
    "record",
    "guard",
    "machine",
    "operation",
    "operations",
    "analysis",
    "measure",
    "advise",
    "store",
    "report",
    "howslow",
];
/// The only crates that may hold unsafe code.
const UNSAFE: [&str; 6] = ["advise", "guard", "machine", "measure", "operation", "operations"];
const LONGEST_FILE: usize = 420;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && entry.file_name() != "target" {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn crates_depend_one_way() {
    for (place, name) in LAYERS.iter().enumerate() {
        let manifest = read(&root().join("crates").join(name).join("Cargo.toml"));
        let dependencies = manifest.split("[dev-dependencies]").next().unwrap_or_default();
        for above in &LAYERS[place..] {
            let uses = dependencies.lines().any(|line| line.starts_with(&format!("{above} = {{")));
            assert!(!uses, "{name} uses {above}, which is not below it");
        }
    }
    let crates = fs::read_dir(root().join("crates")).expect("crates").flatten().count();
    assert_eq!(crates, LAYERS.len(), "a crate stands in no layer");
}

#[test]
fn unsafe_code_stays_where_it_is_allowed() {
    for name in LAYERS {
        let source = root().join("crates").join(name).join("src");
        let head = ["lib.rs", "main.rs"].map(|file| source.join(file)).into_iter().find(|file| file.exists());
        let forbidden = read(&head.expect("a crate has a lib or a main")).contains("#![forbid(unsafe_code)]");
        assert_eq!(forbidden, !UNSAFE.contains(&name), "{name}");
    }
}

#[test]
fn files_are_short_and_say_what_they_are_for() {
    for path in sources(&root().join("crates")) {
        let text = read(&path);
        assert!(text.starts_with("//!"), "{} does not say what it is for", path.display());
        let lines = text.lines().count();
        assert!(lines <= LONGEST_FILE, "{} has {lines} lines", path.display());
    }
}

#[test]
fn nothing_is_left_undone_in_the_sources() {
    let marks =
        [["TO", "DO"].concat(), ["FIX", "ME"].concat(), ["todo", "!("].concat(), ["unimplemented", "!("].concat()];
    for path in sources(&root().join("crates")) {
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
    let cli = read(&root().join("crates/howslow/src/cli.rs"));
    let readme = read(&root().join("README.md"));
    let (_, verbs) = cli.split_once("enum Verb {").expect("the verbs");
    let (verbs, _) = verbs.split_once("\n}").expect("the end of the verbs");
    let variants = verbs.lines().filter_map(|line| line.strip_prefix("    "));
    let names = variants.filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()));
    let names: Vec<String> = names
        .map(|line| line.chars().take_while(char::is_ascii_alphabetic).collect::<String>().to_lowercase())
        .collect();
    assert!(names.len() >= 10, "{names:?}");
    for verb in names {
        assert!(readme.contains(&format!("howslow {verb}")), "{verb}");
    }
}

/// A dependency whose name stands nowhere in the sources is compiled for nothing.
#[test]
fn every_dependency_is_used() {
    for name in LAYERS {
        let folder = root().join("crates").join(name);
        let manifest = read(&folder.join("Cargo.toml"));
        let text: String = sources(&folder).iter().map(|path| read(path)).collect();
        let mut section = "";
        for line in manifest.lines() {
            if line.starts_with('[') {
                section = line;
                continue;
            }
            let Some((dependency, _)) = line.split_once(" = ").filter(|_| section.contains("dependencies")) else {
                continue;
            };
            let word = dependency.replace('-', "_");
            let used = [format!("{word}::"), format!("use {word};"), format!("{word}!")];
            assert!(used.iter().any(|used| text.contains(used)), "{name} does not use {dependency}");
        }
    }
}
