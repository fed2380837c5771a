//! `howslow report --gallery`: an index of machines, a page each, and a page of any two.

use std::collections::BTreeSet;

use record::Run;
use report::{
    CostHistories, GalleryMachine, HtmlPage, PageDetail, PageRun, gallery_index, gallery_pair, nearest_reference,
};

use super::args::ReportArgs;
use super::sources::{self, NamedRun, PageSources, Privacy};
use super::whole::{Held, check_free, command, smallest};
use crate::output::{Misuse, Outcome, print_note, shown};

/// The pages of two grow with the square of the machines.
const MOST_MACHINES: usize = 24;

const TITLE: &str = "What operations cost, by machine";

pub(super) fn gallery(args: &ReportArgs, privacy: Privacy) -> anyhow::Result<Outcome> {
    let Some(folder) = &args.gallery else { return Err(Misuse("name the page with -o".into()).into()) };
    let references: Vec<String> = store::reference_names().map(String::from).collect();
    let names = if args.sources.is_empty() { &references } else { &args.sources };
    let sources = sources::read(names, privacy)?;
    let machines = named(&sources, privacy)?;
    let pages = pages(&machines, privacy)?;
    for (name, _) in &pages {
        check_free(&folder.join(name), args.force)?;
    }
    for (name, page) in &pages {
        store::write_whole(&folder.join(name), page.as_bytes())?;
    }
    let bytes: usize = pages.iter().map(|(_, page)| page.len()).sum();
    let place = shown(folder);
    let (count, kib) = (pages.len(), bytes as f64 / 1024.0);
    print_note(&format!("wrote {count} pages into {place}, {kib:.0} KiB; begin with index.html"));
    Ok(Outcome::Done)
}

/// The machines with the names of their pages.
fn named(sources: &PageSources, privacy: Privacy) -> anyhow::Result<Vec<(String, &NamedRun)>> {
    if !sources.sections.is_empty() {
        let why = "a gallery is of runs; name documents and folders of fleets with -o PAGE.html";
        return Err(Misuse(why.into()).into());
    }
    match sources.runs.len() {
        0 => return Err(Misuse("a gallery needs a run".into()).into()),
        1..=MOST_MACHINES => {}
        many => {
            let why = format!("{many} machines are too many for a gallery, {MOST_MACHINES} are the most; name fewer");
            return Err(Misuse(why).into());
        }
    }
    let mut known = BTreeSet::new();
    let machines = sources.runs.iter().zip(1..).map(|(named, number)| {
        let host = named.original.machine.host.clone().filter(|_| privacy == Privacy::Named);
        let name = host.unwrap_or_else(|| format!("machine-{number}"));
        let name = if named.run.is_book() { named.run.id.clone() } else { name };
        let plain = record::is_plain_name(&name) && name.len() <= 64 && name != "index";
        let others = (number..).map(|number: usize| format!("machine-{number}"));
        let mut free = Some(name).filter(|_| plain).into_iter().chain(others);
        (free.find(|name| known.insert(name.clone())).unwrap_or_default(), named)
    });
    Ok(machines.collect())
}

/// Every page with the name of its file.
fn pages(machines: &[(String, &NamedRun)], privacy: Privacy) -> anyhow::Result<Vec<(String, String)>> {
    let shown = machines.iter().map(|(name, named)| GalleryMachine { name, run: &named.run });
    let shown: Vec<GalleryMachine<'_>> = shown.collect();
    let mut pages = vec![("index.html".to_string(), gallery_index(&shown, TITLE))];
    for (name, named) in machines {
        pages.push((format!("{name}.html"), machine(name, &named.run, privacy)?));
    }
    for (place, one) in shown.iter().enumerate() {
        pages.extend(shown[place + 1..].iter().map(|other| gallery_pair(one, other)));
    }
    Ok(pages)
}

fn machine(name: &str, run: &Run, privacy: Privacy) -> anyhow::Result<String> {
    let references = store::references(&run.machine.architecture);
    let reference = nearest_reference(run, &references);
    let histories = CostHistories::new();
    smallest(run, &|detail: PageDetail, held: Held| {
        let runs: Vec<PageRun<'_>> = vec![held.page_run(name, run)?];
        let page = HtmlPage {
            runs: &runs,
            run_type: store::RUN_TYPE,
            references: &references,
            compared: reference,
            command: command(run),
            histories: &histories,
            sections: Vec::new(),
            detail,
            anonymous: privacy == Privacy::Anonymous && !run.is_book(),
            index: Some("index.html"),
        };
        Ok(report::html_page(&page))
    })
}
