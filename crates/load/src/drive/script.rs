//! The script as the driver follows it: what this machine lacks is left out.

use analysis::load::Usual;

use crate::error::LoadError;
use crate::plan::{Plan, Think};
use crate::users::{Step, find};

#[derive(Clone, Debug, Default)]
pub struct Script {
    pub names: Vec<String>,
    pub(crate) steps: Vec<Step>,
    /// How long the user thinks before each.
    pub(super) thinks: Vec<Think>,
    /// The order, by number.
    pub(super) sequence: Vec<usize>,
    /// What was left out, in whole sentences.
    pub notes: Vec<String>,
}

impl Script {
    /// The script of this plan. Fails if a program is missing that the plan does not call optional, or nothing is left.
    pub fn of(plan: &Plan) -> Result<Script, LoadError> {
        let mut script = Script::default();
        for interaction in &plan.interactions {
            let step =
                interaction.job.clone().map(Step::Job).or_else(|| find(interaction.commands()).map(Step::Program));
            let programs: Vec<&str> =
                interaction.commands().iter().filter_map(|words| words.first()).map(String::as_str).collect();
            let programs = record::printable(&programs.join(", "));
            let Some(step) = step else {
                if interaction.optional {
                    script.notes.push(format!(
                        "The interaction {} is left out: this machine has no {programs}.",
                        interaction.name
                    ));
                    continue;
                }
                return Err(LoadError::Lacking {
                    what: format!(
                        "the interaction {} needs {programs}, which this machine does not have",
                        interaction.name
                    ),
                    remedy: "install it, name another program, or make the interaction optional".into(),
                });
            };
            let place = script.names.len();
            script.names.push(record::printable(&interaction.name));
            script.steps.push(step);
            script.thinks.push(interaction.think.clone());
            script.sequence.extend(std::iter::repeat_n(place, interaction.times as usize));
        }
        if script.sequence.is_empty() {
            return Err(LoadError::Lacking {
                what: "nothing is left of the script, because this machine has none of its programs".into(),
                remedy: "install one of them, or take another plan".into(),
            });
        }
        Ok(script)
    }

    /// What the script has for all configurations.
    pub fn usual(&self) -> Usual {
        let count = |place: usize| self.sequence.iter().filter(|other| **other == place).count() as f64;
        let weights: Vec<f64> = (0..self.steps.len()).map(count).collect();
        let total: f64 = weights.iter().sum();
        let think_s =
            weights.iter().zip(&self.thinks).map(|(weight, think)| weight * think.mean()).sum::<f64>() / total;
        let stays = self.steps.iter().any(|step| matches!(step, Step::Job(_)));
        Usual { names: self.names.clone(), weights, think_s, stays, pages_bytes: self.pages_bytes() }
    }

    /// The pages of all jobs of a user, in bytes.
    pub fn pages_bytes(&self) -> u64 {
        let working_set = |step: &Step| if let Step::Job(job) = step { job.working_set.0 } else { 0 };
        self.steps.iter().map(working_set).sum()
    }

    /// The number of the interaction that comes at this place of the endless script.
    pub(super) fn at(&self, place: u64) -> usize {
        self.sequence[(place % self.sequence.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Job;

    fn script(text: &str) -> Result<Script, LoadError> {
        Script::of(&Plan::from_toml(&format!("name = 'x'\n{text}")).expect("a plan"))
    }

    #[test]
    fn the_script_repeats_without_end_and_leaves_out_what_is_missing() {
        let edit = "[[interaction]]\nname = 'edit'\ntimes = 2\njob = {}\n";
        let shell = "[[interaction]]\nname = 'shell'\nany_of = [['no-such-program'], ['sh', '-c', 'true']]\n";
        let gone = "[[interaction]]\nname = 'gone'\ncommand = ['no-such-program']\noptional = true\n";
        let found = script(&[edit, gone, shell].concat()).expect("a script");
        assert_eq!(found.names, ["edit", "shell"]);
        assert_eq!((0..6).map(|place| found.at(place)).collect::<Vec<_>>(), [0, 0, 1, 0, 0, 1]);
        let usual = found.usual();
        assert_eq!(
            (usual.weights, usual.stays, usual.pages_bytes),
            (vec![2.0, 1.0], true, Job::default().working_set.0)
        );
        assert!(found.notes[0].contains("no-such-program"), "{:?}", found.notes);
        let refused = script(&gone.replace("optional = true", "")).expect_err("missing");
        assert!(refused.is_misuse() && refused.to_string().contains("no-such-program"), "{refused}");
        assert!(script(gone).expect_err("nothing left").to_string().contains("nothing is left"));
    }
}
