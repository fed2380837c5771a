//! `howslow noise`: how long a computing program is taken away from each CPU, and by whom.

use std::path::PathBuf;
use std::time::Duration;

use ::instruments::noise::{NoiseError, Options, Order, Tracing};
use analysis::noise::{CpuAccount, account};
use clap::Args;
use measure::Signals;
use report::document::NoiseDocument;

use crate::cli::value::{nanoseconds, seconds, whole};
use crate::output::{self, Misuse, Outcome};
use crate::{cpu, pictures};

const EXPLAINED: &str = "\
A task that only reads the clock notes every step that takes longer than usual. CPUs are watched one after
another, each for --time, so that other programs have the other CPUs; --together watches all at once.
As root, the kernel's tracepoints say what each gap was; otherwise counters do. Nothing is left switched on.
Examples:
  howslow noise
  howslow noise --cpu 1 --time 60s --threshold 5us
  howslow noise --together --json
Exit status: 0 done; 1 failed; 2 misused: no such CPU; 130 interrupted.";

/// How long a computing program is taken away from each CPU, and by whom
#[derive(Debug, Args)]
#[command(after_help = EXPLAINED)]
pub(crate) struct NoiseArgs {
    /// Watch this CPU only
    #[arg(long, value_name = "N", value_parser = whole::<u32>, allow_hyphen_values = true)]
    pub cpu: Option<u32>,
    /// How long each CPU is watched, up to 10 minutes
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = seconds, allow_hyphen_values = true)]
    pub time: f64,
    /// How much longer than usual a step must be to count as a gap
    #[arg(long, value_name = "TIME", default_value = "100ns", value_parser = nanoseconds, allow_hyphen_values = true)]
    pub threshold: f64,
    /// Watch all CPUs at once
    #[arg(long, conflicts_with = "cpu")]
    pub together: bool,
    /// Use counters only, also where tracepoints are allowed
    #[arg(long)]
    pub no_trace: bool,
    /// Show how many gaps there are of at least each length, as a chart
    #[arg(long)]
    pub chart: bool,
    /// Write the chart into this folder, as SVG
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

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
    pictures::write_charts(args.svg.as_deref(), [("noise", report::noise_chart(&accounts))])?;
    Ok(output::until(come))
}
