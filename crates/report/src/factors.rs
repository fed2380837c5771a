//! The ratio of two totals as factors, and its meaning for users and for the cost of their work.

mod sentence;

use analysis::answer::{Answer, between};
use analysis::factors::{Cause, Factors};
use analysis::mix_changes::MixChanges;
use analysis::statistics::Interval;
use record::units::{percent, significant};
use record::{Mix, Run};

use crate::footnotes::Footnotes;
use crate::grid::Grid;
use crate::interval::half_share;
use crate::predict::head;
use crate::text::{Style, in_table};

/// The input of the split: one mix or two, on one run or two.
pub struct FactorsOf<'a> {
    /// The mix of each side. Both may be the same.
    pub mixes: [&'a Mix; 2],
    /// The run of each side. Both may be the same.
    pub runs: [&'a Run; 2],
    pub factors: &'a Factors,
    /// What changed for one mix; `None` for two.
    pub changes: Option<&'a MixChanges>,
}

/// The factors of a ratio, their product, the measured ratio, and the consequences.
pub fn factors(of: &FactorsOf, style: Style) -> String {
    let [first, second] = of.mixes;
    let mut page = if first == second {
        head(first, &of.runs, style)
    } else {
        let line = |letter: &str, mix: &Mix, run: &Run| format!("{letter}  {}", head(mix, &[run], style));
        line("A", first, of.runs[0]) + &line("B", second, of.runs[1])
    };
    if let Some(changes) = of.changes {
        page += &format!("\n{}", style.paragraph("", &sentence::sentence(&first.name, changes)));
    }
    page += &format!("\n{}", table(of.factors, style));
    let why = "A factor is what one family makes of the whole: below 1, B is the faster for it. Their product is exactly the ratio of the \
               two sums; +- is half the 95 % interval.";
    page += &style.aside("  ", why);
    if of.factors.families.iter().any(|factor| factor.cause == Cause::Clock) {
        let why = "Both runs know their clock, and it is one processor's: families are compared in cycles where they follow it, and what \
                   the clock makes of the same cycles is a factor of its own.";
        page += &style.aside("  ", why);
    }
    if first.unit != second.unit {
        return page;
    }
    page + &style.title("consequences") + &style.paragraphs("  ", consequences(of.factors))
}

fn table(factors: &Factors, style: Style) -> String {
    let two = factors.families.iter().any(|family| family.counts.is_some());
    let mut grid = Grid::new(if two { "<>>>>><" } else { "<>>><" }, [vec![3], vec![2]]);
    let mut notes = Footnotes::of(style);
    let mut titles = vec!["B over A", "time", "+-", "speed"];
    titles.extend(two.then_some(["by counts", "by prices"]).into_iter().flatten());
    grid.heading(titles);
    let mut row = |title: &str, factor: &Interval, split: Option<[&Interval; 2]>, doubts: String| {
        let speed = significant(1.0 / factor.value);
        let mut cells = vec![format!("  {title}"), significant(factor.value), half_share(factor), speed];
        if two {
            cells.extend(split.map_or(["", ""].map(String::from), |split| split.map(|of| significant(of.value))));
        }
        cells.push(doubts);
        grid.row(cells);
    };
    for family in &factors.families {
        let split = family.counts.as_ref().zip(family.prices.as_ref()).map(|(counts, prices)| [counts, prices]);
        row(&in_table(&family.family), &family.factor, split, notes.doubts(&family.doubts));
    }
    row("all of them: what the costs say", &factors.predicted, None, String::new());
    if let (Some(measured), Some(unexplained)) = (&factors.measured, &factors.unexplained) {
        row("what the costs do not explain", unexplained, None, String::new());
        row("measured", measured, None, String::new());
    }
    grid.render(style) + &notes.render()
}

/// Two machines are as good as each other if their ratio certainly lies between these values.
const AS_GOOD: (f64, f64) = (0.95, 1.05);

fn consequences(factors: &Factors) -> Vec<String> {
    let (ratio, how) = match &factors.measured {
        Some(measured) => (measured, "As measured"),
        None => (&factors.predicted, "By its costs"),
    };
    let users = |ratio: f64| scaled(1.0 / ratio, ["more users than", "fewer users than", "times as many users as"]);
    let cost = |ratio: f64| scaled(ratio, ["more than", "less than", "times as much as"]);
    let range = |of: &Interval| format!("between {} and {} times", significant(of.low), significant(of.high));
    let words = |of: &Interval| (users(of.value), cost(of.value), range(of));
    let (users, cost, range) = words(ratio);
    let mut sentences = vec![if !ratio.is_bounded() {
        format!(
            "{how}, a CPU of B carries {users} one of A, and a unit of work costs {cost} there; how sure that is cannot be determined, because a \
             cost has no interval."
        )
    } else if !holds_one(ratio) {
        let price = "at the same price per hour a unit of work costs";
        format!("{how}, a CPU of B carries {users} one of A, and {price} {cost} there.")
    } else if between(ratio, AS_GOOD, 0.0) == Answer::Yes {
        format!("{how}, B is as good as A to within 5 %: a unit of work takes {range} as long there.")
    } else {
        format!("{how}, which of the two is faster is inconclusive: a unit of work takes {range} as long on B as on A.")
    }];
    if let Some(unexplained) = &factors.unexplained {
        let (users, cost, range) = words(unexplained);
        sentences.push(if !unexplained.is_bounded() {
            "Whether that is what the costs promise cannot be determined: one of them has no interval.".into()
        } else if !holds_one(unexplained) {
            format!("That is {users} the costs promise, and a unit of work costs {cost} they promise.")
        } else if between(unexplained, AS_GOOD, 0.0) == Answer::Yes {
            "That is what the costs promise, to within 5 %.".into()
        } else {
            format!("Whether that is what the costs promise is inconclusive: it is {range} that.")
        });
    }
    sentences
}

fn holds_one(ratio: &Interval) -> bool {
    ratio.low <= 1.0 && ratio.high >= 1.0
}

/// A change in words: in percent, or as a multiple if it is more than a doubling or a halving.
fn scaled(factor: f64, [more, less, times]: [&str; 3]) -> String {
    match factor {
        1.0..=2.0 => format!("{} {more}", percent(factor - 1.0)),
        0.5..1.0 => format!("{} {less}", percent(1.0 - factor)),
        _ => format!("{} {times}", significant(factor)),
    }
}
