//! Runs beside each other as a page: the verdict, what changed, the runs, the differences between them, costs without a partner.

mod differing;
mod gate;
mod heads;
pub(crate) mod levels;
pub(crate) mod markdown;
mod missing;
mod notes;
pub(crate) mod rows;
pub(crate) mod verdicts;
mod view;

use analysis::change::FEW_ROUNDS;
use analysis::compare::{Comparison, Conditions, DifferingFact, Joint, conditions, is_published, rounds_behind};
use record::Cost;
use record::units::{counted, percent};

use crate::footnotes::Footnotes;
use crate::text::Style;

pub use gate::gate_sentence;
pub use markdown::comparison_markdown;
pub use view::{ComparisonView, Shown, Sort};

/// A comparison as a page, as a sequence of parts. The first line is the verdict.
pub fn comparison(
    comparison: &Comparison<'_>,
    differing: &[DifferingFact],
    view: &ComparisonView<'_>,
    style: Style,
) -> Vec<String> {
    let mut notes = Footnotes::of(style);
    let rows = rows::rows(comparison, view, &mut notes, style);
    let parts = [
        verdicts::lines(comparison, view, style),
        rows,
        notes.render(),
        levels::moved(comparison, view, style),
        verdicts::tail(comparison, view, style),
        heads::heads(comparison, view, style) + &differing::table(comparison, differing, view, style),
        criteria(comparison, view, style),
        builds(differing, style),
        missing::versions(comparison, view, style),
        missing::only(comparison, view, style),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect()
}

/// The criterion for a change, and the limits of a mean over all.
fn criteria(comparison: &Comparison<'_>, view: &ComparisonView<'_>, style: Style) -> String {
    let mut text = String::new();
    for (column, joint) in comparison.noise.iter().enumerate() {
        let pair = if comparison.noise.len() == 1 { String::new() } else { format!("{}: ", view.label(column + 1)) };
        let conditions = joint.conditions;
        let notes = [drifted(conditions), loaded(conditions), miscounted(conditions), shared(comparison, column)];
        let all = [change(comparison, column, joint)].into_iter().chain(notes.into_iter().flatten());
        text += &style.asides("", all.map(|note| format!("{pair}{note}")));
    }
    if view.shown != Shown::All {
        return text;
    }
    let margin = percent(comparison.noise.first().map_or(0.0, |joint| joint.margin));
    let rule = format!(
        "The same: the ratio lies within {margin} of 1 on either side, each at 95 %. Neither a change nor the same: inconclusive."
    );
    let cycles = "Costs that follow the clock are compared in cycles; what the clock itself changed is the first row.";
    let warning = "The geometric mean weights every operation alike, a load and an exec; what a program pays depends \
                   on how often it does each.";
    let further = [(comparison.unit.is_none(), cycles), (comparison.rows.len() > 1, warning)];
    let further = further.into_iter().filter(|(holds, _)| *holds).map(|(_, sentence)| sentence);
    text + &style.asides("", [rule.as_str()].into_iter().chain(further))
}

/// What costs may have drifted by from one run to the other; `None` if that is little.
fn drifted(conditions: Conditions) -> Option<String> {
    /// Less does not hide a change of a few percent.
    const LEAST: f64 = 0.02;
    let share = conditions.share();
    let apart = match share {
        1.0 => "half an hour or more".to_string(),
        _ => counted((conditions.seconds_apart / 60.0).round() as u64, "minute"),
    };
    (share * conditions::MEMORY >= LEAST).then(|| {
        format!(
            "taken {apart} apart: memory beyond the caches may have drifted by {}, page faults and processes by {}, and a change \
             must exceed that too; runs taken in turn differ by less (compare A1 A2 -- B1 B2)",
            percent(share * conditions::MEMORY),
            percent(share * conditions::PAGES)
        )
    })
}

/// What the runs cannot be compared in because of what else ran; `None` if that was alike.
fn loaded(conditions: Conditions) -> Option<String> {
    conditions.loads_differ().then(|| {
        format!(
            "other programs took {} more of the CPUs in one run than in the other: waiting for a second CPU, or for a device, took as long \
             as they let it, so no change of that is reported",
            percent(conditions.loads_apart)
        )
    })
}

/// By how much cycles were counted otherwise; `None` if that is little.
fn miscounted(conditions: Conditions) -> Option<String> {
    /// Less does not hide a change of a few percent.
    const LEAST: f64 = 0.02;
    (conditions.cycles_apart > LEAST).then(|| {
        format!(
            "by what an add took, cycles of the two runs may be counted {} apart, as where others take turns of microseconds: a change \
             must exceed that too",
            percent(conditions.cycles_apart.exp_m1())
        )
    })
}

/// What waits for a device may differ by; `None` if no cost compared does.
fn shared(comparison: &Comparison<'_>, column: usize) -> Option<String> {
    let conditions = comparison.noise[column].conditions;
    let mut costs = comparison.rows.iter().filter_map(|row| Some([row.base, row.others[column].as_ref()?.0])).flatten();
    let waits = conditions.devices_apart > 0.0 && costs.any(conditions::waits_for_a_device);
    waits.then(|| {
        format!(
            "waits for a guest's device, which others use, may differ {:.1} times by their state alone, and a change must exceed that too; \
             less in longer runs, and in sets of runs",
            conditions.devices_apart.exp()
        )
    })
}

/// What two builds of howslow may differ by although the machines do not.
fn builds(differing: &[DifferingFact], style: Style) -> String {
    if !differing.iter().any(DifferingFact::is_of_builds) {
        return String::new();
    }
    let note = "The runs come from different builds of howslow, whose loops are compiled differently, which may change a cost by itself. \
                Measure both with one build to exclude it.";
    style.aside("", note)
}

/// What a difference between the first run and another must exceed to be a change, and the reason for it.
fn change(comparison: &Comparison<'_>, column: usize, joint: &Joint) -> String {
    let runs = [0, column + 1].map(|place| &comparison.runs[place]);
    // What is imported may have its samples.
    let printed = runs.map(|run| run.costs.iter().all(|cost| is_published(run, cost)));
    if printed == [true, true] {
        return "both are published: a difference counts where the interval of the ratio leaves out 1".into();
    }
    let book = if printed.contains(&true) {
        "; a published figure has no rounds, only its interval"
    } else if runs.iter().any(|run| run.costs.iter().all(|cost| cost.rounds.is_empty())) {
        "; without samples a run does not show how often it was undisturbed"
    } else if runs.iter().any(|run| run.is_published()) {
        ", and both runs have two rounds of it that do not show the same layouts"
    } else {
        ", and both runs were undisturbed in two rounds of it that do not show the same layouts"
    };
    let judged = counted(joint.judged as u64, "cost");
    let pairs = comparison.rows.iter().filter_map(|row| Some([row.base, row.others[column].as_ref()?.0])).flatten();
    let has_few = |cost: &Cost| !cost.rounds.is_empty() && rounds_behind(cost) < FEW_ROUNDS;
    let few = if pairs.into_iter().any(has_few) { "; further with fewer than six rounds" } else { "" };
    format!(
        "a change: more than {}, and more than {:.2} times half the interval of the ratio (chance brings any of {judged} so far in one \
         comparison of twenty{few}){book}",
        percent(joint.threshold),
        joint.reaches(),
    )
}
