//! A run's view of its machine's memory: levels, translation, bandwidth, load, and the demand of a processor.

use analysis::memory::{
    Bandwidth, Demand, Levels, Limit, Loaded, MemoryHierarchy, SharedRate, Translation, VAX, VAX_RATE,
};
use analysis::statistics::Interval;
use record::Bytes;
use record::units::{percent, significant};

use crate::footnotes::Footnotes;
use crate::grid::Grid;
use crate::interval::{half_width, value_or_bound};
use crate::text::Style;

/// Miss rates for which speeds are shown.
const MISSES: [f64; 8] = [0.0, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5];

/// The section on memory in the explanation of a run.
pub(crate) fn memory(memory: &MemoryHierarchy, notes: &mut Footnotes, style: Style) -> String {
    let parts = [
        levels(&memory.levels, notes, style),
        translation(&memory.translation, notes, style),
        bandwidth(&memory.bandwidth, notes, style),
        loaded(&memory.loaded, notes, style),
        memory.demand.as_ref().map(|found| demand(found, notes, style)).unwrap_or_default(),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { String::new() } else { format!("\n{}", parts.join("\n")) }
}

fn levels(levels: &Levels, notes: &mut Footnotes, style: Style) -> String {
    if levels.found.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new("<>>>>><", [vec![3], vec![5], vec![2]]);
    grid.heading(["memory: levels", "load", "+-", "cycles", "sets", "declared"]);
    for level in &levels.found {
        let from = if level.from == level.to { String::new() } else { format!("{} to ", Bytes(level.from)) };
        let sets = format!("{from}{}", Bytes(level.to));
        let declared = level.declared.map_or_else(|| "-".into(), |size| Bytes(size).to_string());
        let (load, half) = (value_or_bound(&level.latency), half_width(&level.latency));
        let (name, cycles) = (format!("  {}", level.name), significant(level.cycles));
        grid.row([name, load, half, cycles, sets, declared, notes.doubts(&level.doubts)]);
    }
    grid.render(style) + &style.asides("  ", &levels.disagreements)
}

fn translation(all: &[Translation], notes: &mut Footnotes, style: Style) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new("<>>>>>><", [vec![6], vec![3], vec![5]]);
    grid.heading(["memory: translation", "base pages", "huge pages", "packed", "translation", "+-", "of it"]);
    for cost in all {
        let part = if cost.share.holds_zero() { String::new() } else { percent(cost.share.value / cost.base.value) };
        let packed = cost.packed.as_ref().map_or_else(String::new, value_or_bound);
        let [base, huge, share] = [&cost.base, &cost.huge, &cost.share].map(value_or_bound);
        let (name, half, doubts) = (format!("  {}", cost.at), half_width(&cost.share), notes.doubts(&cost.doubts));
        grid.row([name, base, huge, packed, share, half, part, doubts]);
    }
    grid.render(style)
}

fn bandwidth(all: &[Bandwidth], notes: &mut Footnotes, style: Style) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new("<><>>>><", [vec![2], vec![5], vec![3]]);
    grid.heading(["memory: bandwidth", "set", "level", "CPUs", "GB/s", "+-", "times one CPU"]);
    for figure in all {
        let scaling = figure.scaling.map(|scaling| significant(scaling.value)).unwrap_or_default();
        let [rate, half] = [figure.rate.value, figure.rate.half()].map(significant);
        let (name, set, cpus) =
            (format!("  {}", figure.operation), Bytes(figure.set).to_string(), figure.cpus.to_string());
        grid.row([&name, &set, &figure.level, &cpus, &rate, &half, &scaling, &notes.doubts(&figure.doubts)]);
    }
    grid.render(style)
}

fn loaded(all: &[Loaded], notes: &mut Footnotes, style: Style) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new("<>>>><", [vec![3], vec![1]]);
    grid.heading(["memory: beside another CPU", "set", "load", "+-", "times idle"]);
    for figure in all {
        let slowdown = figure.slowdown.map(|slowdown| significant(slowdown.value)).unwrap_or_default();
        let (name, set) = (format!("  {}", figure.load), Bytes(figure.set).to_string());
        let (load, half) = (value_or_bound(&figure.latency), half_width(&figure.latency));
        grid.row([name, set, load, half, slowdown, notes.doubts(&figure.doubts)]);
    }
    grid.render(style)
}

/// A share, which may be out of reach.
fn share(of: &Interval) -> String {
    if of.value > 1.0 { "never".into() } else { percent(of.value) }
}

fn demand(demand: &Demand, notes: &mut Footnotes, style: Style) -> String {
    let limits = &demand.limits;
    if limits.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new("<>>>", [vec![2]]);
    let titles: Vec<String> = limits.iter().map(|limit| format!("{} a cycle", significant(limit.per_cycle))).collect();
    let titled = |title: &str, cells: Vec<String>| [vec![title.to_owned()], cells].concat();
    let each = |cell: &dyn Fn(&Limit) -> String| limits.iter().map(cell).collect::<Vec<_>>();
    grid.heading(titled("memory: demand of instructions", titles));
    let full = |limit: &Limit| format!("{} G/s", significant(limit.rate));
    grid.row(titled("  instructions, nothing missing", each(&full)));
    grid.row(titled("  waiting is half the time from", each(&|limit| share(&limit.by_latency))));
    grid.row(titled("  bandwidth is the limit from", each(&|limit| share(&limit.by_bandwidth))));
    if let Some(SharedRate { cpus, .. }) = demand.together {
        let together = |limit: &Limit| limit.by_bandwidth_together.as_ref().map_or_else(|| "-".into(), share);
        grid.row(titled(&format!("  the same, {cpus} CPUs"), each(&together)));
    }
    grid.heading(titled("  real speed at a miss rate of", vec![String::new(); limits.len()]));
    let hidden = demand.hidden_by_the_vax;
    for miss in MISSES {
        let cell = |limit: &Limit| {
            let speed = |hidden: f64| significant(demand.speed(limit.rate, miss, hidden));
            if miss == 0.0 { speed(0.0) } else { format!("{} to {}", speed(0.0), speed(1.0)) }
        };
        let misses = significant(demand.misses(miss) * 1000.0);
        let title = format!("    {}, {misses} misses in 1000", percent(miss).replace(".0 ", " "));
        grid.row(titled(&title, each(&cell)));
    }
    let text = format!(
        "Demand = instruction rate x {} bytes x miss rate; a random load from the largest set ({}) takes {} and brings {} bytes, and one \
         CPU reads at most {} GB/s. Speeds in G/s, from every access being waited for to every one hidden; the VAX of 1986 hid {} \
         ({} MB/s of {} asked for, {} MIPS of {} left).{}",
        significant(demand.bytes),
        if demand.level.is_empty() { "memory" } else { &demand.level },
        value_or_bound(&demand.latency),
        demand.line,
        significant(demand.maximum.value),
        percent(hidden),
        significant(VAX.needed(VAX_RATE.0, 0.5) * 1e3),
        significant(VAX.maximum.value * 1e3),
        significant(VAX_RATE.1 * 1e3),
        significant(VAX_RATE.0 * 1e3),
        if demand.doubts.is_empty() { String::new() } else { format!(" {}", notes.doubts(&demand.doubts)) },
    );
    grid.render(style) + &style.aside("  ", &text)
}
