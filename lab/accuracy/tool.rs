//! The program under test, as cargo built it for the benches, with a data folder of its own.

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use anyhow::{Context, ensure};
use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin;
use record::{Cost, Run};
use tempfile::TempDir;

/// The command `howslow`; what it learns of the machine is kept from run to run, as it is for a user.
pub(crate) struct Howslow {
    data: TempDir,
}

impl Howslow {
    pub(crate) fn new() -> anyhow::Result<Howslow> {
        Ok(Howslow { data: tempfile::tempdir().context("cannot make a folder for the runs")? })
    }

    pub(crate) fn program() -> &'static Path {
        cargo_bin!("howslow-lab")
    }

    pub(crate) fn data(&self) -> &Path {
        self.data.path()
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(Howslow::program());
        command.env("HOWSLOW_DATA", self.data());
        command
    }

    /// A run of these operations within a budget; of the headline operations, within theirs, where none is named.
    ///
    /// # Errors
    /// When it fails, or prints no run.
    pub(crate) fn run(&self, patterns: &[&str], budget: Option<Duration>) -> anyhow::Result<Run> {
        self.run_under(|_| (), patterns, budget)
    }

    /// The same, of a process that something was done to before it starts.
    ///
    /// # Errors
    /// When it fails, or prints no run.
    pub(crate) fn run_under(
        &self,
        arrange: impl FnOnce(&mut std::process::Command),
        patterns: &[&str],
        budget: Option<Duration>,
    ) -> anyhow::Result<Run> {
        let mut command = std::process::Command::new(Howslow::program());
        arrange(&mut command);
        let mut command = Command::from_std(command);
        command.env("HOWSLOW_DATA", self.data());
        command.args(["run", "--json"]).args(patterns);
        if let Some(budget) = budget {
            command.args(["--budget", &format!("{}ms", budget.as_millis())]);
        }
        let output = command.output().context("howslow does not start")?;
        // 3: something asked for by name was skipped. What is missing is seen where it is looked for.
        ensure!(matches!(output.status.code(), Some(0 | 3)), "howslow failed: {}", said(&output));
        record::run_from_bytes(&output.stdout).context("howslow printed no run")
    }
}

/// The cost of the only point of an operation in a run.
///
/// # Errors
/// When the run lacks it; the reason is that of its skip.
pub(crate) fn cost<'a>(run: &'a Run, operation: &str) -> anyhow::Result<&'a Cost> {
    let skip = || run.skipped.iter().find(|skip| skip.operation == operation);
    let missing = || format!("{operation} was not measured: {}", skip().map_or("no reason given", |skip| &skip.reason));
    run.costs.iter().find(|cost| cost.operation == operation).with_context(missing)
}

/// What a program said, on both streams: some complain on the one, some on the other.
pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), output.stderr.as_slice()].concat()).trim().to_string()
}

/// Says what is not measured, and what to do about it.
pub(crate) fn skip(what: &str, remedy: &str) {
    println!("skipped: {what}; {remedy}");
}
