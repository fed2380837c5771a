//! The page of `howslow load`: the paper's three tables for this machine, response times, and the memory cliff.

mod charts;
mod cliff;
mod forecasts;
mod paper;
mod tables;

use analysis::load::{Experiment, Measured, cliffs, response_of, row};
use record::units::counted;

pub use charts::load_charts;
pub use forecasts::load_forecasts;

use crate::text::Style;

/// The page of an experiment.
pub fn load(experiment: &Experiment, style: Style) -> String {
    let rows: Vec<_> = experiment.measured.iter().map(row).collect();
    let by = experiment.limited_by.as_deref().unwrap_or("no limits");
    let count = counted(rows.len() as u64, "configuration");
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
        notes.extend(unfinished(measured).map(|text| format!("Configuration {}: {text}", number + 1)));
        if measured.killed_for_memory > 0 {
            notes.push(format!(
                "Configuration {}: the kernel killed {} because the limit of memory was too small. Interactions that this ended \
                 count as failed.",
                number + 1,
                counted(measured.killed_for_memory, "process")
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

/// What is not known because interactions were unfinished at the end; `None` if they would change little.
fn unfinished(measured: &Measured) -> Option<String> {
    let response = response_of(measured);
    response.mean_at_least_s?;
    let count = |number: usize, rest: &str| {
        let were = if number == 1 { "was" } else { "were" };
        format!("{} {were} {rest}", counted(number as u64, "interaction"))
    };
    let unfinished = count(response.unfinished, "unfinished at the end");
    if measured.grows() {
        let before = measured.unfinished_before;
        return Some(format!(
            "{unfinished}, {before} at the beginning. They arrive faster than they end, so wait and response grow with the \
             time measured. Let fewer arrive, or take more users."
        ));
    }
    let oldest_s = measured.unfinished.iter().map(|one| one.age_s).fold(0.0, f64::max);
    let oldest = record::Nanoseconds(oldest_s * 1e9);
    let longer = match response.count - response.failed {
        0 => "none did its work".to_string(),
        _ => format!("{} had taken longer than any that did its work", response.overdue),
    };
    Some(format!(
        "{unfinished}; {longer}, and the oldest had taken {oldest}. Give a longer --time to see how they end."
    ))
}

#[cfg(test)]
mod tests {
    use analysis::load::{Finished, Unfinished};

    use super::*;

    #[test]
    fn a_note_names_what_is_unfinished() {
        let ended = Finished { response_s: 0.5, ..Finished::default() };
        let unfinished = |age_s| Unfinished { age_s, ..Unfinished::default() };
        let of = |finished, ages: &[f64]| Measured {
            elapsed_s: 4.0,
            finished: vec![ended; finished],
            unfinished: ages.iter().map(|age| unfinished(*age)).collect(),
            ..Measured::default()
        };
        let stuck = notes(&[of(24, &[0.25; 8]), of(24, &[0.2, 4.0, 3.0])]);
        assert_eq!(stuck.len(), 1, "{stuck:?}");
        let wanted = "Configuration 2: 3 interactions were unfinished at the end; 2 had taken longer than any that did its \
            work, and the oldest had taken 4.00 s.";
        assert!(stuck[0].starts_with(wanted), "{stuck:?}");
        let hung = notes(&[of(0, &[1.1])]);
        assert!(hung[0].contains("1 interaction was unfinished at the end; none did its work"), "{hung:?}");
        let grows = Measured { is_open: true, unfinished_before: 2, ..of(4, &[1.0; 18]) };
        assert!(
            notes(&[grows])[0]
                .contains("18 interactions were unfinished at the end, 2 at the beginning. They arrive faster")
        );
    }
}
