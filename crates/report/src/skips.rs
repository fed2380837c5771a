//! What a run did not measure: one line for each reason, with all that it concerns.

use analysis::{by_key, distinct};
use record::Skip;
use record::units::counted;

use crate::text::Style;

/// With more operations than this, a reason names the first of them alone.
const FEW: usize = 3;

/// The skips of a run below a heading; empty if all was measured.
pub(crate) fn not_measured(skipped: &[Skip], style: Style) -> String {
    if skipped.is_empty() {
        return String::new();
    }
    let groups: Vec<Vec<&Skip>> =
        if style.is_full() { skipped.iter().map(|skip| vec![skip]).collect() } else { alike(skipped) };
    style.title("not measured here") + &style.paragraphs("  ", groups.iter().map(|group| sentence(group)))
}

/// Skips with one reason, which may differ in its numbers, and one remedy.
fn alike(skipped: &[Skip]) -> Vec<Vec<&Skip>> {
    let without_numbers = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
    let keyed = skipped.iter().map(|skip| ((&skip.remedy, without_numbers(&skip.reason)), skip));
    by_key(keyed).into_iter().map(|(_, group)| group).collect()
}

fn sentence(group: &[&Skip]) -> String {
    let [first, rest @ ..] = group else { return String::new() };
    let remedy = if first.remedy.is_empty() { String::new() } else { format!("; to measure it: {}", first.remedy) };
    if rest.is_empty() {
        return format!("{}{}: {}{remedy}", first.operation, first.at, first.reason);
    }
    let operations: Vec<&str> = distinct(group.iter().map(|skip| skip.operation.as_str())).collect();
    let names = match operations.len() {
        0..=FEW => operations.join(", "),
        many => format!("{} and {}", operations[0], counted(many as u64 - 1, "more operation")),
    };
    let remedy = remedy.replace("measure it", "measure them");
    format!("{} ({names}): {}{remedy}", counted(group.len() as u64, "cost"), reasons(group))
}

/// The reason of a group. If its numbers differ, that with the smallest, and how far they go.
fn reasons(group: &[&Skip]) -> String {
    let numbers = |skip: &&&Skip| number(&skip.reason);
    let least = group.iter().min_by_key(numbers).map_or("", |skip| skip.reason.as_str());
    match group.iter().filter_map(|skip| number(&skip.reason)).max() {
        Some(most) if number(least) != Some(most) => format!("{least} (up to {most})"),
        _ => least.to_string(),
    }
}

fn number(text: &str) -> Option<u64> {
    let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use record::Point;

    use super::*;
    use crate::text::Detail;

    fn skip(operation: &str, reason: &str, remedy: &str) -> Skip {
        let (operation, reason, remedy) = (operation.into(), reason.into(), remedy.into());
        Skip { operation, at: Point::default(), reason, remedy }
    }

    #[test]
    fn a_reason_stands_once_with_a_count_of_its_costs() {
        let mut skipped: Vec<Skip> =
            [4, 4, 8, 16].map(|cpus| skip("contention.lock", &format!("needs {cpus} CPUs"), "take more")).into();
        skipped.extend([2, 4].map(|cpus| skip("memory.read", &format!("needs {cpus} CPUs"), "take more")));
        skipped.push(skip("contention.lock", "needs 2 CPUs", "take more"));
        skipped.push(skip("process.shell", "there is no /bin/sh", "install it"));
        let text = not_measured(&skipped, Style::PLAIN);
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "  7 costs (contention.lock, memory.read): needs 2 CPUs (up to 16); to measure them: take more",
                "  process.shell: there is no /bin/sh; to measure it: install it",
            ]
        );
        assert_eq!(not_measured(&skipped, Style::PLAIN.with_detail(Detail::Full)).lines().count(), 10);
        assert_eq!(not_measured(&[], Style::PLAIN), "");
    }
}
