//! What a fit found: demands, page devices, the fault curve and the formulas through it.

use analysis::model::{CurveFit, FaultCurve, Figure, Fit};
use record::units::significant;
use record::{Bytes, Nanoseconds};

use super::row::{in_unit, range};
use crate::chart::Unit;
use crate::grid::Grid;
use crate::text::Style;

/// The fit as a table, with its notes.
pub(super) fn fitted(fit: &Fit, style: Style) -> String {
    let mut grid = Grid::new("<>>", [vec![2]]);
    grid.heading(["fitted to the measured configurations", "", "interval"]);
    let mut row = |name: String, unit: Unit, figure: &Figure| {
        grid.row(vec![format!("  {name}"), in_unit(unit, figure.value), range(unit, &figure.interval())]);
    };
    row("CPU of an interaction, user".into(), Unit::Nanoseconds, &fit.user_s);
    row("CPU, system".into(), Unit::Nanoseconds, &fit.system_s);
    row("other waiting".into(), Unit::Nanoseconds, &fit.other_wait_s);
    row("handling of a fault".into(), Unit::Nanoseconds, &fit.handling_s);
    for device in &fit.devices {
        let name = record::printable(&device.name);
        let at_once = device.channels.map_or(String::new(), |channels| format!(", {channels} at once"));
        row(format!("a page from {name}, waiting{at_once}"), Unit::Nanoseconds, &device.service_s);
        row(format!("a page from {name}, CPU"), Unit::Nanoseconds, &device.cpu_s);
    }
    match &fit.faults {
        FaultCurve::PerInteraction(faults) => row("faults of an interaction".into(), Unit::Count, faults),
        FaultCurve::Points(points) => {
            for point in points {
                let share = in_unit(Unit::Bytes, point.share_bytes as f64 / f64::from(1 << 20));
                row(format!("faults per second of execution with {share} MiB"), Unit::Count, &point.per_s);
            }
        }
        _ => {}
    }
    let mut text = grid.render(style);
    text += &style.asides("  ", fit.formulas.iter().filter_map(formula).chain(fit.notes.iter().cloned()));
    text
}

/// A formula and how far it is off.
fn formula(fit: &CurveFit) -> Option<String> {
    let time = |seconds: f64| Nanoseconds(seconds * 1e9).to_string();
    let off = format!("typically off by a factor of {}", significant(fit.misfit));
    match &fit.curve {
        FaultCurve::Saltzer { s_per_byte } => {
            let each = time(s_per_byte.value * f64::from(1 << 20));
            Some(format!("in proportion to memory (Saltzer): {each} of execution between faults for each MiB, {off}"))
        }
        FaultCurve::Power { at_bytes, every_s, exponent } => Some(format!(
            "as a power of memory: {} between faults at {}, exponent {}, {off}",
            time(every_s.value),
            Bytes(at_bytes >> 20 << 20),
            significant(exponent.value)
        )),
        _ => None,
    }
}
