//! A comparison as JSON. The keys `ratio` and `verdict` are those of the second run; `against` has every run's.

use analysis::compare::{
    Against, Comparison, Difference, Joint, Mean, Row, Told, Verdict, differences, families, figure, overall,
};
use record::{Cost, CountedIn, Run};
use report::Shown;
use serde_json::{Map, Value, json};

use crate::explain::ratio_json;
use crate::factors::Split;

/// Why a bound is no verdict.
const BOUND: &str = "one of the two cannot be told from zero, and the bound leaves open which is dearer";

/// The whole comparison, one key for each of its parts.
pub(super) fn document(it: &Comparison<'_>, names: &[String], shown: Shown) -> Map<String, Value> {
    let rows = it.rows.iter().filter(|row| shown == Shown::All || row.changed());
    let parts = [
        ("runs", it.runs.iter().zip(names).map(|(run, name)| run_json(run, name)).collect()),
        ("unit", json!(it.unit.map_or("by_row", unit))),
        ("clock", clock_json(it)),
        ("noise", it.noise.iter().map(joint_json).collect()),
        ("differences", differences(it.runs).iter().map(difference_json).collect()),
        ("rows", rows.map(|row| row_json(it, row)).collect()),
        ("families", families(it).iter().map(|family| means_json(Some(family.name), &family.means)).collect()),
        ("overall", means_json(None, &overall(it))),
        ("versions", versions_json(it)),
        ("only_in", only_json(it, names)),
    ];
    parts.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
}

/// What a mix adds: each other run's ratio to the base in factors. `factors` and `unexplained` are those of the second run.
pub(super) fn factors_json(splits: &[Split]) -> Vec<(String, Value)> {
    let all: Vec<&Value> = splits.iter().map(|split| &split.json).collect();
    let of_first = |key: &str| all.first().map_or(Value::Null, |first| first[key].clone());
    let parts = [("factors", of_first("factors")), ("unexplained", of_first("unexplained")), ("split", json!(all))];
    parts.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
}

fn unit(unit: CountedIn) -> &'static str {
    match unit {
        CountedIn::Nanoseconds => "ns",
        CountedIn::Cycles => "cycles",
    }
}

/// One core cycle of each run, and the ratios to the base's; null where the clocks are not of a kind.
fn clock_json(it: &Comparison<'_>) -> Value {
    let Some(clocks) = &it.clocks else { return Value::Null };
    let ratios: Vec<f64> = clocks.ratios().collect();
    json!({ "cycle_ns": clocks.cycle_ns, "ratio": ratios.first(), "against": ratios })
}

fn run_json(run: &Run, name: &str) -> Value {
    json!({
        "name": name,
        "id": run.id,
        "started": run.started,
        "howslow": run.howslow,
        "counted_in": run.counted_in,
        "band": run.noise.band.as_ref().map(|band| band.difference),
    })
}

fn joint_json(joint: &Joint) -> Value {
    json!({ "band": joint.band, "clock": joint.clock, "threshold": joint.threshold, "margin": joint.margin, "least": joint.least() })
}

fn difference_json(difference: &Difference) -> Value {
    json!({ "field": difference.field, "values": difference.values })
}

fn row_json(it: &Comparison<'_>, row: &Row<'_>) -> Value {
    let base = [Some(row.base)].into_iter();
    let costs = base.chain(row.others.iter().map(|other| other.as_ref().map(|(cost, _)| *cost)));
    let values = costs.zip(it.runs).map(|(cost, run)| cost.map(|cost| value_json(row.unit, run, cost)));
    let against: Vec<Value> = row
        .others
        .iter()
        .map(|other| other.as_ref().map_or(Value::Null, |(_, against)| against_json(against)))
        .collect();
    let first = against.first().cloned().unwrap_or_default();
    json!({
        "operation": row.base.operation,
        "at": row.base.at,
        "family": row.family(),
        "unit": unit(row.unit),
        "values": values.collect::<Vec<_>>(),
        "ratio": first["ratio"],
        "verdict": first["verdict"],
        "against": against,
    })
}

fn value_json(unit: CountedIn, run: &Run, cost: &Cost) -> Value {
    let figure = figure(run, cost, unit).interval();
    json!({
        "operation": cost.operation,
        "at": cost.at,
        "value": figure.map(|it| it.value),
        "low": figure.map(|it| it.low),
        "high": figure.map(|it| it.high),
        "estimate": cost.headline,
        "version": cost.version,
        "doubts": cost.doubts,
    })
}

/// A bound has no value, and only the end that is known.
fn against_json(against: &Against) -> Value {
    let (ratio, why) = match &against.ratio {
        Told::Times(it) => (ratio_json(it), ""),
        Told::AtMost(most) => (json!({ "value": null, "low": null, "high": most }), BOUND),
        Told::AtLeast(least) => (json!({ "value": null, "low": least, "high": null }), BOUND),
        Told::Untold(why) => (Value::Null, why.as_str()),
    };
    let why = (against.verdict == Verdict::Untold).then_some(why);
    json!({ "ratio": ratio, "verdict": against.verdict.word(), "chance": against.chance, "why": why })
}

fn mean_json(mean: &Mean) -> Value {
    json!({ "ratio": mean.ratio.as_ref().map(ratio_json), "pairs": mean.pairs, "left_out": mean.left_out })
}

fn means_json(family: Option<&str>, means: &[Mean]) -> Value {
    let against: Vec<Value> = means.iter().map(mean_json).collect();
    let mut all = against.first().cloned().unwrap_or_default();
    if let Some(family) = family {
        all["family"] = json!(family);
    }
    all["against"] = json!(against);
    all
}

fn versions_json(it: &Comparison<'_>) -> Value {
    let versions = it.versions.iter().map(|one| {
        json!({
            "operation": one.base.operation,
            "at": one.base.at,
            "run": one.run,
            "versions": [one.base.version, one.other.version],
        })
    });
    versions.collect()
}

fn only_json(it: &Comparison<'_>, names: &[String]) -> Value {
    let runs = it.only.iter().zip(names).enumerate().map(|(place, (only, name))| {
        let costs = only.iter().map(|one| {
            let skipped = one
                .skipped
                .iter()
                .map(|(run, skip)| json!({ "run": run, "reason": skip.reason, "remedy": skip.remedy }));
            json!({
                "operation": one.cost.operation,
                "at": one.cost.at,
                "family": one.cost.heading(),
                "skipped": skipped.collect::<Vec<_>>(),
            })
        });
        json!({ "run": place, "name": name, "costs": costs.collect::<Vec<_>>() })
    });
    runs.collect()
}
