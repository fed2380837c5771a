//! The ratio of two totals as factors, and what it means for users and for the cost of their work.

use analysis::factors::Factors;
use analysis::statistics::Interval;
use record::units::{percent, significant};
use record::{Mix, Run};

use crate::grid::{Grid, Kind};
use crate::predict::head;
use crate::{Style, in_table, paragraph};

/// What was split: one mix or two, on two runs or one.
pub struct FactorsOf<'a> {
    /// The mix of either side; the second may be the first.
    pub mixes: [&'a Mix; 2],
    /// The run of either side; the second may be the first.
    pub runs: [&'a Run; 2],
    /// The factors.
    pub factors: &'a Factors,
}

/// The factors of a ratio, their product, what it is held against, and the consequences.
pub fn factors(of: &FactorsOf, style: Style) -> String {
    let [first, second] = of.mixes;
    let mut page = if first == second {
        head(first, &of.runs, style)
    } else {
        let line = |letter: &str, mix: &Mix, run: &Run| format!("{letter}  {}", head(mix, &[run], style));
        line("A", first, of.runs[0]) + &line("B", second, of.runs[1])
    };
    page += &format!("\n{}", table(of.factors, style));
    let why = "A factor is what one family makes of the whole: below 1, B is the faster for it. Their product is exactly the ratio of the \
               two sums; +- is half the 95 % interval.";
    page += &(style.dim(&paragraph("  ", why)) + "\n");
    if first.unit != second.unit {
        return page;
    }
    page += &format!("\n{}\n", style.bold("consequences"));
    for text in consequences(of.factors) {
        page += &(paragraph("  ", &text) + "\n");
    }
    page
}

fn table(factors: &Factors, style: Style) -> String {
    let two = factors.families.iter().any(|family| family.counts.is_some());
    let mut grid = Grid::new(if two { "<>>>>>" } else { "<>>>" });
    let mut titles = vec!["B over A", "time", "+-", "speed"];
    titles.extend(two.then_some(["by counts", "by prices"]).into_iter().flatten());
    grid.add(Kind::Heading, titles.into_iter().map(String::from).collect());
    let mut row = |title: &str, factor: &Interval, split: Option<[&Interval; 2]>| {
        let speed = significant(1.0 / factor.value);
        let mut cells = vec![format!("  {title}"), significant(factor.value), percent(width(factor)), speed];
        if two {
            cells.extend(split.map_or(["", ""].map(String::from), |split| split.map(|of| significant(of.value))));
        }
        grid.add(Kind::Row, cells);
    };
    for family in &factors.families {
        let split = family.counts.as_ref().zip(family.prices.as_ref()).map(|(counts, prices)| [counts, prices]);
        row(&in_table(&family.family), &family.factor, split);
    }
    row("all of them: what the costs say", &factors.predicted, None);
    if let (Some(measured), Some(unexplained)) = (&factors.measured, &factors.unexplained) {
        row("what the costs do not explain", unexplained, None);
        row("measured", measured, None);
    }
    grid.render(style)
}

/// Half the interval over the figure.
fn width(of: &Interval) -> f64 {
    of.half() / of.value
}

fn consequences(factors: &Factors) -> Vec<String> {
    let (ratio, how) = match &factors.measured {
        Some(measured) => (measured, "As measured"),
        None => (&factors.predicted, "By its costs"),
    };
    let users = |ratio: f64| scaled(1.0 / ratio, ["more users than", "fewer users than", "times as many users as"]);
    let cost = |ratio: f64| scaled(ratio, ["more than", "less than", "times as much as"]);
    let mut told = Vec::new();
    if ratio.low <= 1.0 && ratio.high >= 1.0 {
        told.push(format!(
            "{how}, B cannot be told from A: neither the users it carries nor what their work costs changes."
        ));
    } else {
        let (users, cost) = (users(ratio.value), cost(ratio.value));
        let price = "at the same price per hour a unit of work costs";
        told.push(format!("{how}, a CPU of B carries {users} one of A, and {price} {cost} there."));
    }
    if let Some(unexplained) = &factors.unexplained {
        let agree = unexplained.low <= 1.0 && unexplained.high >= 1.0;
        let (users, cost) = (users(unexplained.value), cost(unexplained.value));
        told.push(if agree {
            "That is what the costs promise, within their intervals.".into()
        } else {
            format!("That is {users} the costs promise, and a unit of work costs {cost} they promise.")
        });
    }
    told
}

/// A change in words: in percent, or as a multiple where it is beyond doubling or halving.
fn scaled(factor: f64, [more, less, times]: [&str; 3]) -> String {
    match factor {
        1.0..=2.0 => format!("{} {more}", percent(factor - 1.0)),
        0.5..1.0 => format!("{} {less}", percent(1.0 - factor)),
        _ => format!("{} {times}", significant(factor)),
    }
}
