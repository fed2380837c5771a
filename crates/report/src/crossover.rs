//! The page of a crossover: the answer in words, both costs at every number, and the chart of both.

use analysis::crossover::{CostsAt, Crossing, CrossoverAnswer, Side};
use analysis::statistics::{Interval, ratio};
use record::units::{binary, significant};
use record::{Bytes, Unit};

use crate::chart::{self, Chart, Series};
use crate::grid::Grid;
use crate::interval::{half_width, value_or_bound, with_ends};
use crate::text::Style;

/// A crossover as pages and documents show it.
#[derive(Clone, Debug)]
pub struct CrossoverShown<'a> {
    /// Both operations with the point of their other axes.
    pub names: [String; 2],
    pub axis: &'a str,
    /// What its numbers are.
    pub unit: Unit,
    /// What is compared: `time` or `processor time`.
    pub by: &'a str,
    /// Whether and where they cross.
    pub answer: &'a CrossoverAnswer,
    /// All that was measured, in the order of the numbers.
    pub points: &'a [CostsAt],
    /// What else is to be known: counts of the operations' own, points left out.
    pub notes: &'a [String],
}

impl CrossoverShown<'_> {
    /// The answer in one or more sentences.
    pub fn answer(&self) -> String {
        let name = |side: Side| &self.names[side.index()];
        let range = self.points.first().zip(self.points.last());
        let range = range.map_or_else(String::new, |(first, last)| {
            format!(" from {} to {}", self.number(first.at), self.number(last.at))
        });
        match self.answer {
            CrossoverAnswer::Once(crossing) => self.crossing(crossing),
            CrossoverAnswer::Several(all) => {
                let each: Vec<String> = all.iter().map(|crossing| self.crossing(crossing)).collect();
                format!("They cross {} times. {}", all.len(), each.join(" "))
            }
            CrossoverAnswer::Never { cheaper, trend } => {
                let beyond = trend.map_or_else(String::new, |trend| {
                    let near = self.number(trend);
                    format!(" If the trend at the end goes on, they cross near {near}, which was not measured.")
                });
                format!("They do not cross: {} takes less {}{range}.{beyond}", name(*cheaper), self.by)
            }
            CrossoverAnswer::Undecided { cheaper: Some((side, [low, high])) } => format!(
                "Undecided: {} takes less {} where the intervals tell, between {} and {}. A larger --budget makes them narrower.",
                name(*side),
                self.by,
                self.number(*low),
                self.number(*high)
            ),
            CrossoverAnswer::Undecided { cheaper: None } => {
                format!("Undecided: the intervals tell no difference{range}. A larger --budget makes them narrower.")
            }
        }
    }

    fn crossing(&self, crossing: &Crossing) -> String {
        let [below, above] = [crossing.below, crossing.below.other()].map(|side| &self.names[side.index()]);
        let Interval { value, low, high } = crossing.at;
        let [at, low, high] = [value, low, high].map(|number| self.number(number));
        format!("{below} takes less {} below {} = {at} ({low} to {high}), {above} above.", self.by, self.axis)
    }

    /// A number of the axis, also one between two that it takes.
    fn number(&self, number: f64) -> String {
        let whole = number.round();
        match self.unit {
            Unit::Bytes if whole < 8192.0 || (whole % 1024.0 == 0.0) => Bytes(whole as u64).to_string(),
            Unit::Bytes => binary(number),
            Unit::Count if number < 1000.0 => significant(number),
            Unit::Count => format!("{whole}"),
        }
    }

    /// Both costs by the number.
    pub fn chart(&self) -> Chart {
        let series = [0, 1].map(|side| {
            let points = self.points.iter().map(|point| (point.at, point.costs[side].value)).collect();
            let intervals = self.points.iter().map(|point| (point.costs[side].low, point.costs[side].high)).collect();
            Series::new(self.names[side].clone(), points).with_intervals(intervals)
        });
        let unit = if self.unit == Unit::Bytes { chart::Unit::Bytes } else { chart::Unit::Count };
        Chart {
            title: format!("{} and {} by {}", self.names[0], self.names[1], self.axis),
            x: chart::Axis::log(self.axis, unit),
            y: chart::Axis::log(self.by, chart::Unit::Nanoseconds),
            series: series.into(),
        }
    }
}

/// The page, with a chart of this width.
pub fn crossover(found: &CrossoverShown<'_>, width: usize, style: Style) -> String {
    let mut text = style.headline(&found.answer()) + "\n";
    let mut grid = Grid::new(">>>>>>", [vec![2, 4], vec![3]]);
    grid.heading([found.axis, &found.names[0], "+-", &found.names[1], "+-", "first over second"]);
    for point in found.points {
        let [one, other] = &point.costs;
        grid.row([
            found.number(point.at),
            value_or_bound(one),
            half_width(one),
            value_or_bound(other),
            half_width(other),
            over(*one, *other),
        ]);
    }
    text += &grid.render(style);
    text + &format!("\n{}", found.chart().text(width)) + &style.paragraphs("  ", found.notes)
}

fn over(one: Interval, other: Interval) -> String {
    ratio(one, other).map_or_else(|| "-".into(), |ratio| with_ends(&ratio, significant))
}
