//! `howslow report`: runs, documents and fleets as one page, or many machines as a site.

mod folders;
mod gallery;
mod history;
mod sources;

use std::path::Path;

use analysis::study::STUDIES;
use record::Run;
use report::document::FactorsDocument;
use report::{CostHistories, HtmlPage, PageDetail, PageRun, Section};

use crate::against::Against;
use crate::cli::ReportArgs;
use crate::factors::split_from_first;
use crate::output::{self, Misuse, Outcome, say};
use crate::predict::open_mix;
use crate::resolve::Named;
use sources::{PageSources, Privacy};

/// A page of one run has at most so many bytes, where the run allows it.
const MOST_BYTES: usize = 300 << 10;
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
    say(&format!("wrote {}, {:.0} KiB{names}", record::printable(&path.display().to_string()), page.len() as f64 / 1024.0));
    Ok(Outcome::Done)
}

/// Refuses a file that exists, unless it may be replaced.
fn check_free(path: &Path, force: bool) -> Result<(), Misuse> {
    if force || std::fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    let path = record::printable(&path.display().to_string());
    Err(Misuse(format!("{path} exists and is kept; name another file, or add --force to replace it")))
}

/// The page, told as fully as its size allows.
fn page(args: &ReportArgs, sources: &PageSources, privacy: Privacy) -> anyhow::Result<String> {
    let first = sources.runs.first().map(|named| &named.run);
    let references = first.filter(|run| !run.is_book()).map(|run| store::references(&run.machine.architecture)).unwrap_or_default();
    let against = Against::of(args.against.as_deref())?.map(Against::run);
    let beside = against.as_ref().or_else(|| report::nearest_reference(first?, &references));
    let (histories, watched) = match sources.runs.as_slice() {
        [one] => history::of(&one.original, privacy),
        _ => (CostHistories::new(), None),
    };
    let mut sections = factors(args, sources)?;
    sections.extend(watched);
    sections.extend(first.map(studies).transpose()?.unwrap_or_default());
    sections.extend(sources.sections.iter().cloned());
    let command = first.map(command).unwrap_or_default();
    let made = |detail: PageDetail, held: Held| -> anyhow::Result<String> {
        let runs: Vec<PageRun<'_>> = sources.runs.iter().map(|named| held.page_run(&named.name, &named.run)).collect::<anyhow::Result<_>>()?;
        let page = HtmlPage {
            runs: &runs,
            run_type: store::RUN_TYPE,
            references: &references,
            beside,
            command: command.clone(),
            histories: &histories,
            sections: sections.clone(),
            detail,
            anonymous: privacy == Privacy::Anonymous,
            index: None,
        };
        Ok(page.html())
    };
    let [_] = sources.runs.as_slice() else { return made(PageDetail::Words, Held::Whole) };
    smallest(&made)
}

/// What of a run a page holds.
#[derive(Clone, Copy)]
enum Held {
    /// All of it.
    Whole,
    /// All but its samples.
    Summary,
}

impl Held {
    fn page_run<'r>(self, name: &str, run: &'r Run) -> anyhow::Result<PageRun<'r>> {
        let packed = match self {
            Held::Whole => store::packed(run)?,
            Held::Summary => {
                let mut run = run.clone();
                run.costs.iter_mut().for_each(|cost| cost.rounds.clear());
                store::packed(&run)?
            }
        };
        Ok(PageRun { name: name.into(), run, packed })
    }
}

/// The fullest page that is small enough, else the briefest.
fn smallest(made: &dyn Fn(PageDetail, Held) -> anyhow::Result<String>) -> anyhow::Result<String> {
    let ways = [
        (PageDetail::Samples, Held::Whole),
        (PageDetail::Words, Held::Whole),
        (PageDetail::Words, Held::Summary),
        (PageDetail::Rows, Held::Summary),
    ];
    let mut last = String::new();
    for (detail, held) in ways {
        last = made(detail, held)?;
        if last.len() <= MOST_BYTES {
            let without = match (detail, held) {
                (_, Held::Summary) => "the page holds the run without its samples",
                (PageDetail::Words, Held::Whole) => "the page holds the samples, but does not draw them",
                _ => return Ok(last),
            };
            say(&format!("{without}, so that it stays below {}", record::Bytes(MOST_BYTES as u64)));
            return Ok(last);
        }
    }
    Ok(last)
}

/// The sections of the factors of each run's ratio to the base, where a mix is named.
fn factors(args: &ReportArgs, sources: &PageSources) -> anyhow::Result<Vec<Section>> {
    let Some(name) = &args.mix else { return Ok(Vec::new()) };
    if sources.runs.len() < 2 {
        return Err(Misuse("--mix splits the ratio of two runs or more; name another run".into()).into());
    }
    let mix = open_mix(name)?;
    let named: Vec<Named<'_>> = sources.runs.iter().map(|it| Named { name: &it.name, run: &it.run }).collect();
    let splits = split_from_first(&mix, &named, &[])?;
    let section = |(place, (split, other)): (usize, (crate::factors::FactorSplit, &Named<'_>))| -> anyhow::Result<Section> {
        let document: FactorsDocument = split.document;
        let title = format!("Factors on {}: {} over {}", mix.name, other.name, named[0].name);
        let section = Section::new(format!("factors-{place}"), title);
        Ok(report::factors_blocks(&serde_json::to_value(&document)?).into_iter().fold(section, Section::with))
    };
    splits.into_iter().zip(&named[1..]).enumerate().map(section).collect()
}

/// The studies that this run has something to say of.
fn studies(run: &Run) -> anyhow::Result<Vec<Section>> {
    let mut sections = Vec::new();
    for study in STUDIES.iter().filter(|_| !run.is_published()) {
        let books: Vec<record::Book> = study.books.iter().filter_map(|name| store::book(name)).collect::<Result<_, _>>()?;
        let needs = study.needs(false);
        let has = needs.iter().filter(|(id, at)| run.costs.iter().any(|cost| cost.operation == *id && cost.at == *at)).count();
        // Of a run that was not made for the study most of its tables would be empty.
        if has * 2 < needs.len() {
            continue;
        }
        sections.extend(study.follow(&books, run).and_then(|answer| report::study_section(study.name, &answer)));
    }
    Ok(sections)
}

/// The command that takes such a run again; empty if it is not known.
fn command(run: &Run) -> String {
    let settings = &run.settings;
    let own = run.costs.iter().any(|cost| catalogue::find(&cost.operation).is_none());
    if run.is_published() || own {
        return String::new();
    }
    if run.is_book() {
        return format!("howslow compare {} @1", run.id);
    }
    let mut words = vec!["howslow".to_string()];
    if !settings.patterns.is_empty() || settings.full {
        words.push("run".into());
        words.extend(settings.patterns.iter().cloned());
    }
    words.extend(settings.full.then(|| "--full".into()));
    words.extend(settings.tails.map(|_| "--tails".into()));
    if settings.precision > 0.0 && (settings.precision - 0.01).abs() > 1e-9 {
        words.push(format!("--precision {}%", settings.precision * 100.0));
    }
    if settings.budget_s > 0.0 {
        words.push(format!("--budget {}s", settings.budget_s));
    }
    words.extend(settings.count.map(|count| format!("--count {count}")));
    words.join(" ")
}
