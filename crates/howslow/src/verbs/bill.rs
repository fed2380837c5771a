//! `howslow bill`: what a running program requests of the kernel, priced by a run, beside what the kernel charged.

mod alternate;
pub(crate) mod args;
pub(crate) mod changes;
mod elsewhere;
pub(crate) mod kept;
mod mix;
mod outputs;
mod place;
pub(crate) mod prices;
mod repeat;
mod signal;

use std::time::Duration;

use measure::Signals;
use observe::{Calibrate, Detail, Observer, Options, Source, State, Target};
use record::{Observation, printable};
use system::machine::NamedCgroup;

use crate::output::{Misuse, Outcome, Outgoing, print_note};
use args::BillArgs;
use prices::Prices;
use repeat::Watched;
pub(crate) use signal::{LAST, PassedOn};

/// How often what ended is collected.
const STEP: Duration = Duration::from_millis(20);

pub(crate) fn bill(args: &BillArgs) -> anyhow::Result<Outcome> {
    repeat::check_units(args)?;
    if let [before, after] = args.bills.as_slice() {
        if args.on.is_some() || args.by.is_some() {
            return Err(Misuse("--on and --by price one bill; of two, what was counted is compared".into()).into());
        }
        return changes::changes([before, after], args);
    }
    if let [here] = args.bills.as_slice() {
        repeat::check(args)?;
        if args.per.is_some() || !args.units.is_empty() {
            return Err(Misuse("--per and --units divide two bills; one is priced as a whole".into()).into());
        }
        return elsewhere::elsewhere(here, args);
    }
    outputs::check(args)?;
    repeat::check(args)?;
    let is_to_measure = is_to_measure(args)?;
    let mut prices = Prices::open(args)?;
    let target = target(args)?;
    let detail = if args.counts_only { Detail::Numbers } else { Detail::All };
    let mut options = Options { source: args.source, calibrate: Calibrate::Before, detail, stacks: args.stacks };
    let against = repeat::against(args)?;
    let signals = Signals::watch();
    let alternated = args.alternate.map(|times| alternate::alternate(&target, &options, times, &signals));
    let alternated = alternated.transpose()?.flatten();
    if let Some(come) = signals.come() {
        return Ok(Outcome::Interrupted(come));
    }
    let mut outgoing = Outgoing::default();
    // All repetitions are judged by one calibration, so that its error is no difference between them.
    let once = |target: &Target| -> anyhow::Result<Watched> {
        let observer = Observer::start(target.clone(), &options)?;
        options.calibrate = observer.calibration().map_or(Calibrate::Before, Calibrate::Known);
        // Before it executed its program, the command had the handlers of this process, and may have lost a signal to them.
        if let Some(come) = signals.come() {
            observer.signal(come);
        }
        watch(observer, args, &prices, &signals, &mut outgoing)
    };
    let repeated = repeat::repeated(&target, against.as_ref(), args.repeat.unwrap_or(1), once);
    if let (Err(why), Some(signal)) = (&repeated, signals.come()) {
        print_note(&why.to_string());
        return Ok(Outcome::Interrupted(signal));
    }
    let (mut watched, base) = repeated?;
    // Nothing is attached any more, and a reader that takes nothing must not keep this process from being ended.
    watched.signal = watched.signal.or(signals.end());
    alternate::note(&mut watched.seen, alternated);
    if is_to_measure && watched.signal.is_none() {
        watched.signal = prices.measure(&watched.seen, args.measure)?;
    }
    let own = write_bill(&watched.seen, &watched.seen, args, &prices)?;
    let (text, gate) = match &base {
        Some(base) => compared(base, &watched.seen, args, &prices)?,
        None => (own, Outcome::Done),
    };
    outgoing.add(&text);
    // Once a signal has requested the end, a reader that takes nothing is not waited for.
    let patience = if watched.signal.is_some() { LAST } else { Duration::MAX };
    let finished = match place::is_beside_a_command(args) {
        // The command's status is passed on, whoever reads the bill.
        true => outgoing.finish(std::io::stderr(), patience).or(Ok(())),
        false => outgoing.finish(std::io::stdout(), patience),
    };
    finished.map(|()| if gate == Outcome::Done { watched.outcome() } else { gate })
}

/// True if lacking prices are measured after the watching.
fn is_to_measure(args: &BillArgs) -> Result<bool, Misuse> {
    let wanted = std::env::var_os("HOWSLOW_PRICES").filter(|value| !value.is_empty());
    if let Some(other) = wanted.as_ref().filter(|value| *value != "kept") {
        let remedy = "set it to kept, so that bills measure no prices, or unset it";
        return Err(Misuse(format!("HOWSLOW_PRICES={}: {remedy}", printable(&other.to_string_lossy()))));
    }
    let is_refused = args.no_measure || wanted.is_some();
    Ok(args.measure || !is_refused && args.on.is_none() && args.every.is_none())
}

/// What a command changes beside another one that was run in turn with it.
fn compared(
    base: &Observation,
    seen: &Observation,
    args: &BillArgs,
    prices: &Prices,
) -> anyhow::Result<(String, Outcome)> {
    let bills = [base, seen].map(|seen| analysis::bill::WrittenBill::of(seen, &prices.priced(seen).bill));
    changes::compared([&bills[0], &bills[1]], true, args)
}

fn target(args: &BillArgs) -> Result<Target, Misuse> {
    if !args.words.is_empty() {
        return Ok(Target::Command(args.words.clone()));
    }
    let container = args.container.clone().map(NamedCgroup::Container);
    let named = container.or(args.unit.clone().map(NamedCgroup::Unit)).or(args.pod.clone().map(NamedCgroup::Pod));
    if let Some(named) = named {
        let folder = named.folder().map_err(|error| Misuse(printable(&error.to_string())))?;
        return Ok(Target::Cgroup(folder));
    }
    match (args.pid, &args.cgroup, args.system) {
        (Some(process), ..) => Ok(Target::Process(process)),
        (_, Some(path), _) => Ok(Target::Cgroup(path.clone())),
        (_, _, true) => Ok(Target::System),
        _ => Err(Misuse("say what to watch: -- COMMAND, -p PID, --cgroup PATH, --container NAME, --unit NAME, --pod NAME or --system".into())),
    }
}

fn watch(
    mut observer: Observer,
    args: &BillArgs,
    prices: &Prices,
    signals: &Signals,
    outgoing: &mut Outgoing,
) -> anyhow::Result<Watched> {
    let limit = args.time.map(Duration::from_secs_f64);
    let every = args.every.map(Duration::from_secs_f64);
    let (mut printed, mut before) = (Duration::ZERO, None);
    let patience = if args.words.is_empty() { Duration::ZERO } else { LAST };
    let (mut status, mut passed_on) = (None, PassedOn { signals, come: None });
    loop {
        let time = every.map_or(STEP, |every| every.min(STEP));
        if let State::Ended(with) = observer.step(time)? {
            status = with;
            break;
        }
        if passed_on.is_over(&observer, patience) || limit.is_some_and(|limit| observer.elapsed() >= limit) {
            break;
        }
        if let Some(every) = every.filter(|every| observer.elapsed() >= printed + *every) {
            printed = last_due(observer.elapsed(), every);
            let now = observer.look()?;
            let stretch = before.as_ref().map_or_else(|| now.clone(), |before| now.since(before));
            outgoing.add(&write_bill(&stretch, &now, args, prices)?);
            before = Some(now);
        }
        match place::is_beside_a_command(args) {
            true => drop(outgoing.offer(&mut std::io::stderr())),
            false => outgoing.offer(&mut std::io::stdout())?,
        }
    }
    let seen = observer.finish()?;
    Ok(Watched { seen, status, signal: passed_on.come.map(|(signal, _)| signal) })
}

/// The last time at which a bill was due: after a stop, or a look that took long, the next one is due in time again.
fn last_due(elapsed: Duration, every: Duration) -> Duration {
    let late = elapsed.as_nanos() % every.as_nanos().max(1);
    elapsed - Duration::from_nanos(late as u64)
}

/// Writes the bill of a stretch of time, which is a part of the whole. Returns the text to be printed.
fn write_bill(stretch: &Observation, whole: &Observation, args: &BillArgs, prices: &Prices) -> anyhow::Result<String> {
    let priced = prices.priced(stretch);
    let metrics = |form| store::exchange::bill_metrics(whole, &prices.priced(whole).bill, form);
    let bill = outputs::PricedBill { view: &priced.view(stretch, prices), lines: &priced.lines, metrics: &metrics };
    let text = outputs::write_files(&bill, args)?;
    if args.stacks && stretch.stacks.is_empty() {
        let needed = "that takes eBPF (as root), and a program that runs for more than a moment";
        print_note(&format!("--stacks: no stack was found; {needed}"));
    }
    if place::is_page(args) && stretch.source == Source::Accounts.word() {
        print_note(&match args.source {
            Some(_) => "no call was counted: the accounts tell none; omit --source accounts".to_string(),
            None => format!("no call was counted; {}, to count them", system::machine::remedy_of_refusal()),
        });
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bill_is_due_at_multiples_of_the_time_however_short_it_is() {
        let last = |every| last_due(Duration::from_nanos(3_600_000_000_123), Duration::from_nanos(every)).as_nanos();
        let ends = [3_600_000_000_000, 3_600_000_000_100, 3_600_000_000_123, 3_600_000_000_123];
        assert_eq!([1_000_000_000, 100, 1, 0].map(last), ends);
    }
}
