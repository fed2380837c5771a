//! A comparison of two builds as Markdown, as GitHub and GitLab show it.

use analysis::compare::Verdict;

use super::shown::{BenchRow, BenchShown};
use crate::compare::markdown::{MOST_ROWS, code, escaped, more};

/// The comparison for a comment on a pull request: what changed and what is open, the rest folded.
pub fn bench_markdown(shown: &BenchShown) -> String {
    let [old, new] = shown.names.each_ref().map(|name| code(name));
    let mut text = format!("### howslow: {}\n\n{new} beside {old}\n\n", shown.summary());
    let (open, same): (Vec<_>, Vec<_>) = shown.rows.iter().partition(|row| row.verdict() != Verdict::Same);
    if !open.is_empty() {
        text += &table(&open);
    }
    if !same.is_empty() {
        text += &format!("<details><summary>{} the same</summary>\n\n{}</details>\n\n", same.len(), table(&same));
    }
    let notes = shown.rows.iter().flat_map(|row| row.all_notes().into_iter().map(|note| (&row.name, note)));
    for (name, note) in notes.take(MOST_ROWS) {
        text += &format!("- {}: {}\n", code(name), escaped(&note));
    }
    for note in shown.notes.iter().cloned().chain(shown.null()) {
        text += &format!("- {}\n", escaped(&note));
    }
    text + "\nThe interval holds the ratio 95 times in 100; *inconclusive* means that this much time leaves both open.\n"
}

fn table(rows: &[&BenchRow]) -> String {
    let mut table = "| | benchmark | old | new | new / old (95 %) |\n| --- | --- | ---: | ---: | ---: |\n".to_owned();
    for row in rows.iter().take(MOST_ROWS) {
        let verdict = if row.verdict().is_change() { format!("**{}**", row.words()) } else { row.words() };
        let [old, new] = row.times();
        table += &format!("| {verdict} | {} | {old} | {new} | {} |\n", code(&row.name), row.interval());
    }
    table + &more(rows.len()) + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::shown::tests::example;
    use super::*;

    #[test]
    fn what_changed_is_in_sight_and_the_rest_is_folded() {
        let text = bench_markdown(&example());
        let (open, folded) = text.split_once("<details>").expect("a fold");
        assert!(
            open.contains("| **5.0 % slower** | <code>sum</code> |")
                && open.contains("| inconclusive | <code>read</code> |"),
            "{text}"
        );
        assert!(folded.contains("<code>hash/64</code>") && folded.contains("called changed in 0 of 4"), "{text}");
    }
}
