//! The page of `howslow load`: the paper's three tables for this machine, response times, and the memory cliff.

mod charts;
mod cliff;
mod forecasts;
mod paper;
mod tables;

use analysis::load::{Experiment, Measured, cliffs, row};

pub use charts::load_charts;
pub use forecasts::load_forecasts;

use crate::text::Style;

/// The page of an experiment.
pub fn load(experiment: &Experiment, style: Style) -> String {
    let rows: Vec<_> = experiment.measured.iter().map(row).collect();
    let by = experiment.limited_by.as_deref().unwrap_or("no limits");
    let count = record::units::counted(rows.len() as u64, "configuration");
    let mut text = format!("{}: {}, {by}\n\n", style.bold(&record::printable(&experiment.plan)), count);
    if !rows.is_empty() {
        let responses = tables::responses(&experiment.measured, &experiment.interactions, style);
        let of_rows = [tables::interactions, tables::paging, tables::processors].map(|table| table(&rows, style));
        text += &of_rows.into_iter().chain([responses]).map(|table| table + "\n").collect::<String>();
    }
    text += &paper::paper(&experiment.plan, &rows, style);
    for cliff in cliffs(&experiment.measured) {
        text += &(cliff::cliff(&cliff, style) + "\n");
    }
    text + &style.paragraphs("", experiment.notes.iter().cloned().chain(notes(&experiment.measured)))
}

fn notes(all: &[Measured]) -> Vec<String> {
    let mut notes = Vec::new();
    for (number, measured) in all.iter().enumerate() {
        if measured.killed_for_memory > 0 {
            notes.push(format!(
                "Configuration {}: the kernel killed {} because the limit of memory was too small. Interactions that this ended \
                 count as failed.",
                number + 1,
                record::units::counted(measured.killed_for_memory, "process")
            ));
        }
        let other =
            measured.cpu.other_s / (f64::from(measured.configuration.cpus) * measured.elapsed_s).max(f64::MIN_POSITIVE);
        if other > 0.05 {
            let (number, other) = (number + 1, record::units::percent(other));
            notes.push(format!(
                "Configuration {number}: other programs, kernel threads and the host took {other} of its processors."
            ));
        }
    }
    if all.iter().any(|measured| measured.configuration.device == analysis::load::PageDevice::Zram) {
        notes.push(
            "A page from zram costs processor time and no waiting, so its share of the device's time is no measure of load."
                .into(),
        );
    }
    notes
}
