//! `howslow interference`: how much each kind of work slows each other kind.

use std::path::PathBuf;

use clap::Args;
use instruments::interference::{KINDS, Kind, Request, together_name};
use record::Place;
use report::document::InterferenceDocument;

use crate::cli::value::{seconds, whole};
use crate::output::{self, Outcome};
use crate::{cpu, pictures, scratch};

const EXAMPLES: &str = "\
Examples:
  howslow interference
  howslow interference compute memory --on other --budget 60s
  howslow interference --doses compute:disk-reads --svg charts
  howslow run pipe --beside disk-reads@50%
Exit status: 0 done; 1 failed; 2 misused: no such kind of work; 3 done, but some of what was named could not be measured; 130 interrupted.";

/// What stands below the help of `interference`.
fn kinds() -> String {
    let lines = KINDS.iter().map(|kind| format!("  {:<13} {}", kind.name, kind.summary));
    format!("Kinds of work:\n{}\n{EXAMPLES}", lines.collect::<Vec<_>>().join("\n"))
}

/// How much each kind of work is slowed by each other kind beside it
#[derive(Debug, Args)]
#[command(after_help = kinds())]
pub(crate) struct InterferenceArgs {
    /// Only these kinds of work, each slowed by each; all kinds if none is named
    #[arg(value_name = "KIND", value_parser = kind)]
    pub kinds: Vec<&'static Kind>,
    /// Only these kinds are slowed
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', value_parser = kind)]
    pub victims: Vec<&'static Kind>,
    /// Only these kinds slow them
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', value_parser = kind)]
    pub aggressors: Vec<&'static Kind>,
    /// Only beside work at these places: sibling (the core's other hardware thread), other (another CPU), same (the same CPU)
    #[arg(long, value_name = "PLACE,...", value_delimiter = ',', value_parser = place)]
    pub on: Vec<Place>,
    /// Also by the dose, VICTIM by AGGRESSOR at work for 25, 50 and 100 % of the time [default: four pairs]
    #[arg(long, value_name = "VICTIM:AGGRESSOR,...", value_delimiter = ',', value_parser = pair)]
    pub doses: Vec<(&'static Kind, &'static Kind)>,
    /// Also three kinds together, predicted from pairs and measured [default: two such]
    #[arg(long, value_name = "KIND+KIND+KIND,...", value_delimiter = ',', value_parser = three)]
    pub together: Vec<[&'static Kind; 3]>,
    /// Time it may take; every cell is measured twice in any case
    #[arg(long, value_name = "TIME", default_value = "50s", value_parser = seconds, allow_hyphen_values = true)]
    pub budget: f64,
    /// The CPU of the work that is slowed
    #[arg(long, value_name = "N", value_parser = whole::<u32>, allow_hyphen_values = true)]
    pub cpu: Option<u32>,
    /// Seed of the order
    #[arg(long, value_name = "N", value_parser = whole::<u64>, allow_hyphen_values = true)]
    pub seed: Option<u64>,
    /// Write the matrices and the dose curves as SVG files into this folder
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

fn kind(text: &str) -> Result<&'static Kind, String> {
    Kind::named(text.trim()).map_err(|error| error.to_string())
}

fn place(text: &str) -> Result<Place, String> {
    let found = Place::ALL.into_iter().find(|place| place.word() == text.trim());
    found.ok_or_else(|| "say sibling, other or same".into())
}

fn pair(text: &str) -> Result<(&'static Kind, &'static Kind), String> {
    let (victim, aggressor) = text.split_once(':').ok_or("say VICTIM:AGGRESSOR, such as compute:disk-reads")?;
    Ok((kind(victim)?, kind(aggressor)?))
}

fn three(text: &str) -> Result<[&'static Kind; 3], String> {
    let kinds: Vec<&'static Kind> = text.split('+').map(kind).collect::<Result<_, _>>()?;
    let apart = |kinds: &[&Kind; 3]| (0..3).all(|number| kinds[number].name != kinds[(number + 1) % 3].name);
    let three: Option<[&'static Kind; 3]> = kinds.try_into().ok();
    three.filter(apart).ok_or_else(|| "say three different kinds, such as memory+network+disk-reads".into())
}

/// Dose curves that are measured unless others are requested: victim and aggressor. The first is the paper's own.
const CURVES: [(&str, &str); 4] =
    [("compute", "disk-reads"), ("memory", "memory"), ("disk-reads", "compute"), ("faults", "memory")];

/// Kinds that run together unless others are requested.
const TOGETHER: [[&str; 3]; 2] = [["memory", "network", "disk-reads"], ["compute", "memory", "faults"]];

pub(crate) fn interference(args: &InterferenceArgs) -> anyhow::Result<Outcome> {
    pictures::check(args.svg.as_deref())?;
    let folder = scratch::folder()?;
    let request = request(args);
    let machine = system::machine::describe();
    cpu::check(args.cpu, &system::machine::pinnable_cpus())?;
    let found = output::watched(|show| instruments::interference::matrix(&request, &folder, show))?;
    let document = InterferenceDocument::of(&found, &machine);
    output::answer(args.json, &document, |style| report::interference(&found, &machine, style, style.width()))?;
    pictures::write(args.svg.as_deref(), report::interference_pictures(&found))?;
    match output::until(found.interrupted) {
        Outcome::Done if found.skipped.iter().any(|skip| is_named(args, &skip.what)) => Ok(Outcome::Skipped),
        outcome => Ok(outcome),
    }
}

/// True if this place, kind or three kinds together were requested by name.
fn is_named(args: &InterferenceArgs, what: &str) -> bool {
    let pairs = args.doses.iter().flat_map(|(victim, aggressor)| [victim, aggressor]);
    let kinds = [&args.kinds, &args.victims, &args.aggressors].into_iter().flatten();
    let mut kinds = kinds.chain(pairs).chain(args.together.iter().flatten());
    args.on.iter().any(|place| place.described() == what)
        || kinds.any(|kind| kind.name == what)
        || args.together.iter().any(|kinds| together_name(kinds) == what)
}

fn request(args: &InterferenceArgs) -> Request {
    let chosen = |own: &[&'static Kind]| -> Vec<&'static Kind> {
        match (own, args.kinds.as_slice()) {
            ([], []) => KINDS.iter().collect(),
            ([], kinds) => kinds.to_vec(),
            (own, _) => own.to_vec(),
        }
    };
    let (victims, aggressors) = (chosen(&args.victims), chosen(&args.aggressors));
    // Those that nobody requested are measured only of kinds that are measured anyway.
    let victim = |name: &str| victims.iter().copied().find(|kind| kind.name == name);
    let aggressor = |name: &str| aggressors.iter().copied().find(|kind| kind.name == name);
    let mut curves = args.doses.clone();
    if curves.is_empty() {
        curves = CURVES.into_iter().filter_map(|(one, other)| victim(one).zip(aggressor(other))).collect();
    }
    let mut together = args.together.clone();
    if together.is_empty() {
        let both = |name: &str| victim(name).and(aggressor(name));
        let all = |[one, two, three]: [&str; 3]| Some([both(one)?, both(two)?, both(three)?]);
        together = TOGETHER.into_iter().filter_map(all).collect();
    }
    Request {
        victims,
        aggressors,
        places: if args.on.is_empty() { Place::ALL.to_vec() } else { args.on.clone() },
        curves,
        together,
        budget_s: args.budget,
        cpu: args.cpu,
        seed: args.seed.unwrap_or_else(|| fastrand::u64(..)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_doses_and_of_three_together_are_named() {
        let words = ["compute", "--doses", "memory:disk-reads", "--together", "pipe+l2+faults"];
        let args = crate::cli::parsed(&words).expect("arguments");
        for (name, named) in [("compute", true), ("disk-reads", true), ("faults", true), ("network", false)] {
            assert_eq!(is_named(&args, name), named, "{name}");
        }
    }
}
