//! Predictions beside what was measured.

use analysis::load::{Forecast, Forecasts, Judged, Measured, Missed, Usual, judged, missed};
use record::units::{percent, significant};

use super::tables::{share, time};
use crate::grid::{Grid, RowKind};
use crate::text::Style;

/// Both kinds of predictions, each with its errors.
pub fn load_forecasts(all: &Forecasts, measured: &[Measured], style: Style) -> String {
    let kinds = [
        ("predicted from one user alone, before it ran", all.before.as_slice()),
        ("predicted from the other half of the configurations", all.half.as_slice()),
    ];
    let kinds = kinds.into_iter().filter(|(_, forecasts)| !forecasts.is_empty());
    kinds.map(|(title, forecasts)| format!("{}\n", table(title, forecasts, measured, &all.usual, style))).collect()
}

fn table(title: &str, forecasts: &[Forecast], measured: &[Measured], usual: &Usual, style: Style) -> String {
    let mut grid = Grid::new("<>>>>>>>", [vec![5, 6, 7], vec![3], vec![2]]);
    grid.heading([title, "a second", "CPU each", "faults each", "response", "idle 1", "2", "3"]);
    let mut failed = Vec::new();
    for forecast in forecasts {
        let found = measured.iter().find(|one| one.configuration == forecast.configuration);
        let none = if found.is_some() { "  measured: too much is unfinished" } else { "  not measured" };
        let found = found.and_then(|one| judged(one, usual));
        match &forecast.predicted {
            Ok(predicted) => {
                grid.row(cells(forecast.configuration.described(), &predicted.value));
                let none = || vec![none.into()];
                grid.add(RowKind::Aside, found.map_or_else(none, |found| cells("  measured".into(), &found)));
            }
            Err(why) => failed.push(format!("{}: {why}.", forecast.configuration.described())),
        }
    }
    let mut text = grid.render(style);
    let mut add = |of: Option<Missed>, whose: &str| {
        text += &style.paragraphs("", of.map(|errors| sentence(whose, &errors.median, &errors.largest)));
    };
    add(missed(forecasts, measured, usual, Forecast::value), "Median error (largest)");
    if forecasts.iter().any(|forecast| forecast.steady != forecast.value()) {
        let whose = "Of the steady state, which does not know the drawn times to think";
        add(missed(forecasts, measured, usual, |forecast| forecast.steady), whose);
    }
    text + &style.paragraphs("", failed)
}

fn cells(name: String, judged: &Judged) -> Vec<String> {
    let [throughput, faults] = [judged.throughput, judged.faults].map(significant);
    let [cpu, response] = [judged.cpu_s, judged.response_s].map(time);
    [name, throughput, cpu, faults, response].into_iter().chain(judged.idle.map(share)).collect()
}

fn sentence(whose: &str, median: &Judged, largest: &Judged) -> String {
    let both = |of: fn(&Judged) -> f64| format!("{} ({})", percent(of(median)), percent(of(largest)));
    let idle = |judged: &Judged| judged.idle.iter().copied().fold(0.0, f64::max) * 100.0;
    format!(
        "{whose}: throughput {}, CPU {}, faults {}, response {}; the kinds of idle are off by {:.1} points at \
         most in the median, {:.1} at the worst.",
        both(|judged| judged.throughput),
        both(|judged| judged.cpu_s),
        both(|judged| judged.faults),
        both(|judged| judged.response_s),
        idle(median),
        idle(largest),
    )
}
