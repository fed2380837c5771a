//! How far the figures scatter over whole headline runs, one after another.

use std::collections::BTreeMap;
use std::time::Duration;

use record::units::percent;
use record::{Cost, Estimate, Run};

use crate::Extent;
use crate::figures::{part_under, share, spread, variation};
use crate::tool::Howslow;

const RUNS: u32 = 10;
/// Scatter above which an operation is listed.
const LISTED: f64 = 0.03;

/// What the runs said of one cost.
#[derive(Default)]
struct History {
    cpus: u32,
    waits: bool,
    headline: Vec<f64>,
    typical: Vec<f64>,
    best: Vec<f64>,
    doubtful: usize,
}

/// The scatter of one cost's figures.
struct Scatter {
    name: String,
    history: History,
    headline: f64,
    typical: Option<f64>,
    best: Option<f64>,
}

pub(crate) fn repeat(howslow: &Howslow, extent: &Extent) -> anyhow::Result<()> {
    let times = extent.times(RUNS).max(2);
    println!("{times} headline runs; about {} s", times * extent.budget.unwrap_or(14));
    let budget = extent.budget.map(|seconds| Duration::from_secs(seconds.into()));
    let runs = (0..times).map(|_| howslow.run(&[], budget)).collect::<anyhow::Result<Vec<_>>>()?;
    let (mut all, mut without) = (Vec::new(), Vec::new());
    for (name, history) in gather(&runs) {
        if history.headline.len() < runs.len() {
            without.push(format!("{name}: measured in {} runs only", history.headline.len()));
        }
        match variation(&history.headline) {
            Some(headline) => {
                let (typical, best) = (variation(&history.typical), variation(&history.best));
                all.push(Scatter { name, headline, typical, best, history });
            }
            None => without.push(format!("{name}: no scatter can be told")),
        }
    }
    let (one, two): (Vec<Scatter>, Vec<Scatter>) = all.into_iter().partition(|scatter| scatter.history.cpus < 2);
    println!("coefficient of variation over {times} runs");
    group("operations that stay on one CPU", &one);
    group("operations that wake another CPU", &two);
    list(&one);
    list(&two);
    without.iter().for_each(|line| println!("  {line}"));
    Ok(())
}

fn gather(runs: &[Run]) -> BTreeMap<String, History> {
    let mut histories: BTreeMap<String, History> = BTreeMap::new();
    for cost in runs.iter().flat_map(|run| &run.costs) {
        histories.entry(cost.name()).or_default().add(cost);
    }
    histories
}

impl History {
    fn add(&mut self, cost: &Cost) {
        self.cpus = cost.cpus;
        self.waits = cost.headline == Estimate::Typical;
        self.headline.push(cost.quoted().0);
        self.typical.push(cost.net_ns.typical.0);
        self.best.push(cost.net_ns.best.0);
        self.doubtful += usize::from(!cost.doubts.is_empty());
    }
}

fn group(title: &str, scatters: &[Scatter]) {
    let headline: Vec<f64> = scatters.iter().map(|scatter| scatter.headline).collect();
    println!("{title}");
    println!("  headline  {}", spread(headline.iter().copied()));
    println!("  typical   {}", spread(scatters.iter().filter_map(|scatter| scatter.typical)));
    println!("  best      {}", spread(scatters.iter().filter_map(|scatter| scatter.best)));
    println!("  headline under {}: {} of them", percent(LISTED), share(part_under(LISTED, &headline)));
}

/// Those above the limit, the worst first.
fn list(scatters: &[Scatter]) {
    let mut above: Vec<&Scatter> = scatters.iter().filter(|scatter| scatter.headline >= LISTED).collect();
    above.sort_by(|a, b| b.headline.total_cmp(&a.headline));
    for Scatter { name, headline, typical, best, history } in above {
        let (cpus, runs) = (history.cpus.max(1), history.headline.len());
        println!(
            "  {name:<40} {cpus} CPU  headline {:>7}  typical {:>7}  best {:>7}  doubted in {} of {runs} runs{}",
            percent(*headline),
            share(*typical),
            share(*best),
            history.doubtful,
            if history.waits { "  (waits for a device: quoted by typical)" } else { "" },
        );
    }
}
