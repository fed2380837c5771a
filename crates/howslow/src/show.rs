//! `howslow show`: a run again.

use store::Store;

use crate::cli::ShowAsked;
use crate::output::{self, Outcome};

pub(crate) fn show(asked: &ShowAsked) -> anyhow::Result<Outcome> {
    let run = Store::open_any(&asked.run)?;
    if asked.json {
        output::print_json(&run)?;
    } else {
        output::print(&report::page(&run, output::style()))?;
    }
    Ok(Outcome::Done)
}
