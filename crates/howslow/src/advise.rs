//! `howslow file advise`, `howslow file tune` and `howslow study mpe --prefetch`: the crate `advise` measures, this prints.

use std::path::Path;
use std::time::Duration;

use ::instruments::advise::{AdviceRequest, AdviseError, TuningRequest};
use analysis::prefetch::{self, THERE, Tuning};
use measure::Progress;
use record::Nanoseconds;
use report::document::PrefetchStudy;

use crate::cli::{AdviseArgs, TuneArgs};
use crate::output::{self, Outcome};
use crate::scratch;

pub(crate) fn advise(args: &AdviseArgs) -> anyhow::Result<Outcome> {
    let request = AdviceRequest {
        path: &args.path,
        record: args.record,
        order: args.order,
        rate: args.rate,
        budget: Duration::from_secs_f64(args.budget),
    };
    let advice = watched(|progress| ::instruments::advise::advice(&request, progress))?;
    output::answer(args.json, &advice, |style| report::advice(&advice, style))?;
    Ok(Outcome::Done)
}

pub(crate) fn tune(args: &TuneArgs) -> anyhow::Result<Outcome> {
    let tuning = tuned(&args.path, args.rate, Duration::from_secs_f64(args.budget))?;
    output::answer(args.json, &tuning, |style| report::tuning(&tuning, style))?;
    Ok(Outcome::Done)
}

fn tuned(path: &Path, rate: Option<f64>, budget: Duration) -> anyhow::Result<Tuning> {
    watched(|progress| ::instruments::advise::tuning(&TuningRequest { path, name: None, rate, budget }, progress))
}

/// Shows the progress of a measurement of a file. A file that cannot be measured is misuse.
fn watched<T>(measured: impl FnOnce(&mut dyn FnMut(&Progress)) -> Result<T, AdviseError>) -> anyhow::Result<T> {
    output::watched(measured).map_err(|error| output::refused(error.is_misuse(), error))
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
            watched(|progress| ::instruments::advise::tuning_on_scratch(&folder, budget, progress))?
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
