//! `howslow file advise` and `howslow file tune`, as typed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ::advise::{AdviceRequest, AdviseError, TuningRequest};
use analysis::prefetch::{self, THERE, Tuning};
use clap::{Args, ValueEnum};
use measure::Progress;
use record::Nanoseconds;
use serde_json::json;

use crate::cli::seconds;
use crate::measuring::scratch_folder;
use crate::output::{self, Bar, Misuse, Outcome};

#[derive(Debug, Args)]
pub(crate) struct AdviceAsked {
    /// A regular file; it is put out of memory, and not changed
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// What the program reads at a time: 4096, 64KiB, 1MiB [by chance: 4KiB]
    #[arg(long, value_name = "BYTES", value_parser = record_bytes, allow_hyphen_values = true)]
    pub record: Option<u64>,
    /// The order in which the program reads its records
    #[arg(long, value_enum, default_value = "sequential")]
    pub order: Order,
    /// Bytes a second that the program takes up at most, such as 200MB: it works between its reads
    #[arg(long, value_name = "BYTES/s", value_parser = rate, allow_hyphen_values = true)]
    pub rate: Option<f64>,
    /// Time it may take
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "20s", allow_hyphen_values = true)]
    pub budget: f64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TuningAsked {
    /// A regular file; it is put out of memory, and not changed
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// Bytes a second that the program takes up at most, such as 200MB: it works between its reads
    #[arg(long, value_name = "BYTES/s", value_parser = rate, allow_hyphen_values = true)]
    pub rate: Option<f64>,
    /// Time it may take
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "30s", allow_hyphen_values = true)]
    pub budget: f64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// From beginning to end
    Sequential,
    /// By chance
    Random,
}

pub(crate) fn advise(asked: &AdviceAsked) -> anyhow::Result<Outcome> {
    let request = AdviceRequest {
        path: &asked.path,
        record: asked.record,
        order: match asked.order {
            Order::Sequential => ::advise::Order::Sequential,
            Order::Random => ::advise::Order::Random,
        },
        rate: asked.rate,
        budget: Duration::from_secs_f64(asked.budget),
    };
    let advice = watched(|progress| ::advise::advice(&request, progress))?;
    match asked.json {
        true => output::print_json(&advice)?,
        false => output::print(&report::advice(&advice, output::style()))?,
    }
    Ok(Outcome::Done)
}

pub(crate) fn tune(asked: &TuningAsked) -> anyhow::Result<Outcome> {
    let tuning = tuned(&asked.path, asked.rate, Duration::from_secs_f64(asked.budget))?;
    match asked.json {
        true => output::print_json(&tuning)?,
        false => output::print(&report::tuning(&tuning, output::style()))?,
    }
    Ok(Outcome::Done)
}

fn tuned(path: &Path, rate: Option<f64>, budget: Duration) -> anyhow::Result<Tuning> {
    watched(|progress| ::advise::tuning(&TuningRequest { path, name: None, rate, budget }, progress))
}

/// Shows the progress of what measures a file; a file that cannot be meant is a misuse.
fn watched<T>(measured: impl FnOnce(&mut dyn FnMut(&Progress)) -> Result<T, AdviseError>) -> anyhow::Result<T> {
    let bar = Bar::new();
    let result = measured(&mut |progress| bar.show(progress));
    bar.clear();
    result.map_err(|error| match error.is_misuse() {
        true => Misuse(record::printable(&error.to_string())).into(),
        false => error.into(),
    })
}

/// `howslow study mpe --prefetch`: the paper's arithmetic there, and the tuner here, on a file of the user's or one made for
/// it.
pub(crate) fn study(path: Option<&Path>, budget: Option<f64>, json: bool) -> anyhow::Result<Outcome> {
    const SECONDS: f64 = 30.0;
    let budget = Duration::from_secs_f64(budget.unwrap_or(SECONDS));
    let (latency_ns, consumption) = THERE;
    let distance = prefetch::distance(latency_ns, consumption);
    let tuning = match path {
        Some(path) => tuned(path, None, budget)?,
        None => {
            let folder = scratch_folder()?;
            watched(|progress| ::advise::tuning_on_scratch(&folder, budget, progress))?
        }
    };
    if json {
        let there = json!({ "latency_ns": latency_ns, "consumption": consumption, "distance": distance });
        output::print_json(&json!({ "paper": "mpe", "there": there, "prefetch": tuning }))?;
    } else {
        let page = report::tuning(&tuning, output::style());
        output::print(&format!(
            "there: a read of {} x {} bytes/ms consumed = {distance} bytes to ask for ahead\nhere:  {page}",
            Nanoseconds(latency_ns),
            consumption / 1e3
        ))?;
    }
    Ok(Outcome::Done)
}

/// `4096`, `64KiB`, `1 MiB`: a record of whole words.
fn record_bytes(text: &str) -> Result<u64, String> {
    match bytes(text) {
        Some(bytes) if (8.0..=(64 << 20) as f64).contains(&bytes) && bytes % 8.0 == 0.0 => Ok(bytes as u64),
        _ => Err("say a multiple of 8 bytes up to 64MiB, such as 4096 or 64KiB".into()),
    }
}

/// `200MB`, `1.5GiB/s`.
fn rate(text: &str) -> Result<f64, String> {
    match bytes(text.trim().trim_end_matches("/s")) {
        Some(rate) if (1e3..=1e12).contains(&rate) => Ok(rate),
        _ => Err("say bytes a second from 1kB to 1TB, such as 200MB".into()),
    }
}

/// A number with a unit of bytes, or none.
fn bytes(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 9] = [
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("kB", 1e3),
        ("KB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("B", 1.0),
    ];
    let text = text.trim();
    let unit = UNITS.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)));
    let (number, factor) = unit.unwrap_or((text, 1.0));
    number.trim().parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| number * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_rates_are_read_with_their_units() {
        assert_eq!(record_bytes("4096"), Ok(4096));
        assert_eq!(record_bytes(" 64 KiB"), Ok(65_536));
        assert_eq!(rate("200MB"), Ok(2e8));
        assert_eq!(rate("1.5 GiB/s"), Ok(1.5 * 1_073_741_824.0));
        for nonsense in ["", "0", "-8", "12", "7KiB7", "nan", "inf", "1GiB", "1e30"] {
            assert!(record_bytes(nonsense).is_err(), "{nonsense}");
        }
        for nonsense in ["", "0", "-1MB", "nanMB", "inf", "9999TB", "fast"] {
            assert!(rate(nonsense).is_err(), "{nonsense}");
        }
    }
}
