//! `howslow file advise`, `howslow file tune` and `howslow study mpe --prefetch`: the crate `advise` measures, this prints.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ::instruments::advise::ReadOrder;
use analysis::prefetch::{self, THERE, Tuning};
use clap::Args;
use instruments::advise::{AdviceRequest, TuningRequest};
use record::Nanoseconds;
use report::document::PrefetchStudy;

use crate::cli::value::{rate, record_bytes, seconds};
use crate::output::{self, Outcome};
use crate::scratch;

#[derive(Debug, Args)]
pub(crate) struct AdviseArgs {
    /// A regular file; it is evicted from memory, and not changed
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// What the program reads at a time: 4096, 64KiB, 1MiB [default with --order random: 4KiB]
    #[arg(long, value_name = "BYTES", value_parser = record_bytes, allow_hyphen_values = true)]
    pub record: Option<u64>,
    /// The order in which the program reads its records
    #[arg(long, value_enum, default_value = "sequential")]
    pub order: ReadOrder,
    /// The most bytes a second that the program processes between its reads, such as 200MB
    #[arg(long, value_name = "BYTES/s", value_parser = rate, allow_hyphen_values = true)]
    pub rate: Option<f64>,
    /// Time the measurement may take
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "20s", allow_hyphen_values = true)]
    pub budget: f64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    /// A regular file; it is evicted from memory, and not changed
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// The most bytes a second that the program processes between its reads, such as 200MB
    #[arg(long, value_name = "BYTES/s", value_parser = rate, allow_hyphen_values = true)]
    pub rate: Option<f64>,
    /// Time the measurement may take
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "30s", allow_hyphen_values = true)]
    pub budget: f64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub(crate) fn advise(args: &AdviseArgs) -> anyhow::Result<Outcome> {
    let request = AdviceRequest {
        path: &args.path,
        record: args.record,
        order: args.order,
        rate: args.rate,
        budget: Duration::from_secs_f64(args.budget),
    };
    let advice = output::watched(|progress| instruments::advise::advice(&request, progress))?;
    output::answer(args.json, &advice, |style| report::advice(&advice, style))?;
    Ok(Outcome::Done)
}

pub(crate) fn tune(args: &TuneArgs) -> anyhow::Result<Outcome> {
    let tuning = tuned(&args.path, args.rate, Duration::from_secs_f64(args.budget))?;
    output::answer(args.json, &tuning, |style| report::tuning(&tuning, style))?;
    Ok(Outcome::Done)
}

fn tuned(path: &Path, rate: Option<f64>, budget: Duration) -> anyhow::Result<Tuning> {
    let request = TuningRequest { path, name: None, rate, budget };
    Ok(output::watched(|progress| instruments::advise::tuning(&request, progress))?)
}

/// `howslow study mpe --prefetch`: the paper's arithmetic for its machine, and the tuner on this machine, on the user's file or one
/// created for it.
pub(crate) fn study(path: Option<&Path>, budget: Option<f64>, json: bool) -> anyhow::Result<Outcome> {
    const SECONDS: f64 = 30.0;
    let budget = Duration::from_secs_f64(budget.unwrap_or(SECONDS));
    let tuning = match path {
        Some(path) => tuned(path, None, budget)?,
        None => {
            let folder = scratch::folder()?;
            output::watched(|progress| instruments::advise::tuning_on_scratch(&folder, budget, progress))?
        }
    };
    output::answer(json, &PrefetchStudy::of(&tuning), |style| {
        let (latency_ns, consumption) = THERE;
        let distance = prefetch::distance(latency_ns, consumption);
        format!(
            "there: a read of {} x {} bytes/ms consumed = {distance} bytes to request ahead\nhere:  {}",
            Nanoseconds(latency_ns),
            consumption / 1e3,
            report::tuning(&tuning, style)
        )
    })?;
    Ok(Outcome::Done)
}
