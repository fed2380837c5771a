//! `howslow bill A.json --on RUN`: what a billed program would take on another machine.

use std::path::Path;

use analysis::bill::{Carried, WrittenBill, elsewhere as moved, user_ratio};
use analysis::predict::MachineState;
use report::BillElsewhereView;
use report::document::BillElsewhereDocument;

use super::args::BillArgs;
use super::changes::read;
use super::prices::Prices;
use crate::output::{self, Misuse, Outcome};
use crate::resolve;

/// The state that its prices are of, so that both machines have the same one.
fn state(here: &WrittenBill, args: &BillArgs) -> Result<MachineState, Misuse> {
    match (args.by, here.state()) {
        (Some(by), Some(own)) if by != own => {
            Err(Misuse(format!("--by {}: the prices of the bill are {} ones", by.word(), own.word())))
        }
        (by, own) => Ok(by.or(own).unwrap_or(MachineState::Typical)),
    }
}

/// Prints it. Lines without a price there make it a partial answer.
pub(super) fn elsewhere(file: &Path, args: &BillArgs) -> anyhow::Result<Outcome> {
    let here = read(file)?;
    let prices = Prices::of(args.on.as_deref(), state(&here, args)?)?;
    let Some(run) = prices.run().filter(|_| args.on.is_some()) else {
        let text = "a single bill is priced on another machine: add --on RUN; two bills are compared";
        return Err(Misuse(text.into()).into());
    };
    let priced = prices.priced(&here.seen);
    // The run of the prices here may be kept no more.
    let own = here.run.as_deref().and_then(|id| resolve::run(id).ok());
    let carried = Carried::between(own.as_ref(), run);
    let user = own.and_then(|own| user_ratio(&own, run, prices.state));
    let found = moved(&here, &priced.bill, user, carried);
    let remedy = (!found.lacking.is_empty()).then(|| priced.remedy.clone()).flatten();
    if args.json {
        output::print_document(&BillElsewhereDocument::of(&found, &here.seen.what, &run.id))?;
    } else {
        let view = BillElsewhereView { name: &here.seen.what, run, elsewhere: &found, remedy };
        output::print_page(&report::bill_elsewhere(&view, output::style()))?;
    }
    Ok(if found.there.high.is_finite() { Outcome::Done } else { Outcome::Skipped })
}
