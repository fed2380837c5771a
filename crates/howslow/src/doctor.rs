//! `howslow doctor`: what will make numbers noisy or missing here.

use analysis::doctor::{Finding, Severity, examine};
use serde_json::json;
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
        let findings: Vec<_> = findings.iter().map(as_json).collect();
        output::print_json(&json!({ "machine": machine, "findings": findings }))?;
    } else {
        output::print(&report::doctor(&machine, &findings, output::style()))?;
    }
    Ok(Outcome::Done)
}

fn as_json(finding: &Finding) -> serde_json::Value {
    let severity = match finding.severity {
        Severity::Noise => "noise",
        Severity::Missing => "missing",
        Severity::Note => "note",
    };
    json!({ "severity": severity, "what": finding.what, "remedy": finding.remedy })
}
