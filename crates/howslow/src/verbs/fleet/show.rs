//! `howslow fleet show`: classes of nodes, slow nodes with reasons, a heat map, a list of nodes to drain.

use analysis::fleet::{FleetOptions, Found, found};
use report::FleetView;
use report::document::FleetReportDocument;

use super::args::FleetShowArgs;
use super::rows;
use crate::output::{self, Misuse, Outcome, print_note};
use crate::pictures;

pub(super) fn show(args: &FleetShowArgs) -> anyhow::Result<Outcome> {
    pictures::check(args.svg.as_deref())?;
    let table = rows::table(&args.runs)?;
    let options = FleetOptions { false_share: args.false_share, at_least: args.at_least, by: args.by.clone() };
    let found = found(&table, &options);
    let class = class(args, &found)?;
    let view = FleetView { class: class.as_deref(), all: args.all };
    if args.drain_list {
        let list = report::drain_list(&found, &view);
        if list.is_empty() {
            print_note("no node is slow, so there is nothing to drain");
        }
        output::print(&list)?;
    } else {
        let document = FleetReportDocument::of(&found, view.class);
        output::answer(args.json, &document, |style| report::fleet_report(&found, &view, style))?;
    }
    pictures::write(args.svg.as_deref(), report::fleet_pictures(&found, &view))?;
    Ok(Outcome::Done)
}

fn class(args: &FleetShowArgs, found: &Found) -> Result<Option<String>, Misuse> {
    let Some(wanted) = &args.class else { return Ok(None) };
    let names: Vec<&str> = found.classes.iter().map(|class| class.class.name.as_str()).collect();
    if let Some(name) = names.iter().find(|name| name.eq_ignore_ascii_case(wanted)) {
        return Ok(Some((*name).into()));
    }
    let (wanted, names) = (record::printable(wanted), names.join(", "));
    Err(Misuse(format!("--class {wanted}: there is no such class; the classes are {names}")))
}
