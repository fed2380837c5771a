//! The help of every verb, as it is printed. After an intended change: `INSTA_UPDATE=always cargo test -p howslow --test it help`.

use crate::support::{folder, howslow};

/// The output of `howslow VERB --help`, with lines of 100 columns.
fn help(verb: &[&str]) -> String {
    let result = howslow(&folder()).env("COLUMNS", "100").args(verb).arg("--help").assert().success();
    String::from_utf8_lossy(&result.get_output().stdout).into_owned()
}

fn verbs(help: &str) -> Vec<&str> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // Further lines of a description have a larger indent.
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|verb| !verb.is_empty() && *verb != "help").collect()
}

/// The words of every verb, and of those below verbs.
pub fn every_verb() -> Vec<Vec<String>> {
    fn below(verb: &[&str], all: &mut Vec<Vec<String>>) {
        for next in verbs(&help(verb)) {
            let words = [verb, &[next]].concat();
            all.push(words.iter().map(ToString::to_string).collect());
            // No other verb has verbs below it.
            if ["file", "fleet", "history"].contains(&next) {
                below(&words, all);
            }
        }
    }
    let mut all = Vec::new();
    below(&[], &mut all);
    all
}

/// Takes a snapshot of a verb and of all verbs below it. Returns the number of snapshots.
fn snapshot(verb: &[&str]) -> usize {
    let text = help(verb);
    insta::assert_snapshot!([&["howslow"], verb].concat().join("_"), text);
    1 + verbs(&text).into_iter().map(|below| snapshot(&[verb, &[below]].concat())).sum::<usize>()
}

#[test]
fn every_verb_explains_itself() {
    let taken = snapshot(&[]);
    assert!(taken > 15, "only {taken} verbs are listed");
}
