//! The price list: every cost of a run, its equivalents, and the reasons to trust it.

use record::units::{grouped, payload_rate, percent, rate, relative_width, significant};
use record::{Cost, Doubt, Hidden, Nanoseconds, Neighbours, Run, Skip};

use crate::accounts::accounts;
use crate::footnotes::Footnotes;
use crate::grid::{Grid, RowKind};
use crate::head::{beside, conditions, head_line};
use crate::tails::tails;
use crate::text::{Style, in_table};

/// A whole run as a page: machine, prices by family, doubts, skips, findings.
pub fn page(run: &Run, style: Style) -> String {
    let mut page = head_line(run) + "\n";
    for source in sources(run) {
        page += &(style.dim(&style.paragraph("", source)) + "\n");
    }
    for conditions in [conditions(&run.noise), beside(run)] {
        if !conditions.is_empty() {
            page += &(style.dim(&conditions) + "\n");
        }
    }
    page.push('\n');
    let mut notes = Footnotes::default();
    if run.costs.is_empty() {
        page += "nothing was measured\n";
    } else {
        page += &prices(run, &mut notes).render(style);
    }
    page += &notes.render(style);
    page += &more(run, style);
    page += &tails(run, style);
    page += &accounts(run, style);
    page += &not_measured(&run.skipped, style);
    let findings = analysis::findings(run);
    if !findings.is_empty() {
        page += &format!("\n{}\n", style.bold("findings"));
        for finding in findings {
            page += &style.paragraph("  ", &finding);
            page.push('\n');
        }
    }
    page
}

/// What more time would bring, if anything.
fn more(run: &Run, style: Style) -> String {
    let Some(more) = run.noise.more else { return String::new() };
    let costs = if more.costs == 1 { "1 cost is".into() } else { format!("{} costs are", more.costs) };
    let wanted = percent(run.settings.precision);
    /// Nobody waits longer than this. The machine must become quieter instead.
    const PATIENCE: f64 = 3600.0;
    let remedy = if more.seconds <= PATIENCE {
        format!("about {} more would narrow them (--budget)", Nanoseconds(more.seconds * 1e9))
    } else {
        "run again when the machine is less loaded".into()
    };
    let text = format!("{costs} wider than the {wanted} asked for; {remedy}");
    style.dim(&style.paragraph("  ", &text)) + "\n"
}

/// The sources of a book's figures. A run's own figures need no source.
fn sources(run: &Run) -> &[String] {
    if run.is_published() { &run.settings.patterns } else { &[] }
}

fn prices(run: &Run, notes: &mut Footnotes) -> Grid {
    let block = run.block_move().map(|cost| cost.quoted().0).filter(|&block| block > 0.0);
    // The column is there if any row has it.
    let hides = run.costs.iter().any(|cost| cost.hidden.is_some());
    // What gives way on a narrow page: the rate with its payload, block moves, cycles, hidden time, neighbours.
    let dropped = match hides {
        true => vec![vec![7, 8], vec![6], vec![5], vec![4], vec![3]],
        false => vec![vec![6, 7], vec![5], vec![4], vec![3]],
    };
    let mut grid = Grid::new(if hides { "<>>>>>>>><" } else { "<>>>>>>><" }).dropping(dropped);
    let mut heading = None;
    for cost in &run.costs {
        if heading != Some(cost.heading()) {
            heading = Some(cost.heading());
            let titles = ["cost", "+-", "neighbours"].into_iter().chain(hides.then_some("hidden CPU"));
            let titles = titles.chain(["cycles", "block moves", "per second"]);
            grid.add(RowKind::Heading, [cost.heading()].into_iter().chain(titles).map(String::from).collect());
        }
        let mut row = row(cost, block, notes);
        if hides {
            row.insert(3, hidden(cost));
        }
        // Id and point share a column, with the point at its right: long ids seldom have long points.
        grid.add_between(RowKind::Row, [format!("  {}", in_table(&cost.operation)), at(cost)], row);
    }
    grid
}

/// The point. If the figure is only a bound, also the words that say so.
fn at(cost: &Cost) -> String {
    let values = cost.at.values();
    if cost.holds_zero() { format!("{values} at most").trim_start().into() } else { values }
}

fn row(cost: &Cost, block: Option<f64>, notes: &mut Footnotes) -> Vec<String> {
    let none = || "-".to_string();
    let quoted = cost.quoted();
    let told = !cost.holds_zero();
    let worth = |value: Option<String>| value.filter(|_| told && quoted.0 > 0.0).unwrap_or_else(none);
    let payload = if cost.bytes.0 > 0 { worth(Some(payload_rate(cost.bytes, quoted))) } else { String::new() };
    vec![
        if told { quoted } else { cost.net_ns.high }.to_string(),
        worth(cost.half_width().map(relative_width)),
        cost.neighbours.as_ref().and_then(added).unwrap_or_else(none),
        worth((cost.cycles > 0.0).then(|| grouped(cost.cycles))),
        worth(block.map(|block| blocks(quoted.0 / block))),
        worth(Some(rate(quoted))),
        payload,
        footnotes(cost, notes),
    ]
}

/// Processor time that no task is charged for: empty if the operation cannot have any, `-` if it cannot be told.
fn hidden(cost: &Cost) -> String {
    let told = |hidden: &Hidden| {
        hidden.told().map_or("-".into(), |time| if time.0 == 0.0 { "0".into() } else { time.to_string() })
    };
    cost.hidden.as_ref().map_or_else(String::new, told)
}

/// What neighbours add, in whole percent. Empty if it cannot be determined: the interval contains 1 and much else.
fn added(neighbours: &Neighbours) -> Option<String> {
    /// An interval that reaches no further than this on either side shows that almost nothing is added.
    const NEAR: f64 = 0.05;
    let Neighbours { ratio, low, high } = *neighbours;
    let differs = low > 1.0 || high < 1.0;
    let near = low > 1.0 - NEAR && high < 1.0 + NEAR;
    let share = ((ratio - 1.0) * 100.0).round();
    // A minus before a zero means nothing.
    let text = || if share == 0.0 { "0 %".into() } else { format!("{share:+.0} %") };
    (ratio.is_finite() && (differs || near)).then(text)
}

pub(crate) fn blocks(times: f64) -> String {
    if times >= 99.95 { grouped(times) } else { significant(times) }
}

/// The numbers of the notes on a cost: `[1,3]`.
fn footnotes(cost: &Cost, notes: &mut Footnotes) -> String {
    let texts = cost.doubts.iter().filter_map(|doubt| match doubt {
        // The row already says so.
        Doubt::AtMost { .. } if cost.holds_zero() => None,
        // If the cost itself has the doubt, a part's doubt of the same kind needs no second sentence.
        Doubt::Inherited { doubt, .. } if cost.doubts.iter().any(|own| same_kind(own, doubt)) => None,
        doubt => Some(doubt.to_string()),
    });
    notes.refer(texts)
}

/// True if two doubts are of one kind, whatever their figures.
fn same_kind(one: &Doubt, other: &Doubt) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

fn not_measured(skipped: &[Skip], style: Style) -> String {
    if skipped.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}\n", style.bold("not measured here"));
    for skip in skipped {
        let why = if skip.remedy.is_empty() {
            skip.reason.clone()
        } else {
            format!("{}; to measure it: {}", skip.reason, skip.remedy)
        };
        text += &style.paragraph("  ", &format!("{}{}: {why}", skip.operation, skip.at));
        text.push('\n');
    }
    text
}
