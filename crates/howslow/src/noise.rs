//! `howslow noise`: how long a computing program is taken away from each CPU, and by whom.

use std::time::Duration;

use ::instruments::noise::{NoiseError, Options, Order, Tracing};
use analysis::noise::{CpuAccount, account};
use measure::Signals;
use report::document::NoiseDocument;

use crate::cli::NoiseArgs;
use crate::cpu;
use crate::output::{self, Misuse, Outcome};
use crate::pictures;

/// A recording is kept in memory until its end.
const LONGEST: f64 = 600.0;
/// The counters are read as often as every few milliseconds.
const SHORTEST: f64 = 1e-3;

pub(crate) fn noise(args: &NoiseArgs) -> anyhow::Result<Outcome> {
    let machine = system::machine::describe();
    let usable = system::machine::pinnable_cpus();
    cpu::check(args.cpu, &usable)?;
    let cpus = args.cpu.map_or(usable, |cpu| vec![cpu]);
    pictures::check(args.svg.as_deref())?;
    if args.time > LONGEST {
        return Err(Misuse("--time: a CPU is watched for 10 minutes at most; say a shorter time".into()).into());
    }
    if args.time < SHORTEST {
        return Err(Misuse("--time: in less than 1 ms nothing can be seen; say a longer time".into()).into());
    }
    let signals = Signals::watch();
    let options = Options {
        time: Duration::from_secs_f64(args.time),
        threshold: args.threshold,
        order: if args.together { Order::AtOnce } else { Order::OneByOne },
        tracing: if args.no_trace { Tracing::Never } else { Tracing::IfAllowed },
        stop: signals.any(),
    };
    let mut recordings = ::instruments::noise::record(&cpus, &options).map_err(|error| match error {
        NoiseError::Cpu(cpu, why) => anyhow::anyhow!("CPU {cpu} cannot be watched: {why}"),
        other => other.into(),
    })?;
    let come = signals.end();
    recordings.iter_mut().for_each(|recording| recording.tick_hz = machine.kernel.tick_hz);
    let accounts: Vec<CpuAccount> = recordings.iter().map(account).collect();
    let document = NoiseDocument { machine: &machine, together: args.together, cpus: &accounts };
    let charts = args.chart.then(|| output::style().width());
    output::answer(args.json, &document, |style| report::noise(&accounts, args.together, charts, style))?;
    pictures::write(args.svg.as_deref(), [("noise", report::noise_chart(&accounts).svg())])?;
    Ok(output::until(come))
}
