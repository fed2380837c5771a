//! `howslow study`: a paper's tables and statements, tested on this machine or on any run.

use std::path::PathBuf;

use analysis::study::{STUDIES, Study, StudyAnswer};
use anyhow::Context;
use clap::Args;
use clap::builder::PossibleValuesParser;
use clap_complete::ArgValueCompleter;
use operation::Item;
use report::document::{StudiesDocument, StudyDocument};

use crate::cli::measure::MeasureArgs;
use crate::output::{self, Misuse, Outcome};
use crate::session::{self, SessionEnd, Wanted};
use crate::verbs::load;
use crate::{complete, pictures, resolve};

const STUDIED: &str = "\
Examples:
  howslow study rsx
  howslow study 6180 --run @1
  howslow study mpe --full --svg figures
  howslow study all --json > studies.json
Exit status: 0 done, whichever sentences hold; what could not be measured is in the tables with its reason; 1 failed; \
2 misused: no such paper or run; 130 interrupted.";

/// Repeat a paper's experiment on this machine, and test its tables and statements
#[derive(Debug, Args)]
#[command(after_help = STUDIED)]
pub(crate) struct StudyArgs {
    /// The paper
    #[arg(value_name = "PAPER", value_parser = papers())]
    pub paper: String,
    /// Also measure what takes minutes: for mpe every method over 256 MiB
    #[arg(long)]
    pub full: bool,
    /// Use the costs of this run, instead of measuring what the study needs
    #[arg(long, value_name = "RUN", add = ArgValueCompleter::new(complete::runs), conflicts_with_all = ["count", "rounds", "precision", "budget", "cpu", "beside", "seed", "output", "full", "repeat", "tails", "arrivals", "label", "keep"])]
    pub run: Option<String>,
    /// For mpe: instead of the tables, tune prefetch as its postscript does, on this file or on one created for it [budget: 30s]
    #[arg(long, value_name = "PATH", num_args = 0..=1, conflicts_with_all = ["run", "full", "all", "count", "rounds", "precision", "cpu", "beside", "seed", "output", "svg", "repeat", "tails", "arrivals", "label", "keep"])]
    pub prefetch: Option<Option<PathBuf>>,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

/// The names of the studies, and a word for all of them.
fn papers() -> PossibleValuesParser {
    PossibleValuesParser::new(STUDIES.iter().map(|study| study.name).chain([ALL]))
}

/// Selects every study.
pub(crate) const ALL: &str = "all";

pub(crate) fn study(args: &StudyArgs) -> anyhow::Result<Outcome> {
    if args.measure.summary {
        return Err(Misuse("--summary: a study's document holds no samples; omit it".into()).into());
    }
    if let Some(path) = &args.prefetch {
        session::has_no_csv(&args.measure, "`howslow study --prefetch`")?;
        if args.paper != "mpe" {
            return Err(Misuse(format!("--prefetch: the paper {} does not prefetch; only mpe does", args.paper)).into());
        }
        return crate::verbs::file::advise::study(path.as_deref(), args.measure.budget, args.measure.json);
    }
    let studies = named(&args.paper)?;
    if args.measure.svg.is_some() && studies.iter().all(|study| study.curves.is_none()) {
        return Err(Misuse(format!("--svg: the study {} draws no chart; omit it", args.paper)).into());
    }
    pictures::check(args.measure.svg.as_deref())?;
    if args.full && studies.iter().all(|study| study.more.is_none()) {
        return Err(Misuse(format!("--full: the study {} measures nothing more with it", args.paper)).into());
    }
    let (run, ending) = match &args.run {
        Some(name) => (resolve::run(name)?, SessionEnd::NOTHING),
        None => measured(&studies, args.full, &args.measure)?,
    };
    let answers = studies.iter().map(|study| answer(study, &run)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut each = studies.iter().zip(&answers);
    if args.measure.csv {
        crate::verbs::export::print_table(&crate::tables::studies(each))?;
    } else if !args.measure.json {
        let style = output::style_in(args.measure.all);
        let page = |answer| report::study(answer, &run, style) + &pictures::drawn(&report::study_charts(answer), style);
        let pages = answers.iter().map(page);
        output::print_page(&pages.collect::<Vec<_>>().join("\n"))?;
    } else if args.paper == ALL {
        let studies = each.map(|(study, answer)| StudyDocument::of(study, answer)).collect();
        output::print_document(&StudiesDocument { studies })?;
    } else if let Some((study, answer)) = each.next() {
        output::print_document(&StudyDocument::of(study, answer))?;
    }
    pictures::write_charts(args.measure.svg.as_deref(), answers.iter().flat_map(report::study_charts))?;
    ending.outcome()
}

/// The study with this name, or all of them.
fn named(name: &str) -> Result<Vec<&'static Study>, Misuse> {
    if name == ALL {
        return Ok(STUDIES.to_vec());
    }
    let unknown = || Misuse(format!("there is no study '{}'", record::printable(name)));
    Ok(vec![analysis::study::study(name).ok_or_else(unknown)?])
}

/// The study with the costs of this run.
pub(crate) fn answer(study: &Study, run: &record::Run) -> anyhow::Result<StudyAnswer> {
    let books = study.books.iter().map(|name| book(name)).collect::<anyhow::Result<Vec<_>>>()?;
    study.follow(&books, run).context("the study has no book")
}

fn book(name: &str) -> anyhow::Result<record::Book> {
    Ok(store::book(name).with_context(|| format!("the book {name} is missing"))??)
}

/// Measures what the studies need, keeps the run, writes it if requested.
fn measured(studies: &[&Study], full: bool, args: &MeasureArgs) -> anyhow::Result<(record::Run, SessionEnd)> {
    let seconds = |study: &&Study| study.more.as_ref().filter(|_| full).map_or(study.seconds, |more| more.seconds);
    let wanted = Wanted { full, ..Wanted::of(items(studies, full), studies.iter().map(seconds).sum()) };
    let rounds = args.rounds.or(studies.iter().filter_map(|study| study.rounds).max());
    let args = MeasureArgs { rounds, ..args.clone() };
    let mut measured = session::measure(wanted, &args)?;
    for study in studies {
        match study.users {
            // What changes the machine is requested by name.
            Some(users) if studies.len() > 1 => load::left_out(users, study.name, &mut measured.run),
            Some(users) if measured.interrupted.is_none() => {
                measured.interrupted = load::users_of(users, &mut measured.run)?;
            }
            _ => {}
        }
    }
    Ok(session::finish(measured, &args))
}

/// What this version can measure of what the studies need. Their pages report what is missing.
fn items(studies: &[&Study], full: bool) -> Vec<Item> {
    let needs: Vec<_> = studies.iter().flat_map(|study| study.needs(full)).collect();
    let all = catalogue::all().flat_map(|operation| {
        let points = operation.points(false).into_iter();
        let wanted = points.filter(|point| needs.iter().any(|(id, at)| *id == operation.id && at == point));
        wanted.map(move |point| Item { operation, point }).collect::<Vec<_>>()
    });
    all.collect()
}
