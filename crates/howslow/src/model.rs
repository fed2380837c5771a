//! `howslow model`: answers about a system with users, from parameters or from measured configurations. Runs nothing.

use std::path::Path;

use analysis::model::answer::{Questions, answer};
use analysis::model::{FaultCurve, Figure, Fit, MeasuredMeans, ModelFile, SimulationSettings, System, fit};
use record::printable;
use report::document::ModelDocument;
use serde::Deserialize;

use crate::cli::{DemandArgs, ModelArgs};
use crate::output::{self, Misuse, Outcome};
use crate::pictures;

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
    let charts = report::model_charts(&found).into_iter().map(|(name, chart)| (name, chart.svg()));
    pictures::write(args.svg.as_deref(), charts)?;
    Ok(Outcome::Done)
}

/// Reads a file: TOML, or the document that `howslow load --predict --json` prints. The error names the line.
fn read(path: &Path) -> Result<ModelFile, Misuse> {
    let name = printable(&path.display().to_string());
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
