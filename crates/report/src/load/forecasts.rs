//! Predictions beside what was measured.

use analysis::load::{Forecast, Forecasts, Judged, Measured, Missed, Usual, judged, missed, steady_missed};
use record::units::{percent, significant};

use super::tables::{share, time};
use crate::grid::{Grid, RowKind};
use crate::text::Style;

/// Both kinds of predictions, each with its errors.
pub fn load_forecasts(it: &Forecasts, measured: &[Measured], style: Style) -> String {
    let kinds = [
        ("predicted from one user alone, before it ran", it.before.as_slice()),
        ("predicted from the other half of the configurations", it.half.as_slice()),
    ];
    let told = kinds.into_iter().filter(|(_, forecasts)| !forecasts.is_empty());
    told.map(|(title, forecasts)| format!("{}\n", table(title, forecasts, measured, &it.usual, style))).collect()
}

fn table(title: &str, forecasts: &[Forecast], measured: &[Measured], usual: &Usual, style: Style) -> String {
    let mut grid = Grid::new("<>>>>>>>", [vec![5, 6, 7], vec![3], vec![2]]);
    grid.heading([title, "a second", "CPU each", "faults each", "response", "idle 1", "2", "3"]);
    let mut failed = Vec::new();
    for it in forecasts {
        let found = measured.iter().find(|one| one.configuration == it.configuration);
        let found = found.and_then(|one| judged(one, usual));
        match &it.predicted {
            Ok(predicted) => {
                grid.row(cells(it.configuration.told(), &predicted.value));
                grid.add(RowKind::Aside, found.map_or_else(none, |it| cells("  measured".into(), &it)));
            }
            Err(why) => failed.push(format!("{}: {why}.", it.configuration.told())),
        }
    }
    let mut text = grid.render(style);
    let mut told = |of: Option<Missed>, whose: &str| {
        text += &style.paragraphs("", of.map(|it| sentence(whose, &it.median, &it.largest)));
    };
    told(missed(forecasts, measured, usual), "Median error (largest)");
    if forecasts.iter().any(|it| it.steady != it.predicted.as_ref().ok().map(|it| it.value)) {
        told(
            steady_missed(forecasts, measured, usual),
            "Of the steady state, which does not know the drawn times to think",
        );
    }
    text + &style.paragraphs("", failed)
}

fn none() -> Vec<String> {
    ["  not measured", "", "", "", "", "", "", ""].map(String::from).into()
}

fn cells(name: String, it: &Judged) -> Vec<String> {
    let mut cells = vec![name, significant(it.throughput), time(it.cpu_s), significant(it.faults), time(it.response_s)];
    cells.extend(it.idle.map(share));
    cells
}

fn sentence(whose: &str, median: &Judged, largest: &Judged) -> String {
    let both = |of: fn(&Judged) -> f64| format!("{} ({})", percent(of(median)), percent(of(largest)));
    let idle = |it: &Judged| it.idle.iter().copied().fold(0.0, f64::max) * 100.0;
    format!(
        "{whose}: throughput {}, CPU {}, faults {}, response {}; the kinds of idle are off by {:.1} points at \
         most in the median, {:.1} at the worst.",
        both(|it| it.throughput),
        both(|it| it.cpu_s),
        both(|it| it.faults),
        both(|it| it.response_s),
        idle(median),
        idle(largest),
    )
}
