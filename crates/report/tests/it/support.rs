//! What the tests share.

use record::Run;

pub fn example() -> Run {
    let bytes = include_bytes!("../../../record/tests/data/example-run.json");
    record::run_from_bytes(bytes).expect("a run")
}

/// The text without its colours.
pub fn bare(coloured: &str) -> String {
    ["31", "32", "1", "2", "0"].iter().fold(coloured.into(), |text, code| text.replace(&format!("\u{1b}[{code}m"), ""))
}
