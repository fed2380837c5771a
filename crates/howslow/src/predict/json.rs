//! A prediction as JSON.

use analysis::mix::{Lack, Sum};
use analysis::predict::{Prediction, Row};
use analysis::sums::sum;
use analysis::whatif::{Supposed, difference};
use record::Mix;
use report::Priced;
use serde_json::{Value, json};

use super::missing_costs::command;
use crate::explain::figure_json;

/// Everything the page tells, and what it leaves out for width.
pub(super) fn prediction(mix: &Mix, on: &str, it: &Priced, suppositions: &[Supposed]) -> Value {
    let of = it.prediction;
    let total = of.total().figure();
    let known = of.figure();
    let split = of.split();
    let per_second = |ns: f64| (ns > 0.0).then(|| 1e9 / ns);
    let mut rows: Vec<&Row> = of.rows.iter().collect();
    rows.sort_by(|one, other| other.total().figure().value.total_cmp(&one.total().figure().value));
    json!({
        "mix": mix.name,
        "unit": mix.unit,
        "on": on,
        "run": it.run.id,
        "by": it.state.word(),
        "total_ns": total.value,
        "low_ns": known.low,
        "high_ns": known.high,
        "prices": figure_json(&total),
        "left_out": of.validated,
        "otherwise": it.otherwise.as_ref().map(figure_json),
        "doubts": of.doubts(),
        "at_least": !of.lacking.is_empty(),
        "rows": rows.into_iter().map(|row| row_json(of, row)).collect::<Vec<_>>(),
        "families": families(of),
        "measured": of.measured.as_ref().map(figure_json),
        "residual_ns": of.residual().map(|residual| residual.value),
        "residual": of.residual().as_ref().map(figure_json),
        "residual_share": of.residual().zip(of.measured).map(|(residual, whole)| residual.value / whole.value),
        "cpu_ns": split.map(|split| split.cpu),
        "wait_ns": split.map(|split| split.wait),
        "per_second": per_second(total.value),
        "per_second_per_cpu": split.and_then(|split| per_second(split.cpu)),
        "lacking": of.lacking.iter().map(|(line, lack)| {
            let why = match lack {
                Lack::Missing(reason) => reason.clone(),
                _ => None,
            };
            json!({ "operation": line.operation, "at": line.at, "times": line.times, "reason": why, "command": command(line) })
        }).collect::<Vec<_>>(),
        "what_if": it.supposed.as_ref().map(|after| what_if(of, after, suppositions)),
    })
}

fn row_json(of: &Prediction, row: &Row) -> Value {
    let total = row.total();
    let lacking = of.lacking.iter().any(|(line, _)| *line == row.line);
    let mut said = json!({
        "operation": row.line.operation,
        "at": row.by.as_ref().map_or(&row.line.at, |by| &by.at),
        "priced_by": row.by.as_ref().map(|by| &by.operation),
        "family": row.line.family,
        "times": row.line.times,
        "note": row.line.note,
        "doubts": row.doubts,
        "each": (!lacking).then(|| figure_json(&row.each.figure())),
    });
    together(of, &total, lacking, &mut said);
    said
}

fn families(of: &Prediction) -> Vec<Value> {
    let mut families = of.families();
    families.sort_by(|one, other| other.total.figure().value.total_cmp(&one.total.figure().value));
    let told = families.iter().map(|family| {
        let mut said = json!({ "family": family.family });
        together(of, &family.total, false, &mut said);
        said
    });
    told.collect()
}

/// Adds `ns`, its interval and the share of the total; nothing is said of what is lacking.
fn together(of: &Prediction, total: &Sum, lacking: bool, said: &mut Value) {
    let figure = total.figure();
    let told = |value: f64| if lacking { Value::Null } else { json!(value) };
    said["ns"] = told(figure.value);
    said["low_ns"] = told(figure.low);
    said["high_ns"] = told(figure.high);
    said["share"] = if lacking { Value::Null } else { json!(of.share(total)) };
}

fn what_if(before: &Prediction, after: &Prediction, suppositions: &[Supposed]) -> Value {
    let (from, to) = (before.total().figure(), after.total().figure());
    let change = difference(after, before).figure();
    let faster = |from: f64, to: f64| (from > 0.0 && to > 0.0).then(|| from / to);
    let measured = before.measured.map(|whole| sum(&[(1.0, whole), (1.0, change)]));
    let rows = before.rows.iter().zip(&after.rows).filter(|(row, changed)| row.each != changed.each);
    json!({
        "changes": suppositions.iter().map(|it| &it.text).collect::<Vec<_>>(),
        "doubts": after.doubts(),
        "total": figure_json(&to),
        "change": figure_json(&change),
        "speedup": faster(from.value, to.value),
        "measured": measured.as_ref().map(figure_json),
        "measured_speedup": before.measured.zip(measured).and_then(|(from, to)| faster(from.value, to.value)),
        "rows": rows.map(|(row, changed)| json!({
            "operation": row.line.operation,
            "at": row.by.as_ref().map_or(&row.line.at, |by| &by.at),
            "before": figure_json(&row.total().figure()),
            "after": figure_json(&changed.total().figure()),
            "doubts": changed.doubts,
        })).collect::<Vec<_>>(),
    })
}
