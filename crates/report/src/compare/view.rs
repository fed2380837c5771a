//! How a comparison is shown.

use crate::text::shortened;

/// The order of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Sort {
    /// The largest ratio first
    Ratio,
    /// By id and point
    Name,
    /// By family, in the order of the base
    Family,
}

/// Which rows are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    All,
    /// Those that differ by more than noise. The others are counted.
    Changed,
}

/// How a comparison is shown.
#[derive(Clone, Copy, Debug)]
pub struct ComparisonView<'a> {
    /// The names of the runs as typed.
    pub names: &'a [String],
    /// The order of the rows.
    pub sort: Sort,
    /// Which rows are shown.
    pub shown: Shown,
}

impl ComparisonView<'_> {
    /// A short name of a run that no other has: the last part of its path without the ending, else the whole path, else also its
    /// place.
    pub fn label(&self, place: usize) -> String {
        let name = self.names.get(place).map_or("", String::as_str);
        let is_alone = |of: fn(&str) -> String| {
            self.names.iter().enumerate().all(|(other, named)| other == place || of(named) != of(name))
        };
        match [last_part, whole].into_iter().find(|of| is_alone(*of)) {
            Some(of) => of(name),
            None => format!("{}#{}", last_part(name), place + 1),
        }
    }
}

fn last_part(name: &str) -> String {
    let last = without_ending(name).rsplit('/').next().unwrap_or(name);
    short(last)
}

fn whole(name: &str) -> String {
    short(without_ending(name))
}

fn without_ending(name: &str) -> &str {
    name.trim_end_matches(".json").trim_end_matches(".toml")
}

/// A name in at most 20 columns, without characters of control.
fn short(name: &str) -> String {
    shortened(&name.replace(char::is_control, " "), 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_runs_have_one_label() {
        let labels = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            let view = ComparisonView { names: &names, sort: Sort::Name, shown: Shown::All };
            (0..names.len()).map(|place| view.label(place)).collect::<Vec<_>>()
        };
        assert_eq!(labels(&["main/run.json", "pr/fast.json"]), ["run", "fast"]);
        assert_eq!(labels(&["main/run.json", "pr/run.json", "a.toml"]), ["main/run", "pr/run", "a"]);
        assert_eq!(labels(&["pr/run.json", "pr/run.toml"]), ["run#1", "run#2"]);
        assert_eq!(labels(&["a name\nof more than twenty letters"]), ["a name of …y letters"]);
    }
}
