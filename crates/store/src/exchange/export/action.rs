//! JSON for github-action-benchmark, tool `customSmallerIsBetter`.

use std::io::Write;

use record::{Cost, Doubt, Run};
use serde::Serialize;

use super::exporter::{Exporter, Written, json, only};

const NAME: &str = "github-action";

pub(super) const GITHUB_ACTION: Exporter = Exporter {
    name: NAME,
    summary: "JSON for github-action-benchmark, tool customSmallerIsBetter",
    ending: "",
    is_text: true,
    write,
};

fn write(runs: &[Run], out: &mut dyn Write) -> Written {
    let costs = only(NAME, runs)?.into_iter().flat_map(|run| &run.costs);
    let document: Vec<ActionEntry> = costs.filter(|cost| cost.quoted().0.is_finite()).map(ActionEntry::of).collect();
    json(&document, out)
}

#[derive(Serialize)]
struct ActionEntry {
    name: String,
    unit: &'static str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    extra: String,
}

impl ActionEntry {
    fn of(cost: &Cost) -> ActionEntry {
        let half = (cost.net_ns.high.0 - cost.net_ns.low.0) / 2.0;
        let doubts = cost.doubts.iter().filter(|doubt| doubt.is_serious()).map(Doubt::short);
        let mut lines: Vec<String> =
            std::iter::once(format!("per {}", cost.per)).chain(doubts.map(String::from)).collect();
        lines.dedup();
        ActionEntry {
            name: cost.name(),
            unit: "ns",
            value: cost.quoted().0,
            range: half.is_finite().then(|| format!("± {half}")),
            extra: lines.join("\n"),
        }
    }
}
