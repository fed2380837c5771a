//! Why nothing was measured.

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The process that starts rounds could not be started, or was killed.
    #[error("the process that starts the rounds is gone: {0}")]
    Launcher(std::io::Error),
    /// No scratch folder.
    #[error("cannot make a scratch folder in {folder}: {error}; set TMPDIR to a folder that can be written")]
    Scratch {
        /// The folder that was tried.
        folder: String,
        /// Why it failed.
        error: std::io::Error,
    },
    /// What should run beside the measurement has ended.
    #[error("{0}")]
    Beside(String),
    /// No such CPU.
    #[error("CPU {cpu} is not one this process may use ({usable})")]
    Cpu {
        /// The CPU requested.
        cpu: u32,
        /// The CPUs that this process may use.
        usable: String,
    },
    /// An operation names a term that is not in the registry.
    #[error("{operation} has the term {term}, which is no operation")]
    Term {
        /// The operation.
        operation: String,
        /// The term's name.
        term: String,
    },
}
