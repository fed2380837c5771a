//! Bencher Metric Format, version 0: each cost with its interval.

use std::collections::BTreeMap;
use std::io::Write;

use record::{Cost, Run};
use serde::Serialize;

use super::exporter::{Exporter, Written, json, only};

const NAME: &str = "bencher";

pub(super) const BENCHER: Exporter = Exporter {
    name: NAME,
    summary: "Bencher Metric Format v0: bencher run --adapter json",
    ending: "",
    is_text: true,
    write,
};

fn write(runs: &[Run], out: &mut dyn Write) -> Written {
    let costs = only(NAME, runs)?.into_iter().flat_map(|run| &run.costs);
    let reported = costs.filter(|cost| cost.quoted().0.is_finite());
    let document: BTreeMap<String, Measures> = reported.map(|cost| (cost.name(), Measures::of(cost))).collect();
    json(&document, out)
}

#[derive(Serialize)]
struct Measures {
    /// In ns, as Bencher's own measure of this name.
    latency: Metric,
}

#[derive(Serialize)]
struct Metric {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

impl Measures {
    fn of(cost: &Cost) -> Measures {
        let known = |end: f64| cost.has_interval().then_some(end);
        let (lower_value, upper_value) = (known(cost.net_ns.low.0), known(cost.net_ns.high.0));
        Measures { latency: Metric { value: cost.quoted().0, lower_value, upper_value } }
    }
}
