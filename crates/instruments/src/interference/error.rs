//! Why a load cannot run or the matrix cannot be measured.

/// Why a load cannot run or the matrix cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum InterferenceError {
    #[error("there is no kind of work '{name}'; choose one of: {known}")]
    Kind { name: String, known: String },
    #[error(
        "cannot read '{text}' as work to run beside: {why}; say KIND[@DOSE][@PLACE], such as disk-reads@50% or memory@same"
    )]
    Load { text: String, why: &'static str },
    #[error("this howslow has no operation {id}, which a kind of work needs")]
    Operation { id: &'static str },
    /// There is no CPU at such a place.
    #[error("{reason}; to measure it: {remedy}")]
    Place { reason: String, remedy: String },
    #[error("cannot start the work beside: {0}")]
    Start(String),
    #[error("{kind} cannot run here: {reason}")]
    Impossible { kind: String, reason: String },
    #[error(
        "the work of the kind {kind} ended before it was told to: {why}; nothing measured beside it can be trusted, so run it again"
    )]
    Died { kind: String, why: String },
    #[error("the work of the kind {kind} did nothing in {seconds:.1} s; nothing measured beside it can be trusted")]
    Idle { kind: String, seconds: f64 },
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
