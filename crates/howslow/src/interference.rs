//! `howslow interference`: how much each kind of work slows each other kind.

use instruments::interference::{InterferenceError, KINDS, Kind, Request, together_name};
use record::Place;
use report::document::InterferenceDocument;

use crate::cli::InterferenceArgs;
use crate::cpu;
use crate::output::{self, Outcome};
use crate::pictures;
use crate::scratch;

/// Dose curves that are measured unless others are requested: victim and aggressor. The first is the paper's own.
const CURVES: [(&str, &str); 4] =
    [("compute", "disk-reads"), ("memory", "memory"), ("disk-reads", "compute"), ("faults", "memory")];
/// Kinds that run together unless others are requested.
const TOGETHER: [[&str; 3]; 2] = [["memory", "network", "disk-reads"], ["compute", "memory", "faults"]];

pub(crate) fn interference(args: &InterferenceArgs) -> anyhow::Result<Outcome> {
    pictures::check(args.svg.as_deref())?;
    let folder = scratch::folder()?;
    let request = request(args)?;
    let machine = system::machine::describe();
    cpu::check(args.cpu, &system::machine::pinnable_cpus())?;
    let found = output::watched(|show| instruments::interference::matrix(&request, &folder, show)).map_err(refused)?;
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

/// A load that cannot be meant is a misuse.
pub(crate) fn refused(error: InterferenceError) -> anyhow::Error {
    output::refused(error.is_misuse(), error)
}

fn request(args: &InterferenceArgs) -> anyhow::Result<Request> {
    let named = |name: &str| Kind::named(name).map_err(refused);
    let chosen = |own: &[&'static Kind]| -> Vec<&'static Kind> {
        match (own, args.kinds.as_slice()) {
            ([], []) => KINDS.iter().collect(),
            ([], kinds) => kinds.to_vec(),
            (own, _) => own.to_vec(),
        }
    };
    let (victims, aggressors) = (chosen(&args.victims), chosen(&args.aggressors));
    // Those that nobody requested are measured only of kinds that are measured anyway.
    let is = |kinds: &[&Kind], name: &str| kinds.iter().any(|kind| kind.name == name);
    let mut curves = args.doses.clone();
    if curves.is_empty() {
        for (victim, aggressor) in CURVES {
            if is(&victims, victim) && is(&aggressors, aggressor) {
                curves.push((named(victim)?, named(aggressor)?));
            }
        }
    }
    let mut together = args.together.clone();
    if together.is_empty() {
        for [one, two, three] in TOGETHER {
            if [one, two, three].iter().all(|name| is(&victims, name) && is(&aggressors, name)) {
                together.push([named(one)?, named(two)?, named(three)?]);
            }
        }
    }
    Ok(Request {
        victims,
        aggressors,
        places: if args.on.is_empty() { Place::ALL.to_vec() } else { args.on.clone() },
        curves,
        together,
        budget_s: args.budget,
        cpu: args.cpu,
        seed: args.seed.unwrap_or_else(|| fastrand::u64(..)),
    })
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
