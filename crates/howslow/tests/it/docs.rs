//! What people read holds: links and pages that the program names exist, the catalogue is the program's, lines and pages are short.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{folder, howslow, json};
use crate::tidy::{files, read, root};

/// Words of README, and of all pages in `docs`.
const README_WORDS: usize = 1_000;
const WORDS: usize = 35_000;
const COLUMNS: usize = 140;

/// The pages in `docs`.
fn pages() -> Vec<PathBuf> {
    files(&root().join("docs"), ".md")
}

/// All that people read about howslow.
fn texts() -> Vec<PathBuf> {
    let mut all = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root().join(name)).to_vec();
    all.extend(pages());
    all.extend(files(&root().join("lab"), ".md"));
    assert!(all.len() > 10, "{all:?}");
    all
}

/// Tables and what stands in code blocks are as wide as they are.
#[test]
fn lines_of_running_text_have_at_most_140_columns() {
    let mut found = Vec::new();
    for path in texts() {
        let mut is_code = false;
        for (number, line) in read(&path).lines().enumerate() {
            is_code ^= line.trim_start().starts_with("```");
            let columns = line.chars().count();
            if !is_code && !line.starts_with('|') && columns > COLUMNS {
                found.push(format!("{}:{}: {columns}", path.display(), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_pages_stay_short() {
    let words = |path: &PathBuf| read(path).split_whitespace().count();
    let readme = words(&root().join("README.md"));
    assert!(readme <= README_WORDS, "README has {readme} words");
    let all: usize = pages().iter().map(words).sum();
    assert!(all <= WORDS, "docs have {all} words");
}

/// Of the commands in README, those on books print the same everywhere.
#[test]
fn the_program_prints_what_the_readme_shows_of_books() {
    let readme = read(&root().join("README.md"));
    let shown = readme.split("```").filter_map(|block| block.trim().strip_prefix("$ howslow "));
    let mut tried = 0;
    for block in shown.filter(|block| ["compare", "predict", "explain"].iter().any(|verb| block.starts_with(verb))) {
        let (words, lines) = block.split_once('\n').expect("a command and its output");
        let output = howslow(&folder()).env("COLUMNS", "100").args(words.split(' ')).assert().success();
        let page = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
        for line in lines.lines() {
            assert!(page.lines().any(|printed| printed == line), "howslow {words} does not print: {line}");
        }
        tried += 1;
    }
    assert!(tried >= 3, "{readme}");
}

fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
    kept.chars().filter(|letter| letter.is_alphanumeric() || ['-', '_'].contains(letter)).collect()
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut wrong = Vec::new();
    for path in texts() {
        let text = read(&path);
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.starts_with("http")) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { path.clone() } else { path.parent().expect("a folder").join(file) };
            let is_there = file.exists()
                && (heading.is_empty()
                    || read(&file).lines().any(|line| line.starts_with('#') && anchor(line) == heading));
            if !is_there {
                wrong.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_page_that_the_sources_name_is_there() {
    let kinds = [("crates", ".rs"), ("docs/tasks", ".sh"), ("books", ".toml"), (".ci", "run")];
    let mut named = BTreeMap::new();
    for path in kinds.into_iter().flat_map(|(folder, end)| files(&root().join(folder), end)) {
        let text = read(&path);
        for rest in text.split("docs/").skip(1) {
            let name: String =
                rest.chars().take_while(|letter| letter.is_ascii_alphanumeric() || "-_/.".contains(*letter)).collect();
            if let Some((page, _)) = name.split_once(".md") {
                named.insert(format!("docs/{page}.md"), path.clone());
            }
        }
    }
    assert!(named.len() > 5, "{named:?}");
    let lacking: Vec<_> = named.iter().filter(|(page, _)| !root().join(page).is_file()).collect();
    assert!(lacking.is_empty(), "{lacking:?}");
}

#[test]
fn every_file_that_method_names_is_there() {
    let method = read(&root().join("docs/METHOD.md"));
    let places = method.split("[`").skip(1).filter_map(|rest| rest.split(']').next());
    let names: Vec<&str> = places.flat_map(|place| place.split(", ")).map(|name| name.trim_matches('`')).collect();
    assert!(names.len() >= 10, "{names:?}");
    let lacking: Vec<_> = names.iter().filter(|name| !root().join("crates").join(name).exists()).collect();
    assert!(lacking.is_empty(), "docs/METHOD.md names {lacking:?}");
}

/// The page of all operations, as `howslow list --json` prints them: those of the headline run with their summary.
fn catalogue(operations: &[Value]) -> String {
    let text = |value: &Value| value.as_str().expect("a text").to_string();
    let mut page = String::from(
        "# Catalogue: every operation\n\nLook here for what can be measured. `howslow list PATTERN` prints the summary of each operation, its points and bounds; `howslow\nlist WORDS` searches; `howslow run 'ID@axis=value'` measures it. Axes stand behind `@`. Operations of the headline run have their\nsummary here. The page is generated from `howslow list --json` on x86-64.\n",
    );
    let options = textwrap::Options::new(COLUMNS - 5)
        .break_words(false)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit);
    let (mut group, mut others) = (String::new(), Vec::new());
    let end = |others: &mut Vec<String>, page: &mut String| {
        if !others.is_empty() {
            let _ = write!(page, "\n{}\n", textwrap::fill(&others.join(", "), &options));
            others.clear();
        }
    };
    for operation in operations {
        let mut axes: Vec<&String> = Vec::new();
        for point in operation["points"].as_array().expect("points") {
            axes.extend(point.as_object().expect("a point").keys());
        }
        axes.sort();
        axes.dedup();
        let axes: Vec<&str> = axes.into_iter().map(String::as_str).collect();
        let at = if axes.is_empty() { "" } else { "@" };
        let name = format!("`{}{at}{}`", text(&operation["operation"]), axes.join(","));
        if text(&operation["group"]) != group {
            end(&mut others, &mut page);
            group = text(&operation["group"]);
            let _ = write!(page, "\n## {group}\n\n");
        }
        if operation["headline"] == true {
            let summary = format!("- {name}: {}", text(&operation["summary"]));
            let _ = writeln!(page, "{}", textwrap::fill(&summary, options.clone().subsequent_indent("  ")));
        } else {
            others.push(name);
        }
    }
    end(&mut others, &mut page);
    page.replace("\n\n\n", "\n\n")
}

/// What `howslow list --json` prints.
fn listed() -> Vec<Value> {
    json(howslow(&folder()).args(["list", "--json"])).as_array().expect("a list").clone()
}

/// Words in backticks with dots that begin with a family are ids, or the beginnings of some.
#[test]
fn the_operations_that_the_pages_name_exist() {
    const FILES_OF_CGROUPS: [&str; 2] = ["memory.stat", "memory.pressure"];
    let operations = listed();
    let ids: Vec<&str> = operations.iter().filter_map(|operation| operation["operation"].as_str()).collect();
    let (mut named, mut wrong) = (0, Vec::new());
    for path in pages().into_iter().chain([root().join("README.md")]) {
        let text = read(&path);
        for word in text.split('`').skip(1).step_by(2).filter_map(|word| word.split('@').next()) {
            let is_id = word.contains('.') && word.chars().all(|letter| letter.is_ascii_lowercase() || letter == '.');
            let family = word.split('.').next().unwrap_or_default();
            let is_of_family = ids.iter().any(|id| id.split('.').next() == Some(family));
            if is_id && is_of_family && !FILES_OF_CGROUPS.contains(&word) {
                named += 1;
                if !ids.iter().any(|id| *id == word || id.starts_with(&format!("{word}."))) {
                    wrong.push(format!("{}: {word}", path.display()));
                }
            }
        }
    }
    assert!(named > 500, "only {named} operations");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[cfg(target_arch = "x86_64")]
fn the_catalogue_is_the_one_that_the_program_lists() {
    let (path, page) = (root().join("docs/CATALOGUE.md"), catalogue(&listed()));
    if std::env::var_os("HOWSLOW_WRITE_SCHEMA").is_some() {
        fs::write(&path, &page).expect("docs/ can be written");
    }
    let how = "HOWSLOW_WRITE_SCHEMA=1 cargo test -p howslow --test it the_catalogue_is";
    assert!(read(&path) == page, "docs/CATALOGUE.md is stale: {how}");
}
