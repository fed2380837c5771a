//! `howslow doctor`: what will make measurements noisy or impossible here.

use analysis::doctor::{examine, odd};
use analysis::reference::{Facts, Place, judge};
use clap::Args;
use record::{Machine, Run};
use report::document::DoctorDocument;

use crate::output::{self, Outcome};
use crate::resolve;

const CHECKED: &str = "\
The newest kept run says what is odd here beside the reference machines; `howslow` makes one.
Examples:
  howslow doctor
  howslow doctor --json
Exit status: 0 done, whatever is found; 1 failed; 2 misused.";

/// Show what will make measurements noisy or impossible on this machine
#[derive(Debug, Args)]
#[command(after_help = CHECKED)]
pub(crate) struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub(crate) fn doctor(args: &DoctorArgs) -> anyhow::Result<Outcome> {
    let machine = system::machine::describe();
    let present = system::machine::present(&crate::scratch::root());
    // Only a run shows how noisy this machine is and what it costs, so its newest kept run is examined.
    let newest = newest_of(&machine);
    let mut findings = examine(&machine, newest.as_ref().map(|run| &run.noise), &present);
    if let Some(run) = &newest {
        let references = store::references(&machine.architecture);
        let facts = Facts { machine: &run.machine, noise: &run.noise, present: Some(&present) };
        let mut odd = odd(&judge(run, &references, &facts), Place::of(&machine));
        odd.append(&mut findings);
        findings = odd;
    }
    let document = DoctorDocument { machine: &machine, findings: &findings };
    output::answer(args.json, &document, |style| report::doctor(&machine, &findings, style))?;
    Ok(Outcome::Done)
}

/// The newest kept run of this machine, among the newest few of all.
fn newest_of(machine: &Machine) -> Option<Run> {
    const FEW: usize = 8;
    let store = resolve::store().ok()?;
    let same = |run: &Run| {
        let same_host = run.machine.host.is_none() || run.machine.host == machine.host;
        same_host
            && run.machine.cpu.signature == machine.cpu.signature
            && run.machine.kernel.release == machine.kernel.release
    };
    (1..=FEW).filter_map(|place| store.open(&format!("@{place}")).ok()).find(same)
}
