//! What `compare` reports between stored runs that differ in nothing, and of changes that are made in one of them:
//! `changes none|all RUN...`. The scatter of a run's rounds is learnt from all other runs or from none. For scoring the rule.

use std::collections::BTreeMap;
use std::path::Path;

use analysis::again::{pooled, recompute};
use analysis::change::LEAST;
use analysis::compare::{CompareOptions, Verdict, Versions, compare};
use analysis::derived::net;
use analysis::history::traces;
use analysis::prior::{Prior, learn};
use analysis::reference::{Facts, judge};
use analysis::watch::{Observed, Strictness, changes};
use record::{Cost, Estimate, Run};

const HOW: CompareOptions = CompareOptions { unit: None, threshold: LEAST, margin: 0.05, versions: Versions::Kept };
/// Shows the clock, and is therefore not changed.
const CLOCKWORK: &str = "instruction.add.latency";
const SHIFTS: [f64; 3] = [1.02, 1.05, 1.10];
/// Pairs of sets of runs, of each size.
const SETS: usize = 50;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [history, paths @ ..] = arguments.as_slice() else { return Err("changes none|all RUN...".into()) };
    let stored = paths.iter().map(|path| record::read_run(Path::new(path))).collect::<Result<Vec<_>, _>>()?;
    let left: Vec<_> = stored.iter().map(traces).collect();
    let mut runs = stored;
    for (place, run) in runs.iter_mut().enumerate() {
        let others = || left.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, left)| left);
        recompute(run, &|cost| match history.as_str() {
            "all" => learn(others().filter_map(|left| left.get(&cost.name())), Prior::usual_for(cost)),
            _ => Prior::usual_for(cost),
        });
    }
    let mut random = fastrand::Rng::with_seed(1);
    for least in [LEAST, 0.03] {
        watched(&runs, least, &mut random);
    }
    verdicts_on_reference(&runs)?;
    for size in 1..=runs.len() / 2 {
        let mut tally = Tally::default();
        for pair in pairs(runs.len(), size, &mut random) {
            let sides = pair.map(|places| places.into_iter().map(|place| runs[place].clone()).collect::<Vec<_>>());
            let [Some(one), Some(other)] = sides.map(|side| pooled(&side)) else { continue };
            tally.add(one, &other);
        }
        tally.print(size);
    }
    Ok(())
}

/// How often a watch over these runs in any order reports a change of the newest.
fn watched(runs: &[Run], least: f64, random: &mut fastrand::Rng) {
    const ORDERS: usize = 100;
    let mut order: Vec<&Run> = runs.iter().collect();
    let (mut alarms, mut told, mut costs) = (0, 0, 0);
    let mut wrong: BTreeMap<String, u32> = BTreeMap::new();
    for _ in 0..ORDERS {
        random.shuffle(&mut order);
        let series = |name: &str, by: f64| -> Vec<Observed> {
            let place = |run: usize| if run + 1 == order.len() { by } else { 1.0 };
            let cost = |run: &&Run| run.costs.iter().find(|cost| cost.name() == name).cloned();
            let found = order.iter().enumerate().filter_map(|(at, run)| Some((at, cost(run)?)));
            let observed = |(at, cost): (usize, Cost)| {
                let figure = analysis::history::figure(&cost)? * place(at);
                Some(Observed::of(figure, net(&cost)))
            };
            found.filter_map(observed).collect()
        };
        let strict = Strictness { costs: runs[0].costs.len(), least };
        let lasts = |series: &[Observed]| changes(series, strict).iter().any(|change| change.ends == series.len());
        let names: Vec<String> = runs[0].costs.iter().map(Cost::name).collect();
        let reported: Vec<&String> = names.iter().filter(|name| lasts(&series(name, 1.0))).collect();
        alarms += usize::from(!reported.is_empty());
        reported.into_iter().for_each(|name| *wrong.entry(name.clone()).or_default() += 1);
        told += names.iter().filter(|name| lasts(&series(name, 1.05))).count();
        costs += names.len();
    }
    println!(
        "watch, at least {:.0} %: {alarms} alarms in {ORDERS} orders {wrong:?}; 5 % in the newest told of {:.0} in 100 costs",
        100.0 * least,
        100.0 * told as f64 / costs as f64
    );
}

/// How many costs of each run are open beside a reference.
fn verdicts_on_reference(runs: &[Run]) -> Result<(), record::BookError> {
    let reference = [record::Book::from_toml(include_str!("../../books/zen-4-kvm.toml"))?.run()];
    for run in runs {
        let facts = Facts { machine: &run.machine, noise: &run.noise, present: None };
        let verdict = judge(run, &reference, &facts);
        let open: Vec<String> = verdict.open.iter().map(|cost| cost.name()).collect();
        println!(
            "verdict: {} odd, {} cheaper, {} within, open {open:?}",
            verdict.odd_costs(),
            verdict.cheaper,
            verdict.within
        );
    }
    Ok(())
}

/// Pairs of disjoint sets of places: all pairs of single runs, else some by chance.
fn pairs(count: usize, size: usize, random: &mut fastrand::Rng) -> Vec<[Vec<usize>; 2]> {
    if size == 1 {
        return (0..count).flat_map(|one| (one + 1..count).map(move |other| [vec![one], vec![other]])).collect();
    }
    let mut places: Vec<usize> = (0..count).collect();
    let mut pair = || {
        random.shuffle(&mut places);
        [places[..size].to_vec(), places[size..2 * size].to_vec()]
    };
    (0..SETS).map(|_| pair()).collect()
}

#[derive(Default)]
struct Tally {
    pairs: usize,
    with_change: usize,
    rows: usize,
    inconclusive: usize,
    false_changes: BTreeMap<String, usize>,
    /// By kind of cost: rows, and the shifts that were reported.
    told: BTreeMap<&'static str, (usize, [usize; SHIFTS.len()])>,
}

impl Tally {
    fn add(&mut self, one: Run, other: &Run) {
        self.pairs += 1;
        let mut runs = [one, other.clone()];
        let verdicts = verdicts(&runs);
        self.rows += verdicts.len();
        self.with_change += usize::from(verdicts.iter().any(|row| row.2.is_change()));
        for (name, _, verdict) in &verdicts {
            self.inconclusive += usize::from(*verdict == Verdict::Inconclusive);
            if verdict.is_change() {
                *self.false_changes.entry(name.clone()).or_default() += 1;
            }
        }
        for (place, shift) in SHIFTS.into_iter().enumerate() {
            for (by, expected) in [(shift, Verdict::Slower), (1.0 / shift, Verdict::Faster)] {
                runs[1] = shifted(other, by);
                for (_, kind, verdict) in self::verdicts(&runs).into_iter().filter(|row| !row.0.starts_with(CLOCKWORK))
                {
                    let told = self.told.entry(kind).or_default();
                    told.0 += usize::from(place == 0);
                    told.1[place] += usize::from(verdict == expected);
                }
            }
        }
    }

    fn print(&self, size: usize) {
        let share = |of: usize, all: usize| 100.0 * of as f64 / all.max(1) as f64;
        println!(
            "{size} against {size}: {} pairs, {:.0} % with a change, {:.0} % of {} rows inconclusive",
            self.pairs,
            share(self.with_change, self.pairs),
            share(self.inconclusive, self.rows),
            self.rows
        );
        let one = ["core", "memory"].map(|kind| self.told.get(kind).copied().unwrap_or_default());
        println!(
            "  one CPU: 5 % told of {:.1}, all: {:.1}",
            share(one.iter().map(|it| it.1[1]).sum(), one.iter().map(|it| it.0).sum()),
            share(self.told.values().map(|it| it.1[1]).sum(), self.told.values().map(|it| it.0).sum())
        );
        for (kind, (rows, told)) in &self.told {
            let shift = |(by, told): (&f64, &usize)| format!("{:.0} %: {:.0}", 100.0 * (by - 1.0), share(*told, *rows));
            let shares: Vec<String> = SHIFTS.iter().zip(told).map(shift).collect();
            println!("  {kind:10} told of 100 changes by {}", shares.join(", "));
        }
        println!("  false: {:?}", self.false_changes);
    }
}

fn verdicts(runs: &[Run; 2]) -> Vec<(String, &'static str, Verdict)> {
    let rows = compare(runs, &HOW).rows;
    let told = |row: &analysis::compare::ComparisonRow<'_>| {
        let (_, against) = row.others[0].as_ref()?;
        Some((row.base.name(), kind(row.base), against.verdict))
    };
    rows.iter().filter_map(told).collect()
}

fn kind(cost: &Cost) -> &'static str {
    match (cost.headline, cost.cpus) {
        (Estimate::Quiet, 0 | 1) if cost.follows_clock => "core",
        (Estimate::Quiet, 0 | 1) => "memory",
        (Estimate::Quiet, _) => "two CPUs",
        _ => "waiting",
    }
}

/// A run in which everything costs so many times as much, but for the add that shows its clock.
fn shifted(run: &Run, by: f64) -> Run {
    let mut run = run.clone();
    for cost in run.costs.iter_mut().filter(|cost| cost.operation != CLOCKWORK) {
        (cost.net_ns, cost.gross_ns) = (cost.net_ns.times(by), cost.gross_ns.times(by));
        cost.cycles *= by;
        cost.rounds.iter_mut().flat_map(|round| &mut round.ns).for_each(|ns| *ns *= by);
    }
    run
}
