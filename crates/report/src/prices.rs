//! The price list: every cost of a run, its equivalents, and the reasons to trust it.

use analysis::compare::conditions::{device_reach, waits_for_a_device};
use analysis::longer::{TIMES, shrunk};
use analysis::reference::hold;
use analysis::{Surroundings, by_key};
use record::units::{counted, grouped, payload_rate, rate, relative_width, significant};
use record::{Cost, Doubt, Hidden, Neighbours, Run, Skip};

use crate::accounts::accounts;
use crate::doubts::{same_kind, together};
use crate::footnotes::Footnotes;
use crate::glance;
use crate::grid::{Grid, RowKind};
use crate::head::{beside, conditions, head_line};
use crate::interval::range_of_wide;
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
    compared_page(run, &PageView::default(), style)
}

/// A whole run as a page: machine, prices by family, doubts, skips, findings. If it is of the headline operations, only the
/// costs that are wanted most, unless all are requested.
pub fn compared_page(run: &Run, view: &PageView<'_>, style: Style) -> String {
    let before = style.fitted(&before(run, view.around, style));
    let after = style.fitted(&after(run, style));
    if run.costs.is_empty() {
        return format!("{before}nothing was measured\n{after}");
    }
    let is_whole = style.is_full() || !glance::is_headline(run);
    let shown = if is_whole { run.costs.iter().collect() } else { glance::wanted(run) };
    before + &table(run, &shown, view.against, style) + &after
}

/// What matters most: the machine, how quiet it was, and what was found.
fn before(run: &Run, around: Surroundings<'_>, style: Style) -> String {
    let mut page = head_line(run) + "\n";
    // A run's own figures need no source.
    page += &style.asides("", run.settings.patterns.iter().filter(|_| run.is_book()));
    for conditions in [conditions(run), beside(run)] {
        if !conditions.is_empty() {
            page += &(style.dim(&conditions) + "\n");
        }
    }
    let findings = analysis::findings(run, around);
    if !findings.is_empty() {
        page += &style.title("findings");
        page += &style.paragraphs("  ", findings);
    }
    page + "\n"
}

fn after(run: &Run, style: Style) -> String {
    // A cost that the page shows is not among what was not measured, whatever became of a part of its rounds.
    let shown = |skip: &Skip| run.costs.iter().any(|cost| cost.operation == skip.operation && cost.at == skip.at);
    let skipped: Vec<Skip> = run.skipped.iter().filter(|skip| !shown(skip)).cloned().collect();
    tails(run, style) + &accounts(run, style) + &not_measured(&skipped, style)
}

/// The prices, the notes on them, and what is not shown. What nearly every row would have a note of stands once above them.
fn table(run: &Run, shown: &[&Cost], against: Option<&Run>, style: Style) -> String {
    let mut notes = Footnotes::of(style);
    let shared = if style.is_full() { Vec::new() } else { shared_doubts(shown) };
    let mut text = style.asides("", shared.iter().map(|(costs, doubts)| shared_doubt(doubts, *costs, run)));
    notes.leave_out(shared.iter().map(|(_, doubts)| doubts[0].clone()).collect());
    text += &(prices(run, shown, against, &mut notes).render(style) + &notes.render());
    let more = match (run.costs.len() - shown.len(), notes.is_folded() || !shared.is_empty()) {
        (0, false) => return text,
        (0, true) => "each doubt in full: --all".into(),
        (left, _) => {
            let left = counted(left as u64, "more cost");
            format!("… {left} and each doubt in full: --all, or, of a kept run, howslow show {} --all", run.id)
        }
    };
    text + &style.aside("  ", &more)
}

/// The doubts that most of these costs have, by kind, and those on wide intervals: the column of the widths shows each. Before
/// each kind, the number of costs that have it.
fn shared_doubts(shown: &[&Cost]) -> Vec<(usize, Vec<Doubt>)> {
    const MOST: f64 = 0.75;
    const FEWEST: usize = 4;
    let doubts = shown.iter().flat_map(|cost| &cost.doubts);
    let kinds = by_key(doubts.map(|doubt| (std::mem::discriminant(doubt), doubt.clone()))).into_iter();
    let has = |cost: &Cost, kind: &Doubt| cost.doubts.iter().any(|doubt| same_kind(doubt, kind));
    let costs = |kind: &Doubt| shown.iter().filter(|cost| has(cost, kind)).count();
    let kinds = kinds.map(|(_, doubts)| (costs(&doubts[0]), doubts));
    let is_shared = |(costs, doubts): &(usize, Vec<Doubt>)| match doubts[0] {
        Doubt::Wide { .. } => true,
        Doubt::Inherited { .. } => false,
        _ => *costs >= FEWEST && *costs as f64 >= MOST * shown.len() as f64,
    };
    kinds.filter(is_shared).collect()
}

/// A doubt of many costs in one sentence; of wide intervals, with what a longer run would bring.
fn shared_doubt(doubts: &[Doubt], costs: usize, run: &Run) -> String {
    let text = together(doubts, costs);
    let wide = matches!(doubts[0], Doubt::Wide { .. });
    match (narrowing(run).filter(|_| wide), text.rsplit_once("; ")) {
        (Some(remedy), Some((sentence, _))) => format!("{sentence}; {remedy}"),
        _ => text,
    }
}

/// What a longer run would bring, computed from the rounds of this one.
fn narrowing(run: &Run) -> Option<String> {
    /// An interval of this share distinguishes one machine from another, and shows a change that matters.
    const NEAR: f64 = 0.05;
    let (near, wide): (Vec<&Cost>, Vec<&Cost>) =
        run.costs.iter().partition(|cost| cost.half_width().is_some_and(|half| half <= NEAR));
    let parts: Vec<(f64, [f64; TIMES.len()])> =
        wide.iter().filter_map(|cost| Some((cost.half_width()?, shrunk(run, cost)?))).collect();
    let count = |place: usize| near.len() + parts.iter().filter(|(half, parts)| half * parts[place] <= NEAR).count();
    let most = count(TIMES.len() - 1);
    // The shortest that brings nearly as much as the longest.
    let gained = |place: usize| (count(place) - near.len()) as f64 >= 0.8 * (most - near.len()) as f64;
    let place = (0..TIMES.len()).find(|place| gained(*place)).filter(|_| most > near.len())?;
    Some(format!(
        "--budget {:.0}s would bring {} of {} within {:.0} % (now {})",
        run.settings.budget_s * f64::from(TIMES[place]),
        count(place),
        counted(run.costs.len() as u64, "cost"),
        NEAR * 100.0,
        near.len()
    ))
}

fn prices(run: &Run, shown: &[&Cost], against: Option<&Run>, notes: &mut Footnotes) -> Grid {
    let block = run.block_move().map(|cost| cost.quoted().0).filter(|&block| block > 0.0);
    // The column is there if any row has it.
    let hides = shown.iter().filter_map(|cost| cost.hidden.as_ref()?.known()).any(|time| time.0 > 0.0);
    let titles = ["cost", "+-"].into_iter().chain(against.map(|_| "x ref")).chain(["neighbours"]);
    let titles = titles.chain(hides.then_some("hidden CPU")).chain(["cycles", "block moves", "per second"]);
    let titles: Vec<&str> = titles.collect();
    // What gives way on a narrow page: the rate with its payload, then those before it down to the neighbours.
    let (neighbours, rate) = (if against.is_some() { 4 } else { 3 }, titles.len());
    let dropped = (neighbours..rate).rev().map(|column| vec![column]);
    let sides = format!("<{}<", ">".repeat(rate + 1));
    let mut grid = Grid::new(&sides, [vec![rate, rate + 1]].into_iter().chain(dropped));
    let is_whole = shown.len() == run.costs.len();
    let mut heading = None;
    for cost in shown {
        let above = if is_whole { cost.heading() } else { "operation" };
        if heading != Some(above) {
            heading = Some(above);
            grid.heading([above].iter().chain(&titles).copied());
        }
        let [figure, width, neighbours, cycles, blocks, rate, payload] = row(cost, block);
        let mut cells = vec![figure, width];
        cells.extend(against.map(|reference| times_reference(cost, reference)));
        cells.push(neighbours);
        cells.extend(hides.then(|| hidden(cost)));
        cells.extend([cycles, blocks, rate, payload, footnotes(run, cost, notes)]);
        grid.add_cost(RowKind::Row, [format!("  {}", in_table(&cost.operation)), at(cost)], cells);
    }
    grid
}

/// The point. If the figure is only a bound, also the words for that.
fn at(cost: &Cost) -> String {
    let values = cost.at.values();
    if cost.holds_zero() { format!("{values} at most").trim_start().into() } else { values }
}

/// Figure, half its interval, neighbours, cycles, block moves, rate and payload of a cost.
pub(crate) fn row(cost: &Cost, block: Option<f64>) -> [String; 7] {
    let none = || "-".to_string();
    let quoted = cost.quoted();
    let bound = (!cost.holds_zero()).then(|| range_of_wide(&cost.net_ns)).flatten();
    let is_known = !cost.holds_zero() && bound.is_none();
    let worth = |value: Option<String>| value.filter(|_| is_known && quoted.0 > 0.0).unwrap_or_else(none);
    let payload = if cost.bytes.0 > 0 { worth(Some(payload_rate(cost.bytes, quoted))) } else { String::new() };
    let figure = if cost.holds_zero() { cost.net_ns.high } else { quoted };
    [
        bound.clone().unwrap_or_else(|| figure.to_string()),
        if bound.is_some() { String::new() } else { worth(cost.half_width().map(relative_width)) },
        cost.neighbours.as_ref().and_then(added).unwrap_or_else(none),
        worth((cost.cycles > 0.0).then(|| grouped(cost.cycles))),
        worth(block.map(|block| blocks(quoted.0 / block))),
        worth(Some(rate(quoted))),
        payload,
    ]
}

/// How many times that of the reference a cost is; `-` if the intervals, the versions or a missing cost leave it open.
pub(crate) fn times_reference(cost: &Cost, reference: &Run) -> String {
    hold(cost, reference).ok().and_then(|held| held.text()).unwrap_or_else(|| "-".into())
}

/// Processor time that no task is charged for: empty if the operation cannot have any, `-` if it is not known.
fn hidden(cost: &Cost) -> String {
    let text = |hidden: &Hidden| {
        hidden.known().map_or("-".into(), |time| if time.0 == 0.0 { "0".into() } else { time.to_string() })
    };
    cost.hidden.as_ref().map_or_else(String::new, text)
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
fn footnotes(run: &Run, cost: &Cost, notes: &mut Footnotes) -> String {
    let shown = cost.doubts.iter().filter(|doubt| match doubt {
        // The row already shows it.
        Doubt::AtMost { .. } => !cost.holds_zero(),
        // If the cost itself has the doubt, a part's doubt of the same kind needs no second sentence.
        Doubt::Inherited { doubt, .. } => !cost.doubts.iter().any(|own| same_kind(own, doubt)),
        _ => true,
    });
    let texts = crate::levels::sentence(cost).into_iter().chain(of_device(run, cost));
    notes.doubts_and(shown, texts)
}

/// What the interval of a wait for a guest's device does not hold.
pub(crate) fn of_device(run: &Run, cost: &Cost) -> Option<String> {
    let reach = device_reach(run);
    let is_shared = reach > 0.0 && waits_for_a_device(cost);
    is_shared.then(|| {
        format!(
            "waits for a guest's device, which others use: the interval is that of this run; another run may find it {:.1} times as fast \
             or slow",
            reach.exp()
        )
    })
}

#[cfg(test)]
mod tests {
    use record::{Estimate, Figures, Nanoseconds};

    use super::*;

    #[test]
    fn the_interval_of_a_wait_for_a_guests_device_is_that_of_one_state() {
        let cost = Cost {
            operation: "file.fsync".into(),
            headline: Estimate::Typical,
            gross_ns: Figures { typical: Nanoseconds(200_000.0), ..Figures::default() },
            wait_ns: Nanoseconds(150_000.0),
            ..Cost::default()
        };
        let mut run = Run::default();
        assert_eq!(of_device(&run, &cost), None);
        run.machine.virtualization.hypervisor = Some("KVM".into());
        assert!(of_device(&run, &cost).is_some_and(|text| text.contains("1.8 times as fast or slow")));
        let works = Cost { wait_ns: Nanoseconds(50_000.0), ..cost };
        assert_eq!(of_device(&run, &works), None);
    }
}
