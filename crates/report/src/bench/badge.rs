//! A badge: two fields side by side, as an SVG document of its own.

use analysis::compare::Verdict;

use super::shown::BenchShown;

/// The badge of a comparison.
pub fn bench_badge(shown: &BenchShown) -> String {
    const LABEL: &str = "benchmarks";
    let [slower, faster, open, unknown] =
        [Verdict::Slower, Verdict::Faster, Verdict::Inconclusive, Verdict::Unknown].map(|verdict| shown.count(verdict));
    let (text, colour) = match (slower, faster, open) {
        (0, 0, 0) if unknown > 0 => (format!("{unknown} not compared"), "#8a6d00"),
        (0, 0, 0) => ("same".into(), "#3a7d34"),
        (0, 0, open) => (format!("{open} inconclusive"), "#8a6d00"),
        (0, faster, _) => (format!("{faster} faster"), "#3a7d34"),
        (slower, ..) => (format!("{slower} slower"), "#b03a2e"),
    };
    let [left, right] = [LABEL, &text].map(|text| 12 + 7 * text.len());
    let (width, middle, end) = (left + right, left / 2, left + right / 2);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"20\" role=\"img\" aria-label=\"{LABEL}: {text}\">\
         <rect width=\"{left}\" height=\"20\" fill=\"#555\"/><rect x=\"{left}\" width=\"{right}\" height=\"20\" fill=\"{colour}\"/>\
         <g fill=\"#fff\" text-anchor=\"middle\" font-family=\"Verdana,sans-serif\" font-size=\"11\">\
         <text x=\"{middle}\" y=\"14\">{LABEL}</text><text x=\"{end}\" y=\"14\">{text}</text></g></svg>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::super::shown::tests::{example, row};
    use super::*;

    #[test]
    fn the_worst_verdict_is_on_the_badge() {
        let mut shown = example();
        assert!(bench_badge(&shown).contains(">1 slower<"));
        shown.rows = vec![row("read", 1.02, 0.3)];
        assert!(bench_badge(&shown).contains(">1 inconclusive<"));
        shown.rows = vec![row("sum", 1.0, 0.001)];
        assert!(bench_badge(&shown).contains(">same<"));
        shown.rows[0].compared = None;
        assert!(bench_badge(&shown).contains(">1 not compared<"));
    }
}
