//! How a comparison is shown.

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
    /// A short name of a run: the last part of its path, without the ending.
    pub fn label(&self, place: usize) -> String {
        const MOST: usize = 20;
        let name = self.names.get(place).map_or("", String::as_str);
        let last = name.trim_end_matches(".json").trim_end_matches(".toml").rsplit('/').next().unwrap_or(name);
        let characters: Vec<char> = last.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        match characters.len() {
            0..=MOST => characters.into_iter().collect(),
            many => {
                let part = |range: &[char]| range.iter().collect::<String>();
                format!("{}…{}", part(&characters[..MOST / 2]), part(&characters[many - MOST / 2 + 1..]))
            }
        }
    }
}
