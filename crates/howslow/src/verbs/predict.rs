//! `howslow predict`: the predicted time of a mix on the machines of runs, beside the measured time, and what-if questions.

pub(crate) mod missing_costs;
pub(crate) mod mixes;
pub(crate) mod pricing;
mod what_if;
pub(crate) mod whole;

use analysis::predict::{MachineState, MixPrediction, predict_in};
use analysis::whatif::{Impossible, Supposed, suppose};
use clap::Args;
use record::{Mix, printable};
use report::Priced;
use report::document::{PredictDocument, PredictFactors, Predictions};

use self::pricing::{names, priced};
use self::what_if::{WhatIf, WhatIfContext};
use self::whole::Whole;
use crate::factors;
use crate::output::{self, Misuse, Outcome};
use crate::resolve::{self, Named};
pub(crate) use mixes::open_mix;

const PREDICTED: &str = "\
MIX is a TOML file, or a mix that comes with howslow: true, git-status, nginx and others (docs/PREDICT.md).
CHANGE is OPERATION=COST or PATTERN=COST. COST is a time (70ns), a difference (+5us, -590ns), a factor
(x0.5), or a RUN whose cost is used.
Examples: howslow predict true --on @1
          howslow predict mine.toml --on @1 --measure
          howslow predict mine.toml --on @1 @2 --measured @1=1.2ms --what-if 'syscall.*=x0.5'
          howslow predict mine.toml --on @1 --what-if memory.load@set=32MiB=70ns
          howslow predict call-save-return --on multics-645 multics-6180 --factors
Exit status: 0 done; 1 failed; 2 misused, or a run lacks what the mix needs; 3 done without it (--partial).";

/// Predict the time of a program's work on a machine from a mix: how often it performs each operation
#[derive(Debug, Args)]
#[command(after_help = PREDICTED, arg_required_else_help = true, override_usage = "howslow predict <MIX>... --on <RUN>... [OPTIONS]")]
pub(crate) struct PredictArgs {
    /// How often a unit of work performs each operation: a file, or a mix that comes with howslow
    #[arg(value_name = "MIX", add = clap_complete::ArgValueCompleter::new(crate::complete::mixes))]
    pub mixes: Vec<String>,
    /// The runs whose costs are the prices. Without a MIX before it, the last word is the mix
    #[arg(long, value_name = "RUN", required = true, num_args = 1.., add = clap_complete::ArgValueCompleter::new(crate::complete::runs))]
    pub on: Vec<String>,
    /// Suppose another value of a cost; may be repeated, and applies in the order given
    #[arg(long, value_name = "CHANGE")]
    pub what_if: Vec<String>,
    /// The measured time of a unit of work: 1.2ms, or a run that measured the mix's whole; RUN=1.2ms if there are several runs
    #[arg(long, value_name = "TIME")]
    pub measured: Vec<String>,
    /// The prices: of an undisturbed core, as costs are quoted, or of programs that share the machine
    #[arg(long, value_name = "STATE", value_enum, default_value_t = MachineState::Quiet)]
    pub by: MachineState,
    /// Split the ratio of two runs, or of two mixes, into factors
    #[arg(long, conflicts_with_all = ["what_if", "partial"])]
    pub factors: bool,
    /// Measure what a run of this machine lacks; the run itself is not changed
    #[arg(long, conflicts_with = "partial")]
    pub measure: bool,
    /// Predict the rest if a run lacks some of the costs
    #[arg(long)]
    pub partial: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The arguments, with every name resolved.
struct PredictRequest<'a> {
    mixes: Vec<Mix>,
    runs: Vec<Named<'a>>,
    state: MachineState,
    measured: Vec<Whole>,
    what_if: Vec<WhatIf>,
}

pub(crate) fn predict(args: &PredictArgs) -> anyhow::Result<Outcome> {
    let (mixes, on) = mixes_and_runs(args)?;
    if let Some(twice) = on.iter().enumerate().find(|(place, name)| on[..*place].contains(name)) {
        return Err(Misuse(format!("--on names {} twice", printable(twice.1))).into());
    }
    let mixes = mixes.iter().map(|name| open_mix(name)).collect::<Result<Vec<_>, _>>()?;
    let mut opened = resolve::runs(on)?;
    if args.measure
        && let Some(signal) = missing_costs::measure(&mixes, on, &mut opened)?
    {
        return Ok(Outcome::Interrupted(signal));
    }
    let runs = resolve::named(on, &opened);
    let measured = Whole::read_all(&args.measured, &runs)?;
    let what_if = args.what_if.iter().map(|text| WhatIf::read(text, &runs)).collect::<Result<Vec<_>, _>>()?;
    let request = PredictRequest { mixes, runs, state: args.by, measured, what_if };
    if args.factors { split(&request, args.json) } else { print(&request, args) }
}

/// The names of the mixes and of the runs. `--on` takes all words that follow it, so without a mix before it, the last of them
/// is the mix.
fn mixes_and_runs(args: &PredictArgs) -> Result<(&[String], &[String]), Misuse> {
    match (args.mixes.as_slice(), args.on.as_slice()) {
        ([], [on @ .., mix]) if !on.is_empty() => Ok((std::slice::from_ref(mix), on)),
        (mixes @ [_, ..], on) => Ok((mixes, on)),
        _ => Err(Misuse("say what to predict: howslow predict MIX --on RUN; `true` is a mix to begin with".into())),
    }
}

fn print(request: &PredictRequest, args: &PredictArgs) -> anyhow::Result<Outcome> {
    let PredictRequest { mixes, runs, .. } = request;
    let mut all = Vec::new();
    for mix in mixes {
        let predictions = priced(request.state, mix, runs, &request.measured)?;
        missing_costs::check(mix, runs, &predictions)?;
        if !args.partial {
            let remedy = "--measure measures what can be measured here; --partial predicts without them";
            missing_costs::refuse(mix, runs, &predictions, remedy)?;
        }
        let after = all_supposed(request, mix, &predictions)?;
        all.push((mix, predictions, after));
    }
    let shown = all.iter().map(|(mix, predictions, after)| show(request, mix, predictions, after));
    let shown: Vec<Vec<Priced>> = shown.collect();
    if args.json {
        let mut documents = Vec::new();
        for ((mix, _, after), shown) in all.iter().zip(&shown) {
            let on = runs.iter().map(|named| named.name).zip(shown);
            let supposed = &after.supposed;
            let document = |(on, priced)| PredictDocument::of((mix, on), priced, supposed, &missing_costs::command);
            documents.extend(on.map(document));
        }
        match documents.as_slice() {
            [one] => output::print_document(one)?,
            several => output::print_document(&Predictions { predictions: several })?,
        }
    } else {
        let page = |((mix, _, after), shown): (&(&Mix, Vec<MixPrediction>, After), &Vec<Priced>)| {
            report::predictions(mix, shown, &after.supposed, output::style())
        };
        output::print_page(&all.iter().zip(&shown).map(page).collect::<Vec<_>>().join("\n"))?;
    }
    let partial = all.iter().any(|(_, predictions, _)| predictions.iter().any(|one| !one.lacking.is_empty()));
    Ok(if partial { Outcome::Skipped } else { Outcome::Done })
}

/// The predictions to be shown, each with its total in the other state.
fn show<'a>(request: &PredictRequest<'a>, mix: &Mix, all: &'a [MixPrediction], after: &After) -> Vec<Priced<'a>> {
    let state = request.state;
    let other = if state == MachineState::Quiet { MachineState::Typical } else { MachineState::Quiet };
    let one = |(place, prediction): (usize, &'a MixPrediction)| {
        let run = request.runs[place].run;
        // A book has one state only, and there is no total if a price is missing.
        let is_comparable = prediction.lacking.is_empty() && !run.is_published();
        let otherwise = is_comparable.then(|| predict_in(other, mix, run, place, &names).total().figure());
        Priced { run, prediction, supposed: after.predictions[place].clone(), state, otherwise }
    };
    all.iter().enumerate().map(one).collect()
}

/// Applies what-if changes to a mix's predictions.
struct After {
    supposed: Vec<Supposed>,
    predictions: Vec<Option<MixPrediction>>,
}

fn all_supposed(request: &PredictRequest, mix: &Mix, before: &[MixPrediction]) -> Result<After, Misuse> {
    if request.what_if.is_empty() {
        return Ok(After { supposed: Vec::new(), predictions: vec![None; before.len()] });
    }
    let mut after = After { supposed: Vec::new(), predictions: Vec::new() };
    for (named, prediction) in request.runs.iter().zip(before) {
        let about = WhatIfContext { state: request.state, mix, runs: &request.runs, prediction };
        let all = request.what_if.iter().enumerate().map(|(index, what_if)| what_if.of(index, about));
        after.supposed = all.collect::<Result<Vec<_>, _>>()?;
        let name = printable(named.name);
        let refused = |why| match why {
            Impossible::BelowNothing(line) => format!("--what-if would make the cost of {line} negative on {name}"),
            Impossible::Unpriced(line) => {
                format!("--what-if: {line} has no price on {name}; suppose a time (70ns), or a run that has one")
            }
            Impossible::Lacking(line) => {
                format!("--what-if takes {line} from a run that lacks it; name another run, or a time")
            }
        };
        let changed = suppose(prediction, &after.supposed).map_err(|why| Misuse(refused(why)))?;
        after.predictions.push(Some(changed));
    }
    Ok(after)
}

/// `--factors`: one mix on two runs, two mixes on one run, or each mix on its own run.
fn split(request: &PredictRequest, json: bool) -> anyhow::Result<Outcome> {
    let (mixes, sides) = match (request.mixes.as_slice(), request.runs.as_slice()) {
        ([mix], [a, b]) => ([mix, mix], [*a, *b]),
        ([one, other], [run]) => ([one, other], [*run, *run]),
        ([one, other], [a, b]) => ([one, other], [*a, *b]),
        _ => {
            let text = "--factors compares two sides: one mix --on two runs, two mixes --on one run, or two mixes each on its own run";
            return Err(Misuse(text.into()).into());
        }
    };
    let split = factors::split(request.state, mixes, sides, &request.measured)?;
    let document = PredictFactors {
        split: split.document,
        runs: sides.iter().map(|named| named.run.id.clone()).collect(),
        mixes: mixes.iter().map(|mix| mix.name.clone()).collect(),
    };
    output::answer(json, &document, |_| split.page)?;
    Ok(Outcome::Done)
}
