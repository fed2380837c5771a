//! Costs as metrics: one gauge of the quoted figure with the operation and its axes as labels, its interval, and what distinguishes
//! how far to trust it.

use std::io::Write;

use record::{Cost, Run};

use super::exporter::{Exporter, Written};
use super::exposition::{Dialect, Exposition, Kind, label_name};

/// OpenMetrics, for scrapers.
pub(super) const OPEN_METRICS: Exporter = Exporter {
    name: "openmetrics",
    summary: "metrics for a scraper (OpenMetrics 1.0.0)",
    ending: "om",
    is_text: true,
    write: |runs, out| written(runs, Dialect::OpenMetrics, out),
};

/// The Prometheus text format, for the node exporter's textfile collector.
pub(super) const PROMETHEUS: Exporter = Exporter {
    name: "prometheus",
    summary: "the same in the Prometheus text format: the node exporter's textfile collector",
    ending: "prom",
    is_text: true,
    write: |runs, out| written(runs, Dialect::Prometheus, out),
};

/// A gauge of every cost: its name, its help, and its value, which may be missing.
type Gauge = (&'static str, &'static str, fn(&Cost) -> f64);

const GAUGES: [Gauge; 6] = [
    ("howslow_cost_seconds", "Cost of one iteration, baseline subtracted.", |cost| cost.quoted().0 / 1e9),
    ("howslow_cost_low_seconds", "Lower end of the cost's 95 % interval.", |cost| cost.net_ns.low.0 / 1e9),
    ("howslow_cost_high_seconds", "Upper end of the cost's 95 % interval.", |cost| cost.net_ns.high.0 / 1e9),
    ("howslow_cost_typical_seconds", "The same while others share the machine.", |cost| cost.net_ns.typical.0 / 1e9),
    ("howslow_cost_cycles", "Cost of one iteration in core cycles.", |cost| {
        if cost.cycles == 0.0 { f64::NAN } else { cost.cycles }
    }),
    ("howslow_cost_doubts", "Reasons not to trust the cost.", |cost| {
        cost.doubts.iter().filter(|doubt| doubt.is_serious()).count() as f64
    }),
];

fn written(runs: &[Run], dialect: Dialect, out: &mut dyn Write) -> Written {
    let mut exposition = Exposition::new(dialect);
    exposition.family("howslow_run", Kind::Info, "The run and its machine.");
    for run in runs {
        let machine = &run.machine;
        let reported = [
            ("run", run.id.as_str()),
            ("started", &run.started),
            ("origin", run.origin.word()),
            ("version", &run.howslow),
            ("cpu_model", &machine.cpu.model),
            ("kernel", &machine.kernel.release),
            ("hypervisor", machine.virtualization.hypervisor.as_deref().unwrap_or_default()),
        ];
        let reported: Vec<_> = reported.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        exposition.sample(&reported, 1.0);
    }
    for (name, help, value) in GAUGES {
        exposition.family(name, Kind::Gauge, help);
        for run in runs {
            for cost in &run.costs {
                exposition.sample(&labels_of(cost, run, runs.len()), value(cost));
            }
        }
    }
    out.write_all(exposition.finish().as_bytes())?;
    Ok(Vec::new())
}

/// The operation, what it is quoted by, and its axes. The run's id is a label only beside other runs: a scraper would
/// otherwise begin a new series with every run.
fn labels_of(cost: &Cost, run: &Run, runs: usize) -> Vec<(String, String)> {
    let mut all =
        vec![("operation".to_owned(), cost.operation.clone()), ("figure".to_owned(), cost.headline.word().to_owned())];
    if runs > 1 {
        all.push(("run".into(), run.id.clone()));
    }
    for (axis, value) in &cost.at.0 {
        let mut name = label_name(axis);
        while name == "run" || all.iter().any(|(known, _)| *known == name) {
            name = format!("axis_{name}");
        }
        all.push((name, value.to_string()));
    }
    all
}
