//! The page of `howslow interference`: the matrices, the dose curves, several loads at once, and the paper's own cell.

use analysis::interference::{
    DescribedKind, DoseCurve, Interference, Load, LoadsPrediction, POINTS, PairSlowdown, Slowdown, conclusive,
};
use analysis::statistics::Interval;
use record::units::{counted, percent};
use record::{Machine, Place, largest_first};

use crate::chart::{Axis, Chart, Heat, Series, Unit};
use crate::grid::{Grid, NOTHING, RowKind};
use crate::head::machine_parts;
use crate::interval;
use crate::text::Style;

/// The page, its matrices at most `width` columns wide.
pub fn interference(found: &Interference, machine: &Machine, style: Style, width: usize) -> String {
    let mut page = machine_parts(machine).join("   ") + "\n";
    let passes = counted(found.passes.into(), "pass");
    let how = format!(
        "how much longer the work of each row takes on CPU {} beside the work of each column: medians of stretches beside \
         over stretches alone, alternated, in {passes} with new processes ({:.0} s). - means that it is inconclusive: the \
         interval holds zero and reaches further than 5 points",
        found.cpu, found.seconds
    );
    page += &style.aside("", &how);
    for matrix in matrices(found) {
        page += &format!("\n{}", matrix.heat.text(width));
        page += &wide(&matrix, style);
    }
    page += &doses(found, style);
    page += &together(found, style);
    page += &paper(found, style);
    page += &kinds(found, style);
    if !found.skipped.is_empty() {
        page += &style.title("not measured here");
        page += &style.paragraphs("  ", found.skipped.iter().map(|skip| format!("{}: {}", skip.what, skip.reason)));
    }
    page
}

/// The pictures of the page: the name of each and its SVG document.
pub fn interference_pictures(found: &Interference) -> Vec<(String, String)> {
    let matrices = matrices(found).into_iter().map(|matrix| (matrix.name, matrix.heat.svg()));
    let curves = found.curves();
    let chart = (!curves.is_empty()).then(|| ("interference-doses".to_string(), dose_chart(&curves).svg()));
    matrices.chain(chart).collect()
}

struct Matrix {
    name: String,
    heat: Heat,
    /// Figures whose interval reaches further than 5 points, the widest first.
    wide: Vec<(String, Interval)>,
}

/// The figures of a matrix that another run may differ from by more than 5 points.
fn wide(matrix: &Matrix, style: Style) -> String {
    const NAMED: usize = 4;
    if matrix.wide.is_empty() {
        return String::new();
    }
    let named = |(cells, ratio): &(String, Interval)| format!("{cells} {}", added(ratio));
    let named: Vec<String> = matrix.wide.iter().take(NAMED).map(named).collect();
    let more = match matrix.wide.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let text = format!(
        "doubtful, because the interval reaches further than 5 points (a longer --budget narrows it): {}{more}",
        named.join(", ")
    );
    style.paragraph("  ", &text)
}

/// The matrix of every place. Where the CPU is shared, also that of the processor time: what the work is slowed by while it has
/// the CPU.
fn matrices(found: &Interference) -> Vec<Matrix> {
    let mut all = Vec::new();
    for &place in &found.places {
        let title = format!("beside work {}: elapsed time added, in percent", place.described());
        all.push(matrix(found, place, format!("interference-{}", place.word()), title, Slowdown::conclusive));
        if place == Place::Same {
            let title = format!("beside work {}: CPU time added while it has the CPU, in percent", place.described());
            all.push(matrix(found, place, "interference-same-cpu-time".into(), title, Slowdown::conclusive_cpu));
        }
    }
    all
}

fn matrix(
    found: &Interference,
    place: Place,
    name: String,
    title: String,
    figure: fn(&Slowdown) -> Option<Interval>,
) -> Matrix {
    let figure_of = |victim: &String, aggressor: &String| figure(found.pair(victim, aggressor, place)?);
    let cell = |victim: &String, aggressor: &String| Some(figure_of(victim, aggressor)?.value - 1.0);
    // In whole points: less can seldom be distinguished, and a matrix of a dozen kinds has room for no more.
    let rounded = |added: f64| (added * 100.0).round() + 0.0;
    let row = |victim| found.aggressors.iter().map(|aggressor| cell(victim, aggressor).map(rounded)).collect();
    let heat = Heat {
        title,
        rows: found.victims.clone(),
        columns: found.aggressors.clone(),
        cells: found.victims.iter().map(row).collect(),
        absent: "inconclusive or not measured",
        unit: Unit::Count,
    };
    let cells =
        found.victims.iter().flat_map(|victim| found.aggressors.iter().map(move |aggressor| (victim, aggressor)));
    let figures = cells.filter_map(|(victim, aggressor)| {
        Some((format!("{victim} beside {aggressor}"), figure_of(victim, aggressor)?))
    });
    let mut wide: Vec<(String, Interval)> = figures.filter(|(_, ratio)| ratio.half() > POINTS).collect();
    largest_first(&mut wide, |one| one.1.half());
    Matrix { name, heat, wide }
}

fn added(ratio: &Interval) -> String {
    let known = conclusive(*ratio).map(|ratio| interval::added([ratio.value, ratio.low, ratio.high]));
    known.unwrap_or_else(|| "inconclusive".into())
}

fn doses(found: &Interference, style: Style) -> String {
    let curves = found.curves();
    if curves.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new("<<<<<<<", NOTHING);
    let longest = curves.iter().max_by_key(|curve| curve.points.len()).map(|curve| curve.points.as_slice());
    let doses: Vec<f64> =
        longest.unwrap_or_default().iter().map(|(dose, _)| *dose).filter(|dose| *dose > 0.0).collect();
    let titles = doses.iter().map(|dose| format!("{} of the time", percent(*dose)));
    grid.heading(std::iter::once("by dose: elapsed time added".to_string()).chain(titles));
    for curve in &curves {
        let at = |dose: &f64| {
            curve.points.iter().find(|(known, _)| known == dose).map_or("-".into(), |point| added(&point.1))
        };
        let name = format!("  {} beside {} {}", curve.victim, curve.aggressor, curve.place.described());
        grid.row(std::iter::once(name).chain(doses.iter().map(at)));
    }
    format!("\n{}", grid.render(style))
}

fn dose_chart(curves: &[DoseCurve]) -> Chart {
    let series = |curve: &DoseCurve| {
        let points = curve.points.iter().map(|(dose, ratio)| (*dose, ratio.value - 1.0)).collect();
        let ends = curve.points.iter().map(|(_, ratio)| (ratio.low - 1.0, ratio.high - 1.0)).collect();
        Series::new(format!("{} beside {}", curve.victim, curve.aggressor), points).with_intervals(ends)
    };
    Chart {
        title: "elapsed time added, by the share of the time in which the other works".into(),
        x: Axis::linear("dose", Unit::Share),
        y: Axis::linear("added", Unit::Share),
        series: curves.iter().map(series).collect(),
    }
}

fn load(load: &Load) -> String {
    let dose = if load.dose < 1.0 { format!(" {} of the time", percent(load.dose)) } else { String::new() };
    format!("{}{dose}", load.kind)
}

fn together(found: &Interference, style: Style) -> String {
    let several = found.together();
    if several.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new("<<<<", NOTHING);
    grid.heading(["three together: elapsed time added", "measured", "product of the pairs", "sum of the pairs"]);
    for combination in &several {
        let PairSlowdown { victim, beside, .. } = combination.cell;
        let loads: Vec<String> = beside.iter().map(load).collect();
        let place = beside.first().map_or("", |load| load.place.described());
        let predicted = |value: f64| {
            let error = LoadsPrediction::error(value, combination.measured.value);
            format!("{:+.1} % (off by {:+.1} %)", (value - 1.0) * 100.0, error * 100.0)
        };
        let LoadsPrediction { product, sum } = combination.prediction;
        let name = format!("  {victim} beside {} {place}", loads.join(" and "));
        grid.row([name, added(&combination.measured), predicted(product), predicted(sum)]);
    }
    format!("\n{}", grid.render(style))
}

/// The paper's own cell: "a disk transfer slows the CPU by 4 to 10 %".
fn paper(found: &Interference, style: Style) -> String {
    const DISK: [&str; 2] = ["disk-reads", "disk-writes"];
    const CPU: [&str; 3] = ["compute", "l2", "memory"];
    let mut lines = String::new();
    for &place in &found.places {
        for disk in DISK {
            let figure = |victim: &&str| {
                let ratio = found.pair(victim, disk, place)?.conclusive()?;
                Some(format!("{victim} {}", added(&ratio)))
            };
            let figures: Vec<String> = CPU.iter().filter_map(figure).collect();
            if !figures.is_empty() {
                let figures = figures.join(", ");
                lines += &style.paragraph("  ", &format!("{disk} {}: {figures}", place.described()));
            }
        }
    }
    if lines.is_empty() {
        return lines;
    }
    let title = "the paper's own cell (The VAX CPU, 1986): a disk transfer slows the CPU by 4 to 10 %; here";
    style.title(title) + &lines
}

fn kinds(found: &Interference, style: Style) -> String {
    let mut grid = Grid::new("<<", NOTHING);
    for DescribedKind { name, operation } in &found.kinds {
        grid.add(RowKind::Aside, vec![format!("  {name}"), operation.clone()]);
    }
    style.title("kinds of work") + &grid.render(style)
}
