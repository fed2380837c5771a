//! `howslow model`: answers about a system with users, from parameters or from measured configurations. Runs nothing.

use std::path::{Path, PathBuf};

use analysis::model::answer::{Questions, answer};
use analysis::model::{FaultCurve, Figure, Fit, MeasuredMeans, ModelFile, SimulationSettings, System, fit};
use clap::Args;
use record::printable;
use report::document::ModelDocument;
use serde::Deserialize;

use crate::cli::value::{at_least_one, seconds, size, time, whole};
use crate::output::{self, Misuse, Outcome};
use crate::pictures;

const MODELLED: &str = "\
FILE is TOML with a table [system], or with measured configurations to fit, [[measured]], and the
[configuration] to predict (docs/LOAD.md lists every key). `howslow load PLAN --predict -o FILE` writes
one with measured demands; the document of its --json is read too. Options replace what the file says.
Without a file, at least --users and --user are needed.
Examples: howslow model --users 20 --think 10s --user 400ms --mean 2s
          howslow model --users 28 --think 27s --eligible 3 --user 395ms --handling 8ms
                        --between-faults 22ms,21ms,16ms --page-wait 28.4ms
          howslow model office.toml --users 40 --p95 5s --more-memory 256MiB --svg charts
          howslow model office.toml --page-wait 0s --page-cpu 13us
Exit status: 0 done; 1 failed; 2 misused: a parameter outside its range, an unknown key.";

/// Model users, CPUs, memory and a page device: response, idle time, how many users, what a change is worth
#[derive(Debug, Args)]
#[command(after_help = MODELLED, arg_required_else_help = true)]
pub(crate) struct ModelArgs {
    /// A file with the parameters
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Users
    #[arg(long, value_name = "N", value_parser = at_least_one::<u32>)]
    pub users: Option<u32>,
    /// Mean think time
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub think: Option<f64>,
    /// At most so many interactions hold memory at once; the others queue
    #[arg(long, value_name = "N", value_parser = at_least_one::<u32>)]
    pub eligible: Option<u32>,
    /// CPUs
    #[arg(long, value_name = "N", value_parser = at_least_one::<u32>)]
    pub cpus: Option<u32>,
    /// Memory of all interactions together
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory: Option<u64>,
    /// The page device, of those in the file
    #[arg(long, value_name = "NAME", requires = "file")]
    pub device: Option<String>,
    #[command(flatten)]
    pub demands: DemandArgs,
    #[command(flatten)]
    pub questions: QuestionArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Also write the charts as SVG files into this folder
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
}

/// What one interaction asks for.
#[derive(Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "One interaction")]
pub(crate) struct DemandArgs {
    /// CPU time in user mode
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub user: Option<f64>,
    /// CPU time in the system, without page faults
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub system: Option<f64>,
    /// Waiting for other things than pages
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub other_wait: Option<f64>,
    /// Page faults, whatever memory there is
    #[arg(long, value_name = "N", conflicts_with = "between_faults", value_parser = number, allow_negative_numbers = true)]
    pub faults: Option<f64>,
    /// Mean CPU time between page faults, their handling included: one for all, or by depth of multiprogramming, 22ms,21ms,16ms
    #[arg(long, value_name = "TIME,...", value_delimiter = ',', value_parser = time)]
    pub between_faults: Vec<f64>,
    /// CPU time for handling one page fault
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub handling: Option<f64>,
    /// Wait for a page from the page device, without queueing there
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub page_wait: Option<f64>,
    /// CPU time that the page device takes for a page, as zram does
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub page_cpu: Option<f64>,
    /// Pages that the page device serves at once [default: all]
    #[arg(long, value_name = "N", value_parser = at_least_one::<u32>)]
    pub channels: Option<u32>,
}

/// What is to be answered.
#[derive(Debug, Args)]
#[command(next_help_heading = "Questions")]
pub(crate) struct QuestionArgs {
    /// How many users have a mean response within this time?
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub mean: Option<f64>,
    /// For how many users are 95 % of the responses within this time?
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub p95: Option<f64>,
    /// What is this much more memory worth?
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = size)]
    pub more_memory: u64,
    /// Events of the simulation
    #[arg(long, value_name = "N", default_value_t = 2_000_000, value_parser = events)]
    pub events: u64,
    /// Seed of the simulation
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64>)]
    pub seed: u64,
}

/// A number from 0 up.
fn number(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok().filter(|number| (0.0..=1e9).contains(number));
    number.ok_or_else(|| "give a number from 0 to a billion, such as 43".into())
}

/// A number of events that ends within minutes.
fn events(text: &str) -> Result<u64, String> {
    let events = whole::<u64>(text)?;
    if (10_000..=1_000_000_000).contains(&events) { Ok(events) } else { Err("give 10000 to 1000000000 events".into()) }
}

/// A longer file is no model. The document of an experiment holds what was measured too.
const MOST_BYTES: u64 = 16 << 20;

pub(crate) fn model(args: &ModelArgs) -> anyhow::Result<Outcome> {
    pictures::check(args.svg.as_deref())?;
    let file = args.file.as_deref().map(read).transpose()?.unwrap_or_default();
    let Described { system, measured, fit } = described(file, args)?;
    let options = &args.questions;
    let questions = Questions {
        mean_s: options.mean,
        p95_s: options.p95,
        more_bytes: options.more_memory,
        simulation: SimulationSettings { events: options.events, seed: options.seed },
        measured,
        fit,
    };
    let found = output::computed("solving the model", || answer(&system, &questions));
    let found = found.map_err(|error| Misuse(error.to_string()))?;
    output::answer(args.json, &ModelDocument::of(&found), |style| report::model(&found, style.width(), style))?;
    pictures::write_charts(args.svg.as_deref(), report::model_charts(&found))?;
    Ok(Outcome::Done)
}

/// Reads a file: TOML, or the document that `howslow load --predict --json` prints. The error names the line.
fn read(path: &Path) -> Result<ModelFile, Misuse> {
    let name = output::shown(path);
    let text = record::read_text(path, MOST_BYTES).map_err(|error| Misuse(format!("cannot read {name}: {error}")))?;
    let file = if text.trim_start().starts_with('{') { from_document(&text) } else { from_toml(&text) };
    let file = file.map_err(|why| Misuse(format!("{name}{why}")))?;
    file.wrong().map_or(Ok(()), |why| Err(Misuse(format!("{name}: {why}")))).map(|()| file)
}

fn from_toml(text: &str) -> Result<ModelFile, String> {
    toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let what = printable(&error.message().replace('\n', " "));
        format!(", line {line}: {what}; docs/LOAD.md lists the keys")
    })
}

/// What the document of an experiment holds for the model.
fn from_document(text: &str) -> Result<ModelFile, String> {
    /// The one key that matters here.
    #[derive(Deserialize)]
    struct Document {
        model: Option<ModelFile>,
    }
    let document: Document = serde_json::from_str(text)
        .map_err(|error| format!(": {}; give a document of `howslow load --json`", printable(&error.to_string())))?;
    document.model.ok_or_else(|| {
        ": this document has no demands for the model; `howslow load PLAN --predict --json` prints one that has".into()
    })
}

/// The system to predict, what was measured of it, and the fit that it comes from.
struct Described {
    system: System,
    measured: Option<MeasuredMeans>,
    fit: Option<Fit>,
}

fn described(file: ModelFile, args: &ModelArgs) -> Result<Described, Misuse> {
    // With other demands than the file's, nothing was measured of the system.
    let is_same = args.demands == DemandArgs::default();
    if file.system.is_some() || file.measured.is_empty() {
        if file.system.is_none() && (args.users.is_none() || args.demands.user.is_none()) {
            return Err(Misuse("without a file, give at least --users and --user (CPU time of an interaction)".into()));
        }
        let mut system = given(&file, args)?;
        system.users = args.users.unwrap_or(system.users);
        system.eligible = args.eligible.or(system.eligible);
        system.cpus = args.cpus.unwrap_or(system.cpus);
        system.memory_bytes = args.memory.or(system.memory_bytes);
        replace(&mut system.think_s, args.think);
        let configuration = system.configuration();
        let measured = file.measured.into_iter().find(|measured| is_same && measured.configuration == configuration);
        return Ok(Described { system: with_demands(system, &args.demands)?, measured, fit: None });
    }
    let mut configuration = file.configuration.unwrap_or_else(|| file.measured[0].configuration.clone());
    configuration.users = args.users.unwrap_or(configuration.users);
    configuration.eligible = args.eligible.or(configuration.eligible);
    configuration.cpus = args.cpus.unwrap_or(configuration.cpus);
    configuration.memory_bytes = args.memory.or(configuration.memory_bytes);
    configuration.think_s = args.think.unwrap_or(configuration.think_s);
    configuration.page_device = args.device.clone().unwrap_or(configuration.page_device);
    let fitted = fit(&file.measured).map_err(|error| Misuse(error.to_string()))?;
    let system = fitted.system(&configuration).map_err(|error| Misuse(error.to_string()))?;
    let same = file.measured.into_iter().find(|measured| is_same && measured.configuration == configuration);
    Ok(Described { system: with_demands(system, &args.demands)?, measured: same, fit: Some(fitted) })
}

/// The system of the file with the page device that is requested, or one to be described by options.
fn given(file: &ModelFile, args: &ModelArgs) -> Result<System, Misuse> {
    let system = file.system_with(args.device.as_deref());
    match (system, &args.device) {
        (Some(system), _) => Ok(system.clone()),
        (None, Some(device)) => {
            let devices = file.devices();
            let has = if devices.is_empty() { "no page device".into() } else { printable(&devices.join(", ")) };
            Err(Misuse(format!("--device {}: the file has {has}", printable(device))))
        }
        (None, None) => Ok(System::default()),
    }
}

/// An option replaces a figure and its interval.
fn replace(figure: &mut Figure, option: Option<f64>) {
    if let Some(value) = option {
        *figure = value.into();
    }
}

/// The system with the demands that the options give.
fn with_demands(mut system: System, args: &DemandArgs) -> Result<System, Misuse> {
    replace(&mut system.user_s, args.user);
    replace(&mut system.system_s, args.system);
    replace(&mut system.other_wait_s, args.other_wait);
    replace(&mut system.handling_s, args.handling);
    replace(&mut system.page_device.service_s, args.page_wait);
    replace(&mut system.page_device.cpu_s, args.page_cpu);
    system.page_device.channels = args.channels.or(system.page_device.channels);
    if let Some(faults) = args.faults {
        system.faults = FaultCurve::PerInteraction(faults.into());
    }
    let handling = system.handling_s.value + system.page_device.cpu_s.value;
    match args.between_faults.as_slice() {
        [] => {}
        times if times.iter().any(|&time| time <= handling) => {
            let why = "--between-faults: the CPU time between faults contains their handling";
            return Err(Misuse(format!("{why}, so it is longer than --handling and --page-cpu together")));
        }
        [time] => system.faults = FaultCurve::Every((time - handling).into()),
        times => system.faults = FaultCurve::ByDepth(times.iter().map(|&time| time.into()).collect()),
    }
    Ok(system)
}
