//! The names that users give to runs.

use crate::books::{book_names, reference_names};

/// Longer names fill a table.
const LONGEST: usize = 60;

/// Checks that a text can be the label of a run, so that it cannot be taken for another form of RUN or for an option.
/// Fails with one sentence on what is wrong.
pub fn check_label(label: &str) -> Result<(), String> {
    check_text(label)?;
    if let Some(prefix) = [PREFIX, "all:"].into_iter().find(|prefix| label.starts_with(prefix)) {
        return Err(format!("'{prefix}' is how a RUN says that a label follows; leave it out here"));
    }
    if [".json", ".toml", ".html"].iter().any(|end| label.ends_with(end)) {
        return Err("a label does not end in .json, .toml or .html, because RUN takes such names for files".into());
    }
    if book_names().chain(reference_names()).any(|book| book == label) {
        return Err("a book or a reference machine has this name; choose another one".into());
    }
    Ok(())
}

/// Checks what every label has been: a run may have one that is refused today because RUN takes it for something else.
pub(crate) fn check_text(label: &str) -> Result<(), String> {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '=' | ':');
    if label.is_empty() || label.chars().count() > LONGEST {
        return Err(format!("a label has 1 to {LONGEST} characters"));
    }
    if !label.chars().all(allowed) || !label.starts_with(char::is_alphanumeric) {
        let rule =
            "a label begins with a letter or digit, and has letters, digits, '-', '_', '.', '+', '=' and ':' only";
        return Err(rule.into());
    }
    Ok(())
}

/// With this before it, a RUN is a label and nothing else.
pub(crate) const PREFIX: &str = "label:";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_cannot_be_taken_for_anything_else() {
        for good in ["before", "6.18-rc1", "nightly:2026-11-22", "größer", "a=b+c", "2026"] {
            assert_eq!(check_label(good), Ok(()), "{good}");
        }
        let long = "x".repeat(61);
        let bad =
            ["", " ", "a b", "a/b", "../x", "-n", "@1", "a\tb", "a\u{202e}b", "x.json", "x.toml", "zen-4", ".x", &long];
        for bad in bad.into_iter().chain(["label:x", "all:x", "x.html", "a;b", "a'b", "a\"b", "a*"]) {
            assert!(check_label(bad).is_err(), "{bad}");
        }
        for known in ["all:x", "label:x", "x.html", "zen-4"] {
            assert_eq!(
                check_text(known),
                Ok(()),
                "a run may have been labelled {known} before RUN meant something else"
            );
        }
    }
}
