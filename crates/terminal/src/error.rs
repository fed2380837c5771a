//! Why a terminal was not measured.

use std::time::Duration;

use rustix::io::Errno;

/// Why a terminal was not measured.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    #[error("there is no terminal here to measure (/dev/tty: {0}); run it in one")]
    NoTerminal(Errno),
    #[error("another program has the terminal now; bring howslow to the foreground (fg) to measure it")]
    Background,
    /// Nothing could undo the changes of the settings if this process were killed.
    #[error("cannot start the process that restores the terminal if howslow is killed: {0}")]
    NoGuardian(std::io::Error),
    /// The fence is not answered.
    #[error(
        "the terminal did not answer ESC[6n within {} s{}; howslow cannot tell when such a terminal has parsed its input",
        .patience.as_secs_f64(),
        .heard
    )]
    Silent {
        patience: Duration,
        /// What came instead, in words; empty if nothing came.
        heard: &'static str,
    },
    #[error(
        "the terminal took no output for {} s; output that was stopped (Ctrl-S) goes on after Ctrl-Q",
        .0.as_secs_f64()
    )]
    Stuck(Duration),
    #[error("the terminal was closed")]
    Closed,
    #[error("interrupted by signal {0}")]
    Interrupted(i32),
    /// There is no folder for scratch files.
    #[error("{0}")]
    Scratch(String),
    #[error("the terminal: {0}")]
    Call(#[from] Errno),
}

impl TerminalError {
    /// True if there is nothing that could be measured: howslow was started in the wrong place.
    pub fn is_misuse(&self) -> bool {
        matches!(self, TerminalError::NoTerminal(_) | TerminalError::Background)
    }
}
