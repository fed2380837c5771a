//! The pages of prefetch: the result of a sweep beside the arithmetic, and advice on one file.

use analysis::prefetch::{
    Advice, Candidate, FormulaVerdict, Inputs, MeasuredRates, PageLatency, Recommended, Tuning, Window,
};
use analysis::statistics::{median, sorted};
use record::units::{binary, counted, percent, significant};
use record::{Bytes, Nanoseconds, largest_first};

use crate::grid::{Grid, NOTHING, inner};
use crate::text::Style;

/// The sweep over a file.
pub fn tuning(tuning: &Tuning, style: Style) -> String {
    let mut text = format!(
        "{}: {}, {} passes over {}, cold\n\n",
        style.bold(&tuning.path),
        size(tuning.file_bytes),
        tuning.passes,
        size(tuning.pass_bytes)
    );
    text += &measured(&tuning.latency, &tuning.inputs, style);
    text += &style.title("MB/s by bytes ahead (rows) and bytes at a time (columns)");
    text += &surface(tuning, style);
    text += &style.dim("* best  p the paper's arithmetic  s by saturation (on the nearest point)\n");
    text += &style.title("without explicit prefetch");
    text += &plain(&tuning.plain, style);
    text += &style.title("did the arithmetic find the best point?");
    text += &verdicts(tuning, style);
    text += &style.paragraph("recommended: ", &shown(tuning.recommended));
    text += &style.paragraphs("", &tuning.notes);
    let warm = Some(tuning.not_cold).filter(|passes| *passes > 0);
    let doubt = warm.map(|passes| {
        let passes = counted(passes, "pass");
        format!("{passes} began with pages of the file in memory, which makes figures too good.")
    });
    text + &style.paragraphs("doubt: ", doubt)
}

fn measured(latency: &PageLatency, inputs: &Inputs, style: Style) -> String {
    let [low, high] = latency.quartiles_ns;
    let how = if latency.direct { "past the page cache" } else { "through the page cache, put out before" };
    let mut grid = Grid::new("<<", NOTHING);
    let mut row = |name: &str, value: String| grid.row(vec![name.into(), value]);
    let [mean, middle, low, high] = [latency.mean_ns, latency.median_ns, low, high].map(Nanoseconds);
    let reads = latency.reads;
    row(
        "one cold read",
        format!("{mean} in the long run; median {middle}, half of them {low} to {high} ({reads} reads {how})"),
    );
    row("consumption", format!("{} MB/s (a pass in memory, added up)", rate(inputs.consumption)));
    if let Some(best) = inputs.best_rate() {
        row("device", format!("{} MB/s by the best size of single requests", rate(best)));
    }
    if let Some(most) = inputs.most {
        row("the kernel takes", format!("{} a request, and drops the rest", size(most)));
    }
    grid.render(style)
}

fn surface(tuning: &Tuning, style: Style) -> String {
    let mut grid = Grid::new(&">".repeat(tuning.quantities.len() + 1), inner(1, tuning.quantities.len()));
    let head = tuning.quantities.iter().map(|&quantity| size(quantity));
    grid.heading([String::new()].into_iter().chain(head));
    let found = tuning.verdicts.iter().map(|verdict| (nearest(tuning, verdict.window), &verdict.arithmetic[..1]));
    let places: Vec<(Window, &str)> = [(tuning.best, "*")].into_iter().chain(found).collect();
    for &distance in &tuning.distances {
        let cells = tuning.quantities.iter().map(|&quantity| {
            let here = Window { distance, quantity };
            let marks: String = places.iter().filter(|(place, _)| *place == here).map(|(_, mark)| *mark).collect();
            let tried = tuning.windows.iter().find(|tried| tried.of == here && !tried.rates.is_empty());
            tried.map_or_else(|| "-".into(), |tried| format!("{marks}{}", rate(tried.rate())))
        });
        grid.row([size(distance)].into_iter().chain(cells));
    }
    grid.render(style)
}

/// The point of the surface next to a window. Points are rounded and bounded.
fn nearest(tuning: &Tuning, window: Window) -> Window {
    let near = |values: &[u64], to: u64| {
        let apart = |value: u64| (value as f64 / to as f64).ln().abs();
        values.iter().copied().min_by(|&one, &other| apart(one).total_cmp(&apart(other))).unwrap_or(to)
    };
    Window { distance: near(&tuning.distances, window.distance), quantity: near(&tuning.quantities, window.quantity) }
}

fn plain(methods: &[MeasuredRates<String>], style: Style) -> String {
    let mut grid = Grid::new("<>", NOTHING);
    for method in methods {
        grid.row([&method.of, &format!("{} MB/s", rate(method.rate()))]);
    }
    grid.render(style)
}

fn verdicts(tuning: &Tuning, style: Style) -> String {
    let mut grid = Grid::new("<<<", NOTHING);
    grid.row(["best of the sweep", &shown(tuning.best)]);
    for verdict in &tuning.verdicts {
        let name = match verdict.arithmetic {
            "paper" => "latency x consumption",
            _ => "by saturation",
        };
        grid.row([name, &shown(verdict.window), &found(verdict)]);
    }
    grid.render(style)
}

fn found(verdict: &FormulaVerdict) -> String {
    let relative = verdict.relative_to_best;
    let word = match verdict.found {
        Some(true) => "found it",
        Some(false) => "missed it",
        None => "undecided",
    };
    let [ratio, low, high] = [relative.ratio, relative.low, relative.high].map(percent);
    format!("{word}: {ratio} of the best's rate ({low} to {high}, {} pairs in turns)", relative.pairs)
}

fn shown(window: Window) -> String {
    format!("{} at a time, {} ahead", size(window.quantity), size(window.distance))
}

/// Advice on one file.
pub fn advice(advice: &Advice, style: Style) -> String {
    let mut text =
        format!("{}: {}, read in {} order\n", style.bold(&advice.path), size(advice.file_bytes), advice.order);
    for state in &advice.states {
        text += &style.title(state.state);
        text += &recommended(state, style);
    }
    text.push('\n');
    if let (Some(latency), Some(inputs)) = (&advice.latency, &advice.inputs) {
        text += &measured(latency, inputs, style);
        text.push('\n');
    }
    text += &style.paragraphs("", &advice.notes);
    text
}

fn recommended(state: &Recommended, style: Style) -> String {
    let advice = match &state.method {
        Some(method) => style.paragraph("  read by ", &format!("{method}: {}", state.reason)),
        None => style.paragraph("  ", &state.reason),
    };
    let mut grid = Grid::new("<>>>", [vec![3], vec![2]]);
    grid.heading(["  method", "MB/s", "lowest to highest", "processor"]);
    let mut order: Vec<&Candidate> = state.candidates.iter().collect();
    let typical = |candidate: &Candidate| median(candidate.rates.iter().copied()).unwrap_or(-1.0);
    largest_first(&mut order, |one| typical(one));
    order.retain(|candidate| !candidate.rates.is_empty());
    for candidate in order {
        let mark = if state.method.as_ref() == Some(&candidate.method) { "> " } else { "  " };
        let rates = sorted(candidate.rates.iter().copied());
        let range = rates.first().zip(rates.last()).map(|(&low, &high)| format!("{} to {}", rate(low), rate(high)));
        let cells = [rate(typical(candidate)), range.unwrap_or_default(), percent(candidate.processor)];
        grid.row([format!("{mark}{}", candidate.method)].into_iter().chain(cells));
    }
    let skipped =
        state.candidates.iter().filter_map(|candidate| Some((&candidate.method, candidate.skipped.as_ref()?)));
    let skipped = skipped.map(|(method, reason)| format!("{method}: {reason}"));
    format!("{advice}\n{}{}", grid.render(style), style.paragraphs("  not here: ", skipped))
}

/// In MB/s, the unit of disk vendors.
fn rate(bytes_per_second: f64) -> String {
    significant(bytes_per_second / 1e6)
}

/// Exact if that is short. Files and their pieces are not always whole kibibytes.
fn size(bytes: u64) -> String {
    let exact = Bytes(bytes).to_string();
    if exact.len() <= 8 { exact } else { binary(bytes as f64) }
}

#[cfg(test)]
#[path = "prefetch/tests.rs"]
mod tests;
