//! `howslow show`: prints a kept run or a book.

use crate::cli::ShowArgs;
use crate::output::{self, Outcome};
use crate::resolve;

pub(crate) fn show(args: &ShowArgs) -> anyhow::Result<Outcome> {
    let run = resolve::run(&args.run)?;
    if args.json {
        output::print_json(&run)?;
    } else {
        output::print_page(&report::page(&run, output::style_in(args.detail())))?;
    }
    Ok(Outcome::Done)
}
