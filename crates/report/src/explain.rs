//! What costs consist of: derived costs with their routes, and costs beside the parts that explain them.

use analysis::derived::{AGREE, Derived, EntryShare};
use analysis::explain::Explanation;
use analysis::memory::memory;
use analysis::statistics::{Interval, median, quantile, sorted};
use record::units::{percent, significant};
use record::{Run, typed_name};

use crate::footnotes::Footnotes;
use crate::grid::{Grid, NOTHING, RowKind};
use crate::head::head_line;
use crate::interval::{half_width, value_or_bound};
use crate::text::{Style, number};

/// Shares of the bare entry that a page shows at each end.
const ENDS: usize = 5;

/// All explanations of a run: derived costs, the kernel entry's share, and how much of each cost is explained.
pub fn explained(
    run: &Run,
    derived: &[Derived],
    shares: &[EntryShare],
    explanations: &[Explanation],
    style: Style,
) -> String {
    let mut page = head_line(run) + "\n\n";
    let mut notes = Footnotes::of(style);
    page += &derived_costs(derived, &mut notes, style);
    page += &entry(shares, &mut notes, style);
    page += &memory(run).map(|found| crate::memory::memory(&found, &mut notes, style)).unwrap_or_default();
    page += &style.title("costs beside their parts, the least explained first");
    if explanations.is_empty() {
        return page + "  no cost of this run names its parts\n" + &notes.render();
    }
    let mut grid = Grid::new("<>>>><", [vec![2], vec![4]]);
    grid.heading(["", "cost", "parts", "residual", "of it"]);
    for explanation in explanations {
        let lacks = if explanation.parts.iter().any(|part| part.total.is_none()) { " (a part is missing)" } else { "" };
        let [whole, sum, residual] = [&explanation.whole, &explanation.sum, &explanation.residual].map(value_or_bound);
        let share = explanation.residual_share.map_or_else(|| "-".into(), percent);
        let name = format!("  {}{lacks}", typed_name(&explanation.name));
        grid.row([name, whole, sum, residual, share, notes.doubts(&explanation.residual_doubts)]);
    }
    page + &grid.render(style) + &notes.render()
}

/// Costs with every part, their sum and the residual.
pub fn explanations(run: &Run, explanations: &[Explanation], style: Style) -> String {
    let mut page = head_line(run) + "\n";
    let mut notes = Footnotes::of(style);
    for explanation in explanations {
        let mut grid = Grid::new("<>>>><", [vec![3], vec![1]]);
        let name = typed_name(&explanation.name);
        grid.heading([name.as_ref(), "each", "together", "+-", "share"]);
        for part in &explanation.parts {
            let name = format!("  {} x {}{}", number(part.term.times), part.term.operation, part.term.at.typed());
            let cells = match (part.each, part.total) {
                (Some(each), Some(total)) => line(explanation, name, value_or_bound(&each), &total),
                _ => vec![name, "not in this run".into(), "-".into(), String::new(), "-".into()],
            };
            grid.row([cells, vec![notes.doubts(&part.doubts)]].concat());
        }
        let last = |title: &str, of: &Interval| line(explanation, format!("  {title}"), String::new(), of);
        grid.row(last("sum of the parts", &explanation.sum));
        let residual = last("residual", &explanation.residual);
        grid.row([residual, vec![notes.doubts(&explanation.residual_doubts)]].concat());
        grid.row([last("the cost", &explanation.whole), vec![notes.doubts(&explanation.doubts)]].concat());
        page += &format!("\n{}", grid.render(style));
        page += &style.asides("  ", Some(&explanation.summary).filter(|summary| !summary.is_empty()));
    }
    page + &notes.render()
}

/// Derived costs: every route with its figure or what it lacks, and how far the routes agree.
fn derived_costs(derived: &[Derived], notes: &mut Footnotes, style: Style) -> String {
    let mut grid = Grid::new("<>><", NOTHING);
    for cost in derived {
        grid.heading([cost.name.as_str(), "cost", "+-"]);
        for followed in &cost.routes {
            let ([figure, width], how) = match &followed.figure {
                Ok(figure) => ([value_or_bound(figure), half_width(figure)], followed.route.short_formula()),
                Err(missing) => (["-".into(), "-".into()], format!("not in this run: {}", missing.join(", "))),
            };
            let doubts = if followed.figure.is_ok() { notes.doubts(&followed.doubts) } else { String::new() };
            grid.row([format!("  {}", followed.route.name), figure, width, doubts]);
            grid.add(RowKind::Aside, [format!("    {how}")]);
        }
        grid.add(RowKind::Aside, [format!("  {}", agreement(cost))]);
    }
    grid.render(style)
}

fn agreement(derived: &Derived) -> String {
    let figures = derived.routes.iter().filter(|route| route.figure.is_ok()).count();
    match derived.agreement {
        Some(found) => format!(
            "routes agree to a factor of {AGREE}: {} ({}; intervals {})",
            found.agree.word(),
            significant(found.ratio),
            if found.overlap { "overlap" } else { "do not overlap" }
        ),
        None if derived.routes.len() == 1 => "one route only: nothing to agree with".into(),
        None if figures < 2 => "fewer than two routes were measured: nothing to agree with".into(),
        None => "a route cannot be distinguished from zero, so there is no answer".into(),
    }
}

/// The share of the bare kernel entry, of at most the cheapest call: a line for all calls, and the calls at either end.
fn entry(shares: &[EntryShare], notes: &mut Footnotes, style: Style) -> String {
    let all = sorted(shares.iter().map(|share| share.share.value));
    let (Some(middle), Some(low), Some(high)) =
        (median(all.iter().copied()), quantile(&all, 0.25), quantile(&all, 0.75))
    else {
        return String::new();
    };
    let mut grid = Grid::new("<>><", NOTHING);
    grid.heading(["the bare kernel entry's share", "share", "+-"]);
    let mut row = |share: &EntryShare| {
        let times = if share.entries == 1.0 { String::new() } else { format!(" ({} entries)", share.entries) };
        let half = share.share.bounded_half().map_or_else(|| "-".into(), percent);
        let name = format!("  {}{times}", typed_name(&share.name));
        [name, percent(share.share.value), half, notes.doubts(&share.doubts)]
    };
    let hidden = shares.len().saturating_sub(2 * ENDS);
    for (index, share) in shares.iter().enumerate() {
        if hidden > 0 && index == ENDS {
            grid.add(RowKind::Aside, [format!("  ... {hidden} more ...")]);
        }
        if hidden == 0 || index < ENDS || index >= ENDS + hidden {
            grid.row(row(share));
        }
    }
    let ([low, middle, high], count) = ([low, middle, high].map(percent), shares.len());
    let entry = typed_name(&shares[0].entry);
    let summary = format!(
        "half of the {count} calls spend between {low} and {high} of their time on it, the middle one {middle}; \
         the cheapest call stands for it, {entry}"
    );
    format!("\n{}{}", grid.render(style), style.aside("  ", &summary))
}

fn line(explanation: &Explanation, name: String, each: String, of: &Interval) -> Vec<String> {
    vec![name, each, value_or_bound(of), half_width(of), explanation.share(of).map_or_else(|| "-".into(), percent)]
}
