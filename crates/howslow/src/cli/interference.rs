//! The arguments of `interference`, and how work beside a measurement is typed.

use std::path::PathBuf;

use clap::Args;
use instruments::interference::{KINDS, Kind, Load};
use record::Place;

use super::value::{seconds, whole};

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

/// `disk-reads@50%`.
pub(super) fn load(text: &str) -> Result<Load, String> {
    Load::parse(text).map_err(|error| error.to_string())
}
