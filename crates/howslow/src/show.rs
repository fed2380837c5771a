//! `howslow show`: prints a kept run or a book.

use crate::against::{Beside, Named};
use crate::cli::ShowArgs;
use crate::output::{self, Outcome};
use crate::resolve;

pub(crate) fn show(args: &ShowArgs) -> anyhow::Result<Outcome> {
    let run = resolve::run(&args.run)?;
    if args.json {
        output::print_json(&run)?;
    } else {
        let beside = Beside::of(&run, Named::of(args.against.as_deref())?, None)?;
        output::print_page(&report::page_beside(&run, &beside.view(), output::style_in(args.detail())))?;
    }
    Ok(Outcome::Done)
}
