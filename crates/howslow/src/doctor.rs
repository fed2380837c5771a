//! `howslow doctor`: what will make measurements noisy or impossible here.

use analysis::doctor::examine;
use report::document::DoctorDocument;
use store::Store;

use crate::cli::JsonArgs;
use crate::output::{self, Outcome};

pub(crate) fn doctor(args: &JsonArgs) -> anyhow::Result<Outcome> {
    let machine = machine::describe();
    let present = machine::present(&crate::scratch::root());
    // Only a run shows how noisy this machine is, so the newest kept run is examined.
    let newest = Store::of_user().and_then(|store| store.open("@1")).ok();
    let noise = newest.filter(|run| run.machine.cpu.signature == machine.cpu.signature).map(|run| run.noise);
    let findings = examine(&machine, noise.as_ref(), &present);
    if args.json {
        output::print_document(&DoctorDocument::of(&machine, &findings))?;
    } else {
        output::print_page(&report::doctor(&machine, &findings, output::style()))?;
    }
    Ok(Outcome::Done)
}
