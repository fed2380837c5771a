//! `howslow report`: runs, documents and fleets as one page, or many machines as a site.

pub(crate) mod args;
mod gallery;
mod history;
mod sources;
mod whole;

use analysis::study::STUDIES;
use record::{Mix, MixLine, Run};
use report::{HtmlPage, PageDetail, PageRun, Section};

use crate::against;
use crate::factors::split_from_first;
use crate::output::{self, Misuse, Outcome, print_note};
use crate::resolve::Named;
use crate::verbs::predict::mixes::{mix_names, open_mix};
use args::ReportArgs;
use sources::{PageSources, Privacy};
use whole::{Held, check_free, command, smallest};

/// More runs are a fleet.
const MOST_RUNS: usize = 8;

pub(crate) fn report(args: &ReportArgs) -> anyhow::Result<Outcome> {
    let privacy = if args.with_host { Privacy::Named } else { Privacy::Anonymous };
    let Some(path) = &args.output else { return gallery::gallery(args, privacy) };
    check_free(path, args.force)?;
    output::check_writable([path])?;
    let sources = sources::read(&args.sources, privacy)?;
    if sources.runs.len() > MOST_RUNS {
        let many = sources.runs.len();
        return Err(Misuse(format!("{many} runs are too many to compare on a page, {MOST_RUNS} are the most; put them into a folder and name that")).into());
    }
    let page = page(args, &sources, privacy)?;
    store::write_whole(path, page.as_bytes())?;
    let names = if privacy == Privacy::Anonymous { "; names were left out (--with-host keeps them)" } else { "" };
    let (path, kib) = (output::shown(path), page.len() as f64 / 1024.0);
    print_note(&format!("wrote {path}, {kib:.0} KiB{names}"));
    Ok(Outcome::Done)
}

/// The page, as full as its size allows.
fn page(args: &ReportArgs, sources: &PageSources, privacy: Privacy) -> anyhow::Result<String> {
    let first = sources.runs.first().map(|named| &named.run);
    let references = first.map(against::references).unwrap_or_default();
    let against = against::named(args.against.as_deref())?.map(|other| match privacy {
        Privacy::Anonymous if !other.is_book() => Run { id: "another machine".into(), ..sources::anonymous(&other) },
        _ => other,
    });
    let reference = against.as_ref().or_else(|| report::nearest_reference(first?, &references));
    let one = if let [one] = sources.runs.as_slice() { Some(one) } else { None };
    let (histories, watched) = one.map(|one| history::gathered(&one.original, privacy)).unwrap_or_default();
    let mut sections = factors(args, sources, privacy)?;
    sections.extend(watched);
    sections.extend(sources.sections.iter().cloned());
    let studies = first.map(studies).transpose()?.unwrap_or_default();
    let command = first.map(command).unwrap_or_default();
    let made = |detail: PageDetail, held: Held| -> anyhow::Result<String> {
        let runs = sources.runs.iter().map(|named| held.page_run(&named.name, &named.run));
        let runs: Vec<PageRun<'_>> = runs.collect::<anyhow::Result<_>>()?;
        let page = HtmlPage {
            runs: &runs,
            run_type: store::RUN_TYPE,
            references: &references,
            compared: reference,
            command: command.clone(),
            histories: &histories,
            // A page of rows alone has no room for the tables of papers; `howslow study` prints them.
            sections: studies.iter().filter(|_| detail > PageDetail::Rows).chain(&sections).cloned().collect(),
            detail,
            anonymous: privacy == Privacy::Anonymous,
            index: None,
        };
        Ok(report::html_page(&page))
    };
    one.map_or_else(|| made(PageDetail::Words, Held::Whole), |one| smallest(&one.run, &made))
}

/// The sections of the factors of each run's ratio to the base, where a mix is named.
fn factors(args: &ReportArgs, sources: &PageSources, privacy: Privacy) -> anyhow::Result<Vec<Section>> {
    let Some(name) = &args.mix else { return Ok(Vec::new()) };
    if sources.runs.len() < 2 {
        return Err(Misuse("--mix splits the ratio of two runs or more; name another run".into()).into());
    }
    let is_own = privacy == Privacy::Anonymous && !mix_names().any(|known| known == name);
    let mix = open_mix(name).map(|mix| if is_own { without_names(mix) } else { mix })?;
    let named: Vec<Named<'_>> = sources.runs.iter().map(|named| Named { name: &named.name, run: &named.run }).collect();
    let splits = split_from_first(&mix, &named, &[])?;
    let mut sections = Vec::new();
    for (place, (split, other)) in splits.into_iter().zip(&named[1..]).enumerate() {
        let title = format!("Factors on {}: {} over {}", mix.name, other.name, named[0].name);
        sections.push(report::factors_section(&format!("factors-{place}"), &title, &split.document.of));
    }
    Ok(sections)
}

/// A mix of the user's, which a bill may have named after its command, without his words: its families are those of its operations.
fn without_names(mix: Mix) -> Mix {
    let family = |id: &str| catalogue::find(id).and(id.split('.').next()).unwrap_or("own").to_string();
    let lines = mix.lines.into_iter().map(|line| MixLine { family: family(&line.term.operation), ..line });
    Mix { name: "a mix".into(), lines: lines.collect(), ..mix }
}

/// The studies that this run has figures for.
fn studies(run: &Run) -> anyhow::Result<Vec<Section>> {
    let mut sections = Vec::new();
    for study in STUDIES.iter().filter(|_| !run.is_published()) {
        let needs = study.needs(false);
        let has = needs
            .iter()
            .filter(|(id, at)| run.costs.iter().any(|cost| cost.operation == *id && cost.at == *at))
            .count();
        // Of a run that was not made for the study most of its tables would be empty.
        if has * 2 < needs.len() {
            continue;
        }
        sections.extend(report::study_section(study.name, &crate::verbs::study::answer(study, run)?));
    }
    Ok(sections)
}
