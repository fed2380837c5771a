//! Words that readers stumble over stay out of what people read: the docs, the help, the schemas, the pages. Lines of the docs are short.

use std::path::{Path, PathBuf};

/// Each with what is said instead.
const UNWANTED: [(&str, &str); 8] = [
    ("core alone", "undisturbed"),
    ("dearer", "times slower"),
    ("cheaper", "times faster, or takes less"),
    ("paid for", "active"),
    ("cannot be told", "inconclusive, or cannot be distinguished"),
    ("measured twice, a cost", "repeatability"),
    (" 1 rounds", "1 round"),
    (" 1 runs", "1 run"),
];

fn files(folder: &Path, end: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of this repository").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, end, found);
        } else if path.to_string_lossy().ends_with(end) {
            found.push(path);
        }
    }
}

#[test]
fn what_people_read_has_none_of_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    for (folder, end) in [("docs", ".md"), ("docs", ".json"), ("docs", ".svg"), ("crates", ".snap"), ("books", ".toml")]
    {
        files(&root.join(folder), end, &mut all);
    }
    assert!(all.len() > 80, "only {} files", all.len());
    let mut found = Vec::new();
    for path in all {
        let text = std::fs::read_to_string(&path).expect("text");
        for (number, line) in text.lines().enumerate() {
            // Books quote their papers.
            let is_book = path.extension().is_some_and(|end| end == "toml");
            let unwanted = UNWANTED.iter().filter(|(word, _)| line.contains(word) && !(is_book && line.contains('"')));
            found.extend(unwanted.map(|(word, say)| format!("{}:{}: '{word}': say {say}", path.display(), number + 1)));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Tables and what stands in code blocks are as wide as they are.
#[test]
fn lines_of_running_text_have_at_most_140_columns() {
    const MOST: usize = 140;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root.join(name)).to_vec();
    files(&root.join("docs"), ".md", &mut all);
    let mut found = Vec::new();
    for path in all {
        let (text, mut is_code) = (std::fs::read_to_string(&path).expect("text"), false);
        for (number, line) in text.lines().enumerate() {
            is_code ^= line.trim_start().starts_with("```");
            let columns = line.chars().count();
            if !is_code && !line.starts_with('|') && columns > MOST {
                found.push(format!("{}:{}: {columns}", path.display(), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
