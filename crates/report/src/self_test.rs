//! The checks of `howslow self-test` as a page.

use analysis::self_test::{CheckEnd, SelfCheck};

use crate::text::Style;

/// A line for each check with what was found below it, and one that sums them up.
pub fn self_test(checks: &[SelfCheck], style: Style) -> String {
    let mut page = String::new();
    for SelfCheck { name, end, found } in checks {
        let word = match end {
            CheckEnd::Passed => "pass",
            CheckEnd::Failed => "FAIL",
            CheckEnd::Unknown => "?   ",
        };
        page += &format!("{}  {name}\n        {}\n", style.bold(word), record::printable(found));
    }
    let count = |wanted: CheckEnd| checks.iter().filter(|check| check.end == wanted).count();
    let sum = match [count(CheckEnd::Failed), count(CheckEnd::Unknown)] {
        [0, 0] => "pass: howslow measures right here".into(),
        [0, unknown] => {
            format!("nothing is wrong, and {unknown} of {} checks cannot be done here or now", checks.len())
        }
        [failed, _] => format!("fail: {failed} of {} checks; do not trust figures taken here", checks.len()),
    };
    page + &style.bold(&sum) + "\n"
}
