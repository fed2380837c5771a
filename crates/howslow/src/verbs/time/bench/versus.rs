//! Two builds in lockstep: their common benchmarks are run, judged and shown.

use std::path::{Path, PathBuf};

use analysis::compare::Verdict;
use instruments::bench::{Race, RacePlan, RacedBenchmark, listed, race};
use record::printable;
use report::{BenchRow, BenchShown};
use store::{Calibration, Store};

use super::build::{Linked, OldBuild};
use super::judged;
use super::others::{Harness, alternate};
use super::selection::{PATIENCE, none, only_one_has, selected, unknown};
use crate::cli::measure::MeasureArgs;
use crate::cpu;
use crate::kin::machine_name;
use crate::output::{self, Misuse, Outcome, print_note};
use crate::verbs::time::args::TimeArgs;

/// Seconds for each benchmark, if the command line has no budget.
const EACH: f64 = 2.0;

/// Seconds for all benchmarks of programs that time themselves.
const ALL_OF_OTHERS: f64 = 10.0;

/// Other orders of functions that are tried where a benchmark has changed.
const LAYOUTS: u32 = 2;

/// The programs of both sides: the first of each is as cargo linked it.
struct Sides {
    programs: [Vec<PathBuf>; 2],
    shown: [String; 2],
}

pub(super) fn versus(old: &Path, new: &Path, args: &TimeArgs) -> anyhow::Result<Outcome> {
    let shown = [old, new].map(|path| path.display().to_string());
    let sides = Sides { programs: [vec![old.into()], vec![new.into()]], shown };
    check(args)?;
    let mut compared = Compared::of(&sides, args)?;
    compared.race(&sides, args)?;
    compared.finish(&sides, args)
}

/// Builds the old one first, if it is not a program.
pub(super) fn against(old: &str, new: &Path, args: &TimeArgs) -> anyhow::Result<Outcome> {
    check(args)?;
    let layouts = args.bench.layouts.filter(|layouts| *layouts > 0);
    if let (Some(_), Some(harness)) = (layouts, Harness::of(new).filter(|harness| *harness != Harness::Own)) {
        let name = harness.name();
        return Err(
            Misuse(format!("--layouts: programs of {name} are compared only as cargo links them; omit it")).into()
        );
    }
    let built = OldBuild::of(old, new, &args.bench.cargo)?;
    let shown = [printable(old), "this build".into()];
    let mut sides = Sides { programs: [vec![built.program.clone()], vec![new.into()]], shown };
    if let Some(layouts) = layouts {
        match built.linked(layouts) {
            Ok(Linked { old, new }) => {
                sides.programs[0].extend(old);
                sides.programs[1].extend(new);
            }
            Err(why) => return Err(Misuse(format!("--layouts: {why}")).into()),
        }
    }
    let mut compared = Compared::of(&sides, args)?;
    compared.race(&sides, args)?;
    // Those of other harnesses are run whole, as one round: other links would be a second one, of something else.
    let may_link = args.bench.layouts.is_none() && compared.harness == Harness::Own && built.has_sources();
    if may_link && compared.has_changed() {
        compared.in_other_layouts(&built, args)?;
    }
    compared.finish(&sides, args)
}

/// Checks the arguments before anything is built.
fn check(args: &TimeArgs) -> anyhow::Result<()> {
    output::check_writable(args.bench.markdown.iter().chain(&args.bench.badge).chain(&args.measure.output))?;
    cpu::check(args.measure.cpu, &system::machine::describe().cpu.usable)?;
    let (measure, usual) = (&args.measure, MeasureArgs::default());
    let unused = [
        ("--count", measure.count.is_some()),
        ("--rounds", measure.rounds.is_some()),
        ("--precision", measure.precision != usual.precision),
        ("--repeat", measure.repeat.is_some()),
        ("--beside", !measure.beside.is_empty()),
        ("--label", measure.label.is_some()),
        ("--tails", measure.tails),
        ("--keep", measure.keep),
        ("--all", measure.all),
        ("--summary", measure.summary),
        ("--csv", measure.csv),
        ("--waits", args.waits),
    ];
    match unused.iter().find(|(_, given)| *given) {
        Some((option, _)) => {
            Err(Misuse(format!("{option} is for one bench program; a comparison has no use for it, so omit it")).into())
        }
        None => Ok(()),
    }
}

struct Compared {
    harness: Harness,
    names: Vec<String>,
    taken: Vec<RacedBenchmark>,
    null: Option<Vec<RacedBenchmark>>,
    rows: Vec<BenchRow>,
    notes: Vec<String>,
    interrupted: Option<i32>,
}

impl Compared {
    /// What both have in common.
    fn of(sides: &Sides, args: &TimeArgs) -> anyhow::Result<Compared> {
        let programs = sides.programs.each_ref().map(|all| all[0].clone());
        let kinds = programs.each_ref().map(|program| Harness::of(program));
        let harness = match kinds {
            [Some(one), Some(other)] if one == other => one,
            [Some(one), Some(other)] => {
                let (one, other) = (one.name(), other.name());
                return Err(
                    Misuse(format!("--bench: the old one is a program of {one}, the new one of {other}")).into()
                );
            }
            [None, _] => return Err(unknown(&programs[0]).into()),
            [_, None] => return Err(unknown(&programs[1]).into()),
        };
        if args.bench.exact && harness != Harness::Own {
            let name = harness.name();
            return Err(Misuse(format!("--exact: {name} takes --filter as a pattern; write '^...$' instead")).into());
        }
        let (mut names, mut notes) = (Vec::new(), Vec::new());
        if harness == Harness::Own {
            let patience = args.patience.unwrap_or(PATIENCE);
            let [old, new] = programs.each_ref().map(|program| listed(program, patience));
            let [old, new] = [selected(old.map_err(Misuse)?, &args.bench), selected(new.map_err(Misuse)?, &args.bench)];
            if new.is_empty() && old.is_empty() {
                return Err(none(&programs[1]).into());
            }
            notes = only_one_has(&old, &new);
            names = new.into_iter().filter(|name| old.contains(name)).collect();
            if names.is_empty() {
                return Err(nothing_in_common(&notes).into());
            }
        }
        Ok(Compared { harness, names, notes, taken: Vec::new(), null: None, rows: Vec::new(), interrupted: None })
    }

    fn race(&mut self, sides: &Sides, args: &TimeArgs) -> anyhow::Result<()> {
        let [old, new] = &sides.programs;
        self.taken = self.taken_of([old, new], &self.names.clone(), args)?;
        if args.bench.null && self.interrupted.is_none() {
            self.null = Some(self.taken_of([old, old], &self.names.clone(), args)?);
        }
        self.rows = self.taken.iter().map(judged::row).collect();
        Ok(())
    }

    fn taken_of(
        &mut self,
        [old, new]: [&[PathBuf]; 2],
        names: &[String],
        args: &TimeArgs,
    ) -> anyhow::Result<Vec<RacedBenchmark>> {
        // All comparisons share the budget.
        let budget_s = args.measure.budget.map(|budget| if args.bench.null { budget / 2.0 } else { budget });
        // Where only some are run again, each has the time that it had.
        let each_s = budget_s.map_or(EACH, |budget| budget / self.names.len().max(1) as f64);
        let total_s = budget_s.unwrap_or(ALL_OF_OTHERS);
        let (race, notes) = output::watched(|show| match self.harness {
            Harness::Own => Ok((race(&plan([old, new], names, each_s, args), show)?, Vec::new())),
            harness => alternate(harness, [&old[0], &new[0]], args, total_s, show),
        })?;
        let Race { benchmarks, interrupted, pinned } = race;
        if benchmarks.is_empty() && interrupted.is_none() {
            return Err(nothing_in_common(&notes).into());
        }
        self.notes.extend(notes);
        self.interrupted = self.interrupted.or(interrupted);
        let note = "this process may not be pinned to a CPU, so both builds ran wherever the kernel put them";
        if !pinned && !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.into());
        }
        Ok(benchmarks)
    }

    fn has_changed(&self) -> bool {
        self.interrupted.is_none() && self.rows.iter().any(|row| row.verdict().is_change())
    }

    /// Links both in other orders of functions and runs what has changed once more: is the order the cause?
    fn in_other_layouts(&mut self, built: &OldBuild, args: &TimeArgs) -> anyhow::Result<()> {
        let changed = self.rows.iter().filter(|row| row.verdict().is_change());
        let changed: Vec<String> = changed.map(|row| row.name.clone()).collect();
        print_note("a benchmark has changed; it is run again with other orders of functions (--layouts 0 omits that)");
        let linked = match built.linked(LAYOUTS) {
            Ok(linked) => linked,
            Err(why) => {
                self.notes.push(format!("whether the order of functions is a cause is not known: {why}"));
                return Ok(());
            }
        };
        let again = self.taken_of([&linked.old, &linked.new], &changed, args)?;
        for again in again.into_iter().filter(|again| again.failure.is_none() && !again.rounds.is_empty()) {
            let Some(place) = self.taken.iter().position(|taken| taken.name == again.name) else { continue };
            let (before, alone) = (&self.rows[place], judged::row(&again));
            let (seen, found) = (before.verdict(), alone.verdict());
            let other = found == Verdict::Same || (found.is_change() && found != seen);
            let ratio = alone.ratio().map_or(1.0, |ratio| ratio.value);
            let word = found.word();
            self.taken[place].rounds.extend(again.rounds);
            let mut row = judged::row(&self.taken[place]);
            if other {
                let found = format!("with {LAYOUTS} other orders of functions it is {word} ({ratio:.3} times as long)");
                row.notes.push(format!("{found}: where code lies is a likely cause"));
            }
            self.rows[place] = row;
        }
        Ok(())
    }

    fn finish(self, sides: &Sides, args: &TimeArgs) -> anyhow::Result<Outcome> {
        if self.rows.iter().all(|row| row.compared.is_none()) {
            let why: Vec<&str> = self.rows.iter().flat_map(|row| &row.notes).map(String::as_str).collect();
            if self.interrupted.is_none() {
                anyhow::bail!("nothing could be compared: {}", why.first().unwrap_or(&"no benchmark ran"));
            }
        }
        let null = self.null.as_deref().map(judged::nulls);
        let shown = BenchShown { names: sides.shown.clone(), rows: self.rows, null, notes: self.notes };
        judged::print(&shown, args)?;
        let ended = output::until(self.interrupted);
        Ok(if ended == Outcome::Done { judged::outcome(&shown, &args.bench) } else { ended })
    }
}

fn nothing_in_common(notes: &[String]) -> Misuse {
    Misuse(format!("the builds have no benchmark in common: {}", notes.join("; ")))
}

fn plan([old, new]: [&[PathBuf]; 2], names: &[String], each_s: f64, args: &TimeArgs) -> RacePlan {
    let machine = system::machine::describe();
    let calibration = Store::of_user().ok().as_ref().map(Calibration::load).unwrap_or_default();
    RacePlan {
        sides: [old.to_vec(), new.to_vec()],
        names: names.to_vec(),
        each_s,
        patience: args.patience.unwrap_or(PATIENCE),
        all_cpus: args.all_cpus,
        cpu: args.measure.cpu,
        width: calibration.of(&machine_name(&machine, args.measure.cpu)).map(|best| best.width_cycles),
        seed: args.measure.seed.unwrap_or_else(|| fastrand::u64(..)),
    }
}
