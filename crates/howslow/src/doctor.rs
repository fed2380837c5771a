//! `howslow doctor`: what will make numbers noisy or missing here.

use analysis::doctor::examine;
use report::document::DoctorDocument;
use store::Store;

use crate::cli::JsonArgs;
use crate::output::{self, Outcome};

pub(crate) fn doctor(args: &JsonArgs) -> anyhow::Result<Outcome> {
    let machine = machine::describe();
    let present = machine::present(&crate::scratch::root());
    // How noisy this machine is shows only in a run; the newest is the best witness.
    let newest = Store::of_user().and_then(|store| store.open("@1")).ok();
    let noise = newest.filter(|run| run.machine.cpu.signature == machine.cpu.signature).map(|run| run.noise);
    let findings = examine(&machine, noise.as_ref(), &present);
    if args.json {
        output::print_document(&DoctorDocument::of(&machine, &findings))?;
    } else {
        output::print(&report::doctor(&machine, &findings, output::style()))?;
    }
    Ok(Outcome::Done)
}
