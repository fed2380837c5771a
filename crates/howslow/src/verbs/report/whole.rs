//! What the page of a run holds and how full it is, so that it stays small; and the command that takes such a run again.

use std::path::Path;

use record::Run;
use report::{PageDetail, PageRun};

use crate::output::{Misuse, print_note, shown};
use crate::verbs::show::without_samples;

/// A page of one run has at most so many bytes, where the run allows it.
const MOST_BYTES: usize = 300 << 10;

/// Refuses a file that exists, unless it may be replaced.
pub(super) fn check_free(path: &Path, force: bool) -> Result<(), Misuse> {
    if force || std::fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    let path = shown(path);
    Err(Misuse(format!("{path} exists and is kept; name another file, or add --force to replace it")))
}

/// What of a run a page holds.
#[derive(Clone, Copy)]
pub(super) enum Held {
    /// All of it.
    Whole,
    /// All but its samples.
    Summary,
}

impl Held {
    pub fn page_run<'r>(self, name: &str, run: &'r Run) -> anyhow::Result<PageRun<'r>> {
        let short = matches!(self, Held::Summary).then(|| without_samples(run.clone()));
        let packed = store::packed(short.as_ref().unwrap_or(run))?;
        Ok(PageRun { name: name.into(), run, packed })
    }
}

/// The fullest page that is small enough, else the briefest.
pub(super) fn smallest(run: &Run, made: &dyn Fn(PageDetail, Held) -> anyhow::Result<String>) -> anyhow::Result<String> {
    const SHORT: Option<&str> = Some("the page holds the run without its samples");
    let ways = [
        (PageDetail::Samples, Held::Whole, None),
        (PageDetail::Words, Held::Whole, Some("the page holds the samples, but does not draw them")),
        (PageDetail::Words, Held::Summary, SHORT),
        (PageDetail::Rows, Held::Summary, SHORT),
    ];
    let has_samples = run.costs.iter().any(|cost| !cost.rounds.is_empty());
    let mut page = String::new();
    for (detail, held, without) in ways {
        page = made(detail, held)?;
        if page.len() <= MOST_BYTES {
            if let Some(without) = without.filter(|_| has_samples) {
                print_note(&format!("{without}, so that it stays below {}", record::Bytes(MOST_BYTES as u64)));
            }
            break;
        }
    }
    Ok(page)
}

/// The command that takes such a run again; empty if it is not known.
pub(super) fn command(run: &Run) -> String {
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
        words.extend(settings.patterns.iter().map(|pattern| shell_words::quote(pattern).into_owned()));
    }
    words.extend(settings.full.then(|| "--full".into()));
    if let Some(tails) = &settings.tails {
        words.push("--tails".into());
        let random = |arrivals: record::Arrivals| if arrivals.poisson { ",poisson" } else { "" };
        words
            .extend(tails.arrivals.map(|arrivals| format!("--arrivals {}/s{}", arrivals.per_second, random(arrivals))));
    }
    if settings.precision > 0.0 && (settings.precision - 0.01).abs() > 1e-9 {
        // Rounded, because a hundred times 0.07 is 7.000000000000001.
        words.push(format!("--precision {}%", (settings.precision * 1e8).round() / 1e6));
    }
    if settings.budget_s > 0.0 {
        words.push(format!("--budget {}s", settings.budget_s));
    }
    words.extend(settings.count.map(|count| format!("--count {count}")));
    if settings.rounds > 0 && settings.rounds != measure::usual_settings().rounds {
        words.push(format!("--rounds {}", settings.rounds));
    }
    words.extend(settings.cpu.map(|cpu| format!("--cpu {cpu}")));
    words.extend(settings.beside.iter().map(|work| {
        let share = if work.dose < 1.0 { format!("@{}%", (work.dose * 100.0).round()) } else { String::new() };
        format!("--beside {}{share}@{}", work.kind, work.place.word())
    }));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::command;
    use crate::cli;

    #[test]
    fn the_command_of_a_page_is_one_that_requests_the_same_run() {
        const EXAMPLE: &[u8] = include_bytes!("../../../../record/tests/data/example-run.json");
        let mut run = record::run_from_bytes(EXAMPLE).expect("a run");
        // The example also has costs of somebody's own code, which no command of ours takes again.
        run.costs.retain(|cost| catalogue::find(&cost.operation).is_some());
        let settings = &mut run.settings;
        settings.patterns = vec!["syscall.getppid".into(), "pipe.*@size=4 KiB".into()];
        (settings.rounds, settings.cpu, settings.count, settings.budget_s) = (9, Some(1), Some(500), 20.0);
        settings.precision = 0.07;
        let arrivals = Some(record::Arrivals { per_second: 1000.0, poisson: true });
        settings.tails = Some(record::Tailing { arrivals });
        settings.beside = vec![record::Beside {
            kind: "compute".into(),
            operation: "loop.empty".into(),
            at: record::Point::default(),
            dose: 0.25,
            place: record::Place::Other,
        }];
        let command = command(&run);
        let rates = ["--beside compute@25%@other", "--arrivals 1000/s,poisson", "--count 500"];
        for word in rates.iter().chain(&["--precision 7% ", "--rounds 9", "--cpu 1", "'pipe.*@size=4 KiB'"]) {
            assert!(command.contains(word), "{command}");
        }
        let words = shell_words::split(&command).expect("a shell reads it");
        cli::command().try_get_matches_from(words).expect("the command line accepts it");
    }
}
