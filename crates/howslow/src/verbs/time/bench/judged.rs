//! What was taken of two builds, judged: rows of the page, the gate, the files of `--markdown` and `--badge`.

use analysis::lockstep::compare_mirrored;
use instruments::bench::RacedBenchmark;
use record::printable;
use report::document::BenchDocument;
use report::{BenchRow, BenchShown, NullRuns};

use crate::output::{self, Outcome};
use crate::verbs::time::args::{BenchArgs, TimeArgs};

/// Fewer undisturbed blocks than this are worth a note.
const FEW: f64 = 0.2;

pub(super) fn row(raced: &RacedBenchmark) -> BenchRow {
    let compared = compare_mirrored(&raced.rounds);
    let blocks = raced.blocks().count();
    let quiet = raced.blocks().filter(|block| block.quiet).count();
    let quiet = if blocks == 0 { 0.0 } else { quiet as f64 / blocks as f64 };
    let mut notes: Vec<String> = raced.failure.iter().map(|why| without_name(why, &raced.name)).collect();
    if blocks > 0 && quiet < FEW {
        notes.push(format!("{:.0} % of its blocks were undisturbed, so all of them count", 100.0 * quiet));
    }
    BenchRow {
        name: raced.name.clone(),
        times: raced.medians(),
        compared: compared.filter(|_| raced.failure.is_none()),
        rounds: raced.rounds.len(),
        quiet,
        allocations: raced.allocations,
        notes,
    }
}

/// The page puts the name before every note.
fn without_name(why: &str, name: &str) -> String {
    why.strip_prefix(name).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(why).into()
}

/// How often the old build beside itself was called changed.
pub(super) fn nulls(raced: &[RacedBenchmark]) -> NullRuns {
    let rows: Vec<BenchRow> = raced.iter().map(row).collect();
    let judged = rows.iter().filter(|row| row.compared.is_some());
    NullRuns { count: judged.clone().count(), alarms: judged.filter(|row| row.verdict().is_change()).count() }
}

/// Prints the comparison, and writes what was requested.
pub(super) fn print(shown: &BenchShown, args: &TimeArgs) -> anyhow::Result<()> {
    if let Some(path) = &args.bench.markdown {
        store::write_whole(path, report::bench_markdown(shown).as_bytes())?;
    }
    if let Some(path) = &args.bench.badge {
        store::write_whole(path, report::bench_badge(shown).as_bytes())?;
    }
    let document = BenchDocument::of(shown);
    if let Some(path) = &args.measure.output {
        store::write_whole(path, output::document_text(&document)?.as_bytes())?;
    }
    output::answer(args.measure.json, &document, |style| report::bench(shown, style))
}

/// The exit status: the gate first, then what could not be compared.
pub(super) fn outcome(shown: &BenchShown, args: &BenchArgs) -> Outcome {
    let fails = |row: &&BenchRow| {
        let large = row.ratio().is_some_and(|ratio| (ratio.value - 1.0).abs() > args.at_least.unwrap_or(0.0));
        large && args.fail_on.is_some_and(|fail_on| fail_on.fails(row.verdict()))
    };
    let failed: Vec<String> = shown.rows.iter().filter(fails).map(|row| printable(&row.name)).collect();
    if !failed.is_empty() {
        output::print_note(&format!("the gate failed: {}", failed.join(", ")));
        return Outcome::GateFailed;
    }
    if shown.rows.iter().any(|row| row.compared.is_none()) { Outcome::Skipped } else { Outcome::Done }
}
