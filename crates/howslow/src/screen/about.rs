//! What a table is of, and what is known of its figures.

/// What is known of the counting and of the prices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    /// How it is counted.
    pub source: String,
    /// False if no calls are counted.
    pub counts_calls: bool,
    /// Where the prices come from; `None` without prices.
    pub prices: Option<String>,
    /// What counting costs a call, in ns.
    pub counting_ns: Option<f64>,
    /// CPUs of the system that are online.
    pub cpus: u32,
    /// What is missing, and what was lost.
    pub notes: Vec<String>,
}

/// What accounts are shown of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    #[default]
    Processes,
    Cgroups,
}
