//! Why a load cannot run or the matrix cannot be measured.

/// Why a load cannot run or the matrix cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum InterferenceError {
    /// No kind of work has this name.
    #[error("there is no kind of work '{name}'; choose one of: {known}")]
    Kind {
        /// What was typed.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The text does not say a load.
    #[error(
        "cannot read '{text}' as work to run beside: {why}; say KIND[@DOSE][@PLACE], such as disk-reads@50% or memory@same"
    )]
    Load {
        /// What was typed.
        text: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The registry lacks an operation.
    #[error("this howslow has no operation {id}, which a kind of work needs")]
    Operation { id: &'static str },
    /// There is no CPU at such a place.
    #[error("{reason}; to measure it: {remedy}")]
    Place {
        /// Why there is none.
        reason: String,
        /// What would bring one.
        remedy: String,
    },
    /// The workers cannot be started.
    #[error("cannot start the work beside: {0}")]
    Start(String),
    /// A kind of work is impossible here.
    #[error("{kind} cannot run here: {reason}")]
    Impossible {
        kind: String,
        /// Why.
        reason: String,
    },
    /// A worker has ended before it was told to.
    #[error(
        "the work of the kind {kind} ended before it was told to: {why}; nothing measured beside it can be trusted, so run it again"
    )]
    Died {
        kind: String,
        /// Why, as far as known.
        why: String,
    },
    /// A load has done nothing.
    #[error("the work of the kind {kind} did nothing in {seconds:.1} s; nothing measured beside it can be trusted")]
    Idle {
        kind: String,
        /// How long it should have worked.
        seconds: f64,
    },
    /// Scratch files cannot be made.
    #[error(transparent)]
    Measure(#[from] measure::MeasureError),
}

impl InterferenceError {
    /// True if what was typed cannot be meant.
    pub fn is_misuse(&self) -> bool {
        matches!(self, InterferenceError::Kind { .. } | InterferenceError::Load { .. })
    }
}
