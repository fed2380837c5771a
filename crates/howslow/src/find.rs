//! Finds operations by words: their ids, other names, summaries, headings and system calls are searched.

use operation::Operation;

/// Words that mean nothing for what is looked for.
const EMPTY: [&str; 22] = [
    "a", "an", "the", "of", "to", "and", "in", "on", "how", "long", "does", "do", "is", "what", "cost", "costs",
    "take", "takes", "time", "my", "for", "with",
];

/// The operations that these words mean, best first. If none has all words, those that have most of them.
pub(crate) fn find(text: &str) -> Vec<&'static Operation> {
    found(text).1
}

/// True if they have all words, and the operations.
fn found(text: &str) -> (bool, Vec<&'static Operation>) {
    let text = text.to_lowercase();
    let all: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || "-./,:+()".contains(c)).filter(|word| !word.is_empty()).collect();
    let significant: Vec<&str> = all.iter().copied().filter(|word| !EMPTY.contains(word)).collect();
    let words = if significant.is_empty() { all } else { significant };
    let mut found: Vec<(usize, u32, &'static Operation)> = catalogue::all()
        .map(|operation| {
            let scores: Vec<u32> = words.iter().map(|word| score(operation, word)).filter(|score| *score > 0).collect();
            let usual = if operation.headline { 8 } else { 0 };
            (scores.len(), scores.iter().sum::<u32>() + usual, operation)
        })
        .filter(|(count, ..)| *count > 0)
        .collect();
    let most = found.iter().map(|(count, ..)| *count).max().unwrap_or(0);
    found.retain(|(count, ..)| *count == most);
    // Among equals the order is that of the registry.
    found.sort_by_key(|(_, score, _)| std::cmp::Reverse(*score));
    (most == words.len(), found.into_iter().map(|(.., operation)| operation).collect())
}

/// `howslow list huge` finds page.fault.huge and 5 more; `, or nothing if no operation has all words.
pub(crate) fn hint(text: &str) -> String {
    let (true, found) = found(text) else { return String::new() };
    let Some(first) = found.first() else { return String::new() };
    let more = if found.len() > 1 { format!(" and {} more", found.len() - 1) } else { String::new() };
    format!("`howslow list {}` finds {}{more}; ", record::printable(text), first.id)
}

/// How well a word fits an operation: by where it is found, and whether as a whole. 0 if it is not found.
fn score(operation: &Operation, word: &str) -> u32 {
    let fields = [
        (10, operation.id.to_string()),
        (9, catalogue::other_names(operation.id).to_string()),
        (9, operation.aliases.join(" ")),
        (6, operation.system_calls().collect::<Vec<_>>().join(" ")),
        (5, operation.summary.to_string()),
        (4, catalogue::heading(operation.id).to_string()),
    ];
    fields.into_iter().map(|(weight, text)| fit(&text.to_lowercase(), word) * weight).max().unwrap_or(0)
}

/// 4 for a word of the text, 2 for the beginning of one, 1 for a part of one.
fn fit(text: &str, word: &str) -> u32 {
    /// Shorter parts of words are found everywhere.
    const SHORTEST: usize = 3;
    let stem = stem(word);
    let fits = |other: &str| match () {
        () if other == word || self::stem(other) == stem => 4,
        () if word.len() >= SHORTEST && other.starts_with(stem) => 2,
        () if word.len() > SHORTEST && other.contains(stem) => 1,
        () => 0,
    };
    text.split(|c: char| !c.is_alphanumeric() && c != '_').map(fits).max().unwrap_or(0)
}

/// A word without the ending of a plural or of an activity.
fn stem(word: &str) -> &str {
    const LEAST: usize = 3;
    let ends = ["ches", "shes", "sses"].iter().find(|end| word.ends_with(**end)).map(|_| &word[..word.len() - 2]);
    let stem = ends.or_else(|| word.strip_suffix("ing")).or_else(|| word.strip_suffix('s')).unwrap_or(word);
    if stem.chars().count() < LEAST || word.ends_with("ss") { word } else { stem }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What people look for, by the names of lmbench, perf bench and stress-ng and in their own words, and what is meant.
    const QUESTIONS: &str = include_str!("find/questions.txt");

    #[test]
    fn everyday_questions_find_what_is_meant_in_the_first_lines() {
        let missed = |line: &&str| {
            let (question, meant) = line.split_once(": ").expect("a question and an id");
            !find(question).iter().take(4).any(|operation| operation.id == meant)
        };
        let missed: Vec<&str> = QUESTIONS.lines().filter(missed).collect();
        assert!(missed.is_empty(), "{}", missed.join("\n"));
    }

    #[test]
    fn nonsense_finds_nothing() {
        assert!(find("zzzz").is_empty() && find("").is_empty() && find("...").is_empty());
        assert_eq!(hint("zzzz"), "");
        assert!(hint("huge").contains("page.fault.huge and "));
    }
}
