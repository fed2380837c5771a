//! `howslow noise`: how long a computing program is taken away from each CPU, and by whom.

use std::time::Duration;

use ::noise::{NoiseError, Options, Order, Tracing};
use analysis::noise::{CpuAccount, account};
use report::document::NoiseDocument;

use crate::cli::NoiseArgs;
use crate::output::{self, Misuse, Outcome};
use crate::pictures::{self, Picture};

/// A recording is kept in memory until its end.
const LONGEST: f64 = 600.0;

pub(crate) fn noise(args: &NoiseArgs) -> anyhow::Result<Outcome> {
    let machine = machine::describe();
    let cpus = cpus(&machine.cpu.usable, args)?;
    pictures::check(args.svg.as_deref())?;
    if args.time > LONGEST {
        return Err(Misuse("--time: a CPU is watched for 10 minutes at most; say a shorter time".into()).into());
    }
    let options = Options {
        time: Duration::from_secs_f64(args.time),
        threshold: args.threshold,
        order: if args.together { Order::AtOnce } else { Order::OneByOne },
        tracing: if args.no_trace { Tracing::Never } else { Tracing::IfAllowed },
    };
    let mut recordings = ::noise::record(&cpus, &options).map_err(|error| match error {
        NoiseError::Cpu(cpu, why) => anyhow::anyhow!("CPU {cpu} cannot be watched: {why}"),
        other => other.into(),
    })?;
    recordings.iter_mut().for_each(|recording| recording.tick_hz = machine.kernel.tick_hz);
    let accounts: Vec<CpuAccount> = recordings.iter().map(account).collect();
    if args.json {
        output::print_document(&NoiseDocument::of(&machine, &accounts, args.together))?;
    } else {
        let charts = args.chart.then(output::width);
        output::print_page(&report::noise(&accounts, args.together, charts, output::style()))?;
    }
    let picture = || Picture { name: "noise".into(), svg: report::noise_chart(&accounts).svg() };
    pictures::write(args.svg.as_deref(), &args.svg.iter().map(|_| picture()).collect::<Vec<_>>())?;
    Ok(Outcome::Done)
}

/// The CPUs to watch.
fn cpus(usable: &[u32], args: &NoiseArgs) -> Result<Vec<u32>, Misuse> {
    match args.cpu {
        None => Ok(usable.to_vec()),
        Some(cpu) if usable.contains(&cpu) => Ok(vec![cpu]),
        Some(cpu) => {
            let may: Vec<String> = usable.iter().map(u32::to_string).collect();
            let may = may.join(", ");
            Err(Misuse(format!("--cpu {cpu}: this process may use the CPUs {may}; choose one of them")))
        }
    }
}
