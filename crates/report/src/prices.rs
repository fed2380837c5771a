//! The price list: every cost of a run, its equivalents, and the reasons to trust it.

use analysis::Surroundings;
use analysis::reference::hold;
use record::units::{counted, grouped, payload_rate, rate, relative_width, significant};
use record::{Cost, Doubt, Hidden, Nanoseconds, Neighbours, Run, Skip};

use crate::accounts::accounts;
use crate::doubts::same_kind;
use crate::footnotes::Footnotes;
use crate::glance;
use crate::grid::{Grid, RowKind};
use crate::head::{beside, conditions, head_line};
use crate::skips::not_measured;
use crate::tails::tails;
use crate::text::{Style, in_table};

/// What a page shows a run beside.
#[derive(Clone, Copy, Default)]
pub struct PageView<'a> {
    /// What its findings are held against.
    pub around: Surroundings<'a>,
    /// A reference whose costs have a column of their own.
    pub against: Option<&'a Run>,
}

/// A whole run as a page, beside nothing.
pub fn page(run: &Run, style: Style) -> String {
    page_beside(run, &PageView::default(), style)
}

/// A whole run as a page: machine, prices by family, doubts, skips, findings. If it is of the headline operations, only the
/// costs that are wanted most, unless all are asked for.
pub fn page_beside(run: &Run, view: &PageView<'_>, style: Style) -> String {
    let before = style.fitted(&before(run, style));
    let after = style.fitted(&after(run, view.around, style));
    if run.costs.is_empty() {
        return format!("{before}nothing was measured\n{after}");
    }
    if style.is_full() || !glance::is_headline(run) {
        return before + &table(run, &Chosen::All, view.against, style) + &after;
    }
    let ranked = glance::ranked(run);
    let others = before.lines().count() + after.lines().count();
    let short = |count: usize| table(run, &Chosen::Most(&ranked[..count]), view.against, style);
    // Fewer costs have fewer notes, so the lines are counted anew for each.
    let most = ranked.len().min(glance::LINES);
    let counts = (glance::FEWEST..=most).rev();
    let table = counts.map(short).find(|table| others + table.lines().count() <= glance::LINES);
    before + &table.unwrap_or_else(|| short(glance::FEWEST.min(most))) + &after
}

fn before(run: &Run, style: Style) -> String {
    let mut page = head_line(run) + "\n";
    for source in sources(run) {
        page += &(style.dim(&style.paragraph("", source)) + "\n");
    }
    for conditions in [conditions(&run.noise), beside(run)] {
        if !conditions.is_empty() {
            page += &(style.dim(&conditions) + "\n");
        }
    }
    page + "\n"
}

fn after(run: &Run, around: Surroundings<'_>, style: Style) -> String {
    // A cost that the page shows is not among what was not measured, whatever became of a part of its rounds.
    let shown = |skip: &Skip| run.costs.iter().any(|cost| cost.operation == skip.operation && cost.at == skip.at);
    let skipped: Vec<Skip> = run.skipped.iter().filter(|skip| !shown(skip)).cloned().collect();
    let mut page = tails(run, style) + &accounts(run, style) + &not_measured(&skipped, style);
    let findings = analysis::findings(run, around);
    if !findings.is_empty() {
        page += &format!("\n{}\n", style.bold("findings"));
        for finding in findings {
            page += &style.paragraph("  ", &finding);
            page.push('\n');
        }
    }
    page
}

/// The costs that a table shows.
enum Chosen<'r> {
    All,
    Most(&'r [&'r Cost]),
}

impl Chosen<'_> {
    fn has(&self, cost: &Cost) -> bool {
        match self {
            Chosen::All => true,
            Chosen::Most(costs) => costs.iter().any(|shown| std::ptr::eq(*shown, cost)),
        }
    }
}

/// The prices, the notes on them, and what is not shown.
fn table(run: &Run, chosen: &Chosen, against: Option<&Run>, style: Style) -> String {
    let mut notes = Footnotes::of(style);
    if let Some(remedy) = narrowing(run) {
        notes.narrowed_by(remedy);
    }
    let text = prices(run, chosen, against, &mut notes).render(style) + &notes.render(style);
    let left = match chosen {
        Chosen::All => 0,
        Chosen::Most(costs) => run.costs.len() - costs.len(),
    };
    let more = match (left, notes.is_folded()) {
        (0, false) => return text,
        (0, true) => "each doubt in full: --all".into(),
        (left, _) => {
            format!("… {} and each doubt in full: --all, or howslow show @1 --all", counted(left as u64, "more cost"))
        }
    };
    text + &style.dim(&style.paragraph("  ", &more)) + "\n"
}

/// What narrows the intervals that are too wide, if the run knows.
fn narrowing(run: &Run) -> Option<String> {
    /// A run is not asked to take longer than this.
    const PATIENCE: f64 = 300.0;
    let whole = run.settings.budget_s + run.noise.more?.seconds;
    if whole <= PATIENCE {
        return Some(format!("--budget {:.0}s would narrow them", (whole / 5.0).ceil() * 5.0));
    }
    let noisy = format!("this host is too noisy for that in {}", Nanoseconds(PATIENCE * 1e9));
    Some(match reached(run).filter(|&share| share > run.settings.precision) {
        Some(share) => {
            let share = format!("{:.0}%", share * 100.0);
            format!("{noisy}: ask for less, as nine in ten costs are within {share} (--precision {share})")
        }
        None => format!("{noisy}: run again when it is less loaded"),
    })
}

/// The precision that nine in ten costs of a run have, rounded up to one that people ask for; `None` if it is worse than 50 %.
fn reached(run: &Run) -> Option<f64> {
    const ASKED: [f64; 6] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5];
    let mut widths: Vec<f64> = run.costs.iter().filter_map(|cost| cost.half_width()).collect();
    widths.sort_by(f64::total_cmp);
    let width = *widths.get((widths.len() * 9 / 10).min(widths.len().saturating_sub(1)))?;
    ASKED.into_iter().find(|&share| width <= share)
}

/// The sources of a book's figures. A run's own figures need no source.
fn sources(run: &Run) -> &[String] {
    if run.is_book() { &run.settings.patterns } else { &[] }
}

fn prices(run: &Run, chosen: &Chosen, against: Option<&Run>, notes: &mut Footnotes) -> Grid {
    let block = run.block_move().map(|cost| cost.quoted().0).filter(|&block| block > 0.0);
    // The column is there if any row has it.
    let shown = || run.costs.iter().filter(|cost| chosen.has(cost));
    let hides =
        shown().any(|cost| cost.hidden.as_ref().is_some_and(|hidden| hidden.told().is_some_and(|it| it.0 > 0.0)));
    // What gives way on a narrow page: the rate with its payload, block moves, cycles, hidden time, neighbours.
    let mut dropped = match hides {
        true => vec![vec![7, 8], vec![6], vec![5], vec![4], vec![3]],
        false => vec![vec![6, 7], vec![5], vec![4], vec![3]],
    };
    let mut columns = if hides { "<>>>>>>>><" } else { "<>>>>>>><" }.to_string();
    if against.is_some() {
        columns.insert(1, '>');
        dropped.iter_mut().flatten().for_each(|column| *column += 1);
    }
    let mut grid = Grid::new(&columns, dropped);
    let titles = ["cost", "+-"]
        .into_iter()
        .chain(against.map(|_| "x ref"))
        .chain(["neighbours"])
        .chain(hides.then_some("hidden CPU"));
    let titles: Vec<&str> = titles.chain(["cycles", "block moves", "per second"]).collect();
    let title = |heading: &str| [heading].iter().chain(&titles).map(ToString::to_string).collect();
    let mut heading = None;
    if matches!(chosen, Chosen::Most(_)) {
        grid.add(RowKind::Heading, title("operation"));
    }
    for cost in shown() {
        if matches!(chosen, Chosen::All) && heading != Some(cost.heading()) {
            heading = Some(cost.heading());
            grid.add(RowKind::Heading, title(cost.heading()));
        }
        let mut row = row(cost, block, notes);
        if hides {
            row.insert(3, hidden(cost));
        }
        if let Some(reference) = against {
            row.insert(2, times_reference(cost, reference));
        }
        grid.add_cost(RowKind::Row, [format!("  {}", in_table(&cost.operation)), at(cost)], row);
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

/// How many times that of the reference a cost is; `-` if the intervals, the versions or a missing cost leave it open.
fn times_reference(cost: &Cost, reference: &Run) -> String {
    hold(cost, reference).ok().and_then(|held| held.text()).unwrap_or_else(|| "-".into())
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
    let shown = cost.doubts.iter().filter(|doubt| match doubt {
        // The row already says so.
        Doubt::AtMost { .. } => !cost.holds_zero(),
        // If the cost itself has the doubt, a part's doubt of the same kind needs no second sentence.
        Doubt::Inherited { doubt, .. } => !cost.doubts.iter().any(|own| same_kind(own, doubt)),
        _ => true,
    });
    notes.doubts(shown)
}
