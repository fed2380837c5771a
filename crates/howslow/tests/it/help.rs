//! The help of every verb, as it is printed. After an intended change: `INSTA_UPDATE=always cargo test -p howslow --test it help`.

use std::sync::LazyLock;

use crate::support::{folder, howslow};

/// The words of every verb, and of those below verbs, with what `howslow VERB --help` prints, in lines of 100 columns. The first one
/// has no words.
static HELP: LazyLock<Vec<(Vec<String>, String)>> = LazyLock::new(|| {
    fn add(words: Vec<String>, all: &mut Vec<(Vec<String>, String)>) {
        let result = howslow(&folder()).env("COLUMNS", "100").args(&words).arg("--help").assert().success();
        let help = String::from_utf8_lossy(&result.get_output().stdout).into_owned();
        let below: Vec<Vec<String>> = verbs(&help).map(|verb| [&words[..], &[verb.to_owned()]].concat()).collect();
        all.push((words, help));
        below.into_iter().for_each(|words| add(words, all));
    }
    let mut all = Vec::new();
    add(Vec::new(), &mut all);
    all
});

fn verbs(help: &str) -> impl Iterator<Item = &str> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // Further lines of a description have a larger indent.
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|verb| !verb.is_empty() && *verb != "help")
}

/// The words of every verb, and of those below verbs.
pub fn every_verb() -> impl Iterator<Item = &'static [String]> {
    HELP.iter().skip(1).map(|(words, _)| words.as_slice())
}

#[test]
fn every_verb_explains_itself() {
    for (words, help) in &*HELP {
        insta::assert_snapshot!([&["howslow".to_owned()], &words[..]].concat().join("_"), help);
    }
    assert!(HELP.len() > 35, "{HELP:?}");
}
