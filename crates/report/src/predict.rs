//! A mix priced by one run or several side by side: families, operations, the sum beside the measured time, what-ifs.

use analysis::mix::Lack;
use analysis::predict::{Accuracy, MachineState, MixPrediction, PricedLine};
use analysis::statistics::Interval;
use analysis::whatif::{Supposed, changed_lines, known_change};
use record::units::{percent, rate, significant};
use record::{Doubt, Mix, Nanoseconds, Run, largest_first, typed_name};

use crate::footnotes::Footnotes;
use crate::grid::Grid;
use crate::head::head_line;
use crate::interval::{half_width, value_or_bound};
use crate::text::{Style, in_table, number};

/// A mix on one run.
pub struct Priced<'a> {
    pub run: &'a Run,
    /// The mix priced by it.
    pub prediction: &'a MixPrediction,
    /// The same with the suppositions applied.
    pub supposed: Option<MixPrediction>,
    /// The state of its prices.
    pub state: MachineState,
    /// Its total by the prices of the other state.
    pub otherwise: Option<Interval>,
}

/// The predicted time of one unit of a mix's work on each run.
pub fn predictions(mix: &Mix, priced: &[Priced], suppositions: &[Supposed], style: Style) -> String {
    let mut page = head(mix, &priced.iter().map(|pricing| pricing.run).collect::<Vec<_>>(), style);
    page += &format!("\n{}", families(priced, style));
    let mut footnotes = Footnotes::of(style);
    page += &format!("\n{}", operations(priced, &mut footnotes, style));
    page += &footnotes.render();
    page += &notes(priced, style);
    page += &format!("\n{}", seconds(mix, priced, style));
    let texts: Vec<&str> = suppositions.iter().map(|change| change.text.as_str()).collect();
    for (place, pricing) in priced.iter().enumerate() {
        if let Some(after) = &pricing.supposed {
            let title = format!("{}what if {}", label(place, priced.len()), texts.join(", "));
            page += &format!("\n{}", what_if(&mix.unit, &title, [pricing.prediction, after], style));
        }
    }
    page
}

/// The mix and the runs. Several runs get letters.
pub(crate) fn head(mix: &Mix, runs: &[&Run], style: Style) -> String {
    let mut page = style.bold(&format!("mix {}, per {}", mix.name, mix.unit)) + "\n";
    page += &style.asides("  ", mix.source.as_ref().map(|source| format!("counts: {source}")));
    for (place, run) in runs.iter().enumerate() {
        page += &format!("{}{}\n", label(place, runs.len()), head_line(run));
    }
    page
}

/// `A  `, `B  `; empty if there is only one run.
pub(crate) fn label(place: usize, of: usize) -> String {
    match u8::try_from(place) {
        _ if of < 2 => String::new(),
        Ok(place) if place < 26 => format!("{}  ", char::from(b'A' + place)),
        _ => format!("{}  ", place + 1),
    }
}

/// The heading of a run's columns.
fn columns(what: &str, priced: &[Priced]) -> Vec<String> {
    let titles = |place| match label(place, priced.len()).trim() {
        "" => [what.to_string(), "+-".into(), "share".into()],
        letter => [letter.to_string(), "+-".into(), "share".into()],
    };
    (0..priced.len()).flat_map(titles).collect()
}

/// On a narrow page the intervals of all runs give way, then the shares. `first` is the first column of the first run.
fn giving_way(first: usize, runs: usize) -> [Vec<usize>; 2] {
    let every = |column: usize| (0..runs).map(|run| first + 3 * run + column).collect();
    [every(1), every(2)]
}

fn families(priced: &[Priced], style: Style) -> String {
    let mut grid = Grid::new(&format!("<{}", ">>>".repeat(priced.len())), giving_way(1, priced.len()));
    grid.heading([vec!["families".into()], columns("together", priced)].concat());
    let all: Vec<_> = priced.iter().map(|pricing| pricing.prediction.families()).collect();
    let mut order: Vec<usize> = (0..all.first().map_or(0, Vec::len)).collect();
    largest_first(&mut order, |&one| all[0][one].total.figure().value);
    for place in order {
        let figures = all.iter().zip(priced).flat_map(|(families, pricing)| {
            let total = &families[place].total;
            let mut cells = cells(&total.figure(), pricing.prediction.share(total));
            if pricing.prediction.lacking.iter().any(|(line, _)| line.family == families[place].family) {
                cells[0] = format!("at least {}", cells[0]);
            }
            cells
        });
        grid.row([vec![format!("  {}", in_table(&all[0][place].family))], figures.collect()].concat());
    }
    grid.render(style)
}

fn operations(priced: &[Priced], notes: &mut Footnotes, style: Style) -> String {
    let one = priced.len() == 1;
    let mut grid = Grid::new(
        &format!("<>{}{}<", if one { ">" } else { "" }, ">>>".repeat(priced.len())),
        giving_way(if one { 3 } else { 2 }, priced.len()),
    );
    let mut titles = vec!["operations".to_string(), "times".into()];
    titles.extend(one.then(|| "each".to_string()));
    grid.heading([titles, columns("together", priced)].concat());
    let Some(first) = priced.first() else { return String::new() };
    let rows = &first.prediction.rows;
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let size = |place: usize| rows[place].total().figure().value;
    largest_first(&mut order, |&one| size(one));
    for place in order {
        let line = &rows[place].line;
        let mut row = vec![format!("  {}", in_table(&name(&rows[place]))), number(line.term.times)];
        let each = || if rows[place].by.is_none() { "-".into() } else { value_or_bound(&rows[place].each.figure()) };
        row.extend(one.then(each));
        for pricing in priced {
            let total = pricing.prediction.rows[place].total();
            if pricing.prediction.lacking.iter().any(|(lacking, _)| lacking == line) {
                row.extend(["lacking", "", ""].map(String::from));
            } else {
                row.extend(cells(&total.figure(), pricing.prediction.share(&total)));
            }
        }
        let doubts = |pricing: &Priced| pricing.prediction.rows[place].doubts.clone();
        row.push(doubted(priced, notes, &doubts));
        grid.row(row);
    }
    totals(&mut grid, priced, notes);
    grid.render(style)
}

/// The numbers of each run's doubts. With several runs, each has the run that it belongs to.
fn doubted(priced: &[Priced], notes: &mut Footnotes, doubts: &dyn Fn(&Priced) -> Vec<Doubt>) -> String {
    let numbers = priced.iter().enumerate().map(|(place, pricing)| {
        let label = label(place, priced.len());
        notes.labelled(label.trim(), &doubts(pricing))
    });
    numbers.filter(|numbers| !numbers.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The sum, the sum in the other state, the measured time, the residual, and how far the mix goes.
fn totals(grid: &mut Grid, priced: &[Priced], notes: &mut Footnotes) {
    let one = priced.len() == 1;
    let none = || vec!["-".to_string(), String::new(), String::new()];
    let whole = |title: &str, of: &dyn Fn(&Priced) -> Vec<String>| {
        let start = [vec![format!("  {title}"), String::new()], vec![String::new(); usize::from(one)]].concat();
        [start, priced.iter().flat_map(of).collect()].concat()
    };
    let state = priced.first().map_or(MachineState::Quiet, |pricing| pricing.state);
    // A book has one state only, which it does not name.
    let books = priced.iter().all(|pricing| pricing.run.is_published());
    let title = if books { "sum".into() } else { format!("sum, by {} prices", state.word()) };
    let mut row = whole(&title, &|pricing| {
        let total = pricing.prediction.total();
        let mut row = cells(&total.figure(), pricing.prediction.share(&total));
        if !pricing.prediction.lacking.is_empty() {
            row[0] = format!("at least {}", row[0]);
        }
        row
    });
    row.push(doubted(priced, notes, &|pricing| pricing.prediction.doubts()));
    grid.row(row);
    if priced.iter().any(|pricing| pricing.otherwise.is_some()) {
        let other = if state == MachineState::Quiet { MachineState::Typical } else { MachineState::Quiet };
        let title = format!("sum, by {} prices", other.word());
        grid.row(whole(&title, &|pricing| pricing.otherwise.map_or_else(none, |total| cells(&total, None))));
    }
    if priced.iter().any(|pricing| pricing.prediction.measured.is_some()) {
        let measured = |pricing: &Priced| pricing.prediction.measured.map_or_else(none, |whole| cells(&whole, None));
        grid.row(whole("measured", &measured));
        grid.row(whole("residual, of what was measured", &|pricing| {
            let residual = pricing.prediction.residual().zip(pricing.prediction.measured);
            residual.map_or_else(none, |(left, whole)| signed(&left, Some(left.value / whole.value)))
        }));
    }
    if priced.iter().any(|pricing| pricing.prediction.accuracy.is_some()) {
        let known = |pricing: &Priced| {
            pricing.prediction.accuracy.map_or_else(none, |_| cells(&pricing.prediction.figure(), None))
        };
        grid.row(whole("sum, as far as the mix goes", &known));
    }
}

/// The line as the mix writes it, with the whole point if the mix leaves it to the run.
fn name(row: &PricedLine) -> String {
    match &row.by {
        Some(by) if by.operation == row.line.term.operation => format!("{} {}", by.operation, by.at.values()),
        _ => format!("{} {}", row.line.term.operation, row.line.term.at.values()),
    }
    .trim_end()
    .into()
}

/// A figure, half its interval, and its share.
fn cells(figure: &Interval, share: Option<f64>) -> Vec<String> {
    vec![value_or_bound(figure), half_width(figure), share.map_or_else(String::new, percent)]
}

/// As [`cells`], for values that may be negative: it shows the interval and not its upper end.
fn signed(figure: &Interval, share: Option<f64>) -> Vec<String> {
    let half = figure.bounded_half().map_or_else(|| "-".into(), |half| Nanoseconds(half).to_string());
    vec![Nanoseconds(figure.value).to_string(), half, share.map_or_else(String::new, percent)]
}

/// Costs that are priced under another name, and missing costs.
fn notes(priced: &[Priced], style: Style) -> String {
    let mut page = String::new();
    for (place, pricing) in priced.iter().enumerate() {
        let label = label(place, priced.len());
        let renamed = |row: &PricedLine| {
            let by = row.by.as_ref().filter(|by| by.operation != row.line.term.operation)?;
            Some(format!("{} by {}", row.line.typed(), typed_name(&by.source.1)))
        };
        let renamed: Vec<String> = pricing.prediction.rows.iter().filter_map(renamed).collect();
        if !renamed.is_empty() {
            let renamed = renamed.join(", ");
            page += &style.aside("  ", &format!("{label}priced by names in common: {renamed}"));
        }
        page += &style.asides("  ", how_sure(pricing.prediction).iter().map(|text| format!("{label}{text}")));
        for (line, lack) in &pricing.prediction.lacking {
            let why = match lack {
                Lack::Missing(Some(reason)) => reason.as_str(),
                _ => "not in this run",
            };
            page += &style.aside("  ", &format!("{label}lacking: {}: {why}", line.typed()));
        }
    }
    page
}

/// Why a prediction has no interval, and what widens it.
fn how_sure(prediction: &MixPrediction) -> Vec<String> {
    let total = prediction.total();
    let without_interval: Vec<_> = total.unbounded().map(|(_, name)| typed_name(name)).collect();
    let mut texts = Vec::new();
    if !without_interval.is_empty() {
        texts.push(format!("the sum has no interval, because these costs have none: {}", without_interval.join(", ")));
    }
    if let Some(accuracy) = prediction.accuracy {
        let where_else = match accuracy {
            Accuracy::Here(_) => String::new(),
            Accuracy::Elsewhere(_) => {
                format!(", and what may differ on another machine: {} of the sum together", percent(accuracy.share()))
            }
        };
        texts.push(format!(
            "where it was measured, the mix left out, or had too much, {} of the sum: as far as the mix goes, the interval holds that \
             too{where_else}",
            percent(accuracy.left_out())
        ));
    }
    texts
}

/// How many units a second holds.
fn seconds(mix: &Mix, priced: &[Priced], style: Style) -> String {
    let mut grid = Grid::new("<>>>>", [vec![3], vec![2]]);
    grid.heading(["a second holds", "one after another", "CPU time each", "waiting each", "on a CPU that never waits"]);
    for (place, pricing) in priced.iter().enumerate() {
        let most = if pricing.prediction.lacking.is_empty() { "" } else { "at most " };
        let all = format!("{most}{}", rate(Nanoseconds(pricing.prediction.total().figure().value)));
        let split = pricing.prediction.split().map(|split| {
            let wait = if split.wait < 0.0 { "-".into() } else { Nanoseconds(split.wait).to_string() };
            [Nanoseconds(split.cpu).to_string(), wait, rate(Nanoseconds(split.cpu))]
        });
        let split = split.unwrap_or_else(|| ["not told", "not told", "-"].map(String::from));
        let title = format!("  {}{}s", label(place, priced.len()), mix.unit);
        grid.row([vec![title, all], split.to_vec()].concat());
    }
    grid.render(style)
}

/// The effect of the suppositions on their lines and on the whole.
fn what_if(unit: &str, title: &str, [before, after]: [&MixPrediction; 2], style: Style) -> String {
    let mut grid = Grid::new("<>>>>><", [vec![1], vec![2]]);
    let mut notes = Footnotes::of(style);
    grid.heading(["", "times", "before", "after", "change", ""]);
    for (row, changed) in changed_lines(before, after) {
        let (from, to) = (row.total(), changed.total());
        let change = to.clone().plus(-1.0, &from).figure();
        let mut figures = [from.figure(), to.figure(), change].map(|figure| Nanoseconds(figure.value).to_string());
        if row.by.is_none() {
            (figures[0], figures[2]) = ("-".into(), String::new());
        }
        let start = vec![format!("  {}", in_table(&name(row))), number(row.line.term.times)];
        let doubts = vec![String::new(), notes.doubts(&changed.doubts)];
        grid.row([start, figures.to_vec(), doubts].concat());
    }
    let change = known_change(after, before).map(|change| change.figure());
    let mut whole = |title: String, [from, to]: [f64; 2], lacking: [bool; 2]| {
        // Parts have no ratio.
        let has_ratio = lacking == [false; 2] && from > 0.0 && to > 0.0;
        let faster = if has_ratio { format!("{} times as fast", significant(from / to)) } else { String::new() };
        let bound = |ns: f64, lacking| format!("{}{}", if lacking { "at least " } else { "" }, Nanoseconds(ns));
        let change = change.map_or_else(String::new, |change| Nanoseconds(change.value).to_string());
        grid.row(vec![title, String::new(), bound(from, lacking[0]), bound(to, lacking[1]), change, faster]);
    };
    let both = [before, after];
    let totals = both.map(|prediction| prediction.total().figure().value);
    whole(format!("  one {unit}"), totals, both.map(|prediction| !prediction.lacking.is_empty()));
    let measured =
        before.measured.zip(change).map(|(measured, change)| [measured.value, measured.value + change.value]);
    let is_possible = |times: &[f64; 2]| times[1] > 0.0;
    if let Some(times) = measured.filter(is_possible) {
        whole(format!("  one {unit}, as measured"), times, [false; 2]);
    }
    let impossible = measured.is_some_and(|times| !is_possible(&times));
    let impossible = if impossible { "  the costs that change are more than what was measured\n" } else { "" };
    let title = style.headline(title);
    // A supposed time is exact. A change in proportion to a cost has the uncertainty of the cost.
    let open = match change.map(|change| change.bounded_half()) {
        Some(None) => style.dim("  the change has no interval") + "\n",
        None | Some(Some(0.0)) => String::new(),
        Some(Some(half)) => style.dim(&format!("  the change is known to +- {}", Nanoseconds(half))) + "\n",
    };
    format!("{title}{}{open}{}{}", grid.render(style), style.dim(impossible), notes.render())
}
