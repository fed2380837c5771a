//! The axes of an experiment, and the configurations that they make.

use analysis::load::{Configuration, PageDevice, Relief};
use serde::Deserialize;

use super::quantity::Memory;

/// The values of each axis. Every value of one is combined with every value of the others.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Axes {
    /// Numbers of users.
    pub users: Vec<u32>,
    /// Limits of the memory of all users together.
    pub memory: Vec<Memory>,
    /// Numbers of CPUs for all users together.
    pub cpus: Vec<u32>,
    /// How many interactions may run at once; the others queue, first come, first served. 0 for no limit.
    pub eligible: Vec<u32>,
    /// Where pages go that do not fit: `none`, `swap` (a file made for the experiment) or `zram`.
    #[serde(deserialize_with = "devices")]
    #[schemars(with = "Vec<String>")]
    pub device: Vec<PageDevice>,
    /// What is done against page faults: `none`, `pre-paging`, `post-purging`, `paging-out` or `both`.
    #[serde(deserialize_with = "reliefs")]
    #[schemars(with = "Vec<String>")]
    pub relief: Vec<Relief>,
    /// How often each configuration is measured.
    pub repetitions: u32,
}

impl Default for Axes {
    fn default() -> Axes {
        Axes {
            users: vec![4],
            memory: vec![Memory(None)],
            cpus: vec![1],
            eligible: vec![0],
            device: vec![PageDevice::None],
            relief: vec![Relief::None],
            repetitions: 1,
        }
    }
}

/// The page device of this name. Fails if there is none.
pub fn device(word: &str) -> Result<PageDevice, String> {
    let found = PageDevice::ALL.into_iter().find(|known| known.word() == word.trim());
    found.ok_or_else(|| format!("{word:?} is no page device; say none, swap or zram"))
}

/// The relief of this name. Fails if there is none.
pub fn relief(word: &str) -> Result<Relief, String> {
    let found = Relief::ALL.into_iter().find(|known| known.word() == word.trim());
    found.ok_or_else(|| format!("{word:?} is no relief; say {}", Relief::ALL.map(Relief::word).join(", ")))
}

fn devices<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<PageDevice>, D::Error> {
    let words = Vec::<String>::deserialize(from)?;
    words.iter().map(|word| device(word)).collect::<Result<_, _>>().map_err(serde::de::Error::custom)
}

fn reliefs<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<Relief>, D::Error> {
    let words = Vec::<String>::deserialize(from)?;
    words.iter().map(|word| relief(word)).collect::<Result<_, _>>().map_err(serde::de::Error::custom)
}

impl Axes {
    /// Every combination, repetitions outermost, so that what drifts meets all configurations alike.
    pub fn configurations(&self) -> Vec<Configuration> {
        let mut all = Vec::new();
        for repetition in 1..=self.repetitions {
            for &cpus in &self.cpus {
                for &device in &self.device {
                    for &relief in &self.relief {
                        for &eligible in &self.eligible {
                            for &Memory(memory) in &self.memory {
                                all.extend(self.users.iter().map(|&users| Configuration {
                                    users,
                                    memory,
                                    cpus,
                                    eligible: (eligible > 0).then_some(eligible),
                                    device,
                                    relief,
                                    repetition,
                                }));
                            }
                        }
                    }
                }
            }
        }
        all
    }

    /// How many values each axis has, by its name.
    fn lengths(&self) -> [(&'static str, usize); 6] {
        [
            ("users", self.users.len()),
            ("memory", self.memory.len()),
            ("cpus", self.cpus.len()),
            ("eligible", self.eligible.len()),
            ("device", self.device.len()),
            ("relief", self.relief.len()),
        ]
    }

    /// How many combinations there are, without making them.
    pub fn count(&self) -> f64 {
        self.lengths().iter().map(|(_, length)| *length as f64).product::<f64>() * f64::from(self.repetitions)
    }

    /// Checks every axis. The error names it.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        /// Each user is two processes.
        const MOST_USERS: u32 = 1000;
        const MOST_EACH: usize = 1000;
        let refuse = |axis, is_wrong, why: String| if is_wrong { Err((axis, why)) } else { Ok(()) };
        for (axis, length) in self.lengths() {
            refuse(axis, length == 0, "give at least one value".into())?;
            refuse(axis, length > MOST_EACH, format!("give at most {MOST_EACH} values"))?;
        }
        let fit = self.users.iter().all(|users| (1..=MOST_USERS).contains(users));
        refuse("users", !fit, format!("give numbers from 1 to {MOST_USERS}"))?;
        refuse("cpus", self.cpus.contains(&0), "give numbers of at least 1".into())?;
        let is_sound = (1..=1000).contains(&self.repetitions);
        refuse("repetitions", !is_sound, "give a number from 1 to 1000".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_meets_every_other() {
        let axes = Axes {
            users: vec![2, 4],
            memory: vec![Memory(None), Memory(Some(1 << 24))],
            eligible: vec![0, 3],
            repetitions: 2,
            ..Axes::default()
        };
        let all = axes.configurations();
        assert_eq!(all.len() as f64, axes.count());
        assert_eq!(all.len(), 16);
        assert!(all.iter().enumerate().all(|(place, known)| !all[..place].contains(known)));
        assert_eq!((all[0].eligible, all[15].eligible), (None, Some(3)));
        assert!(all[..8].iter().all(|known| known.repetition == 1));
    }
}
