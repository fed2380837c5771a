//! Where text goes: pages to stdout, everything else to stderr, progress to a terminal only; and the exit status.

use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use measure::Progress;
use report::Style;

/// How a verb ended that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All that was asked for.
    Done,
    /// Something asked for by name could not be measured here.
    Skipped,
    /// This signal ended the measurement early.
    Interrupted(i32),
}

/// What was typed cannot be meant: exit status 2.
#[derive(Debug)]
pub(crate) struct Misuse(pub String);

impl std::fmt::Display for Misuse {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Misuse {}

/// Tells what failed and gives the exit status.
pub(crate) fn finish(result: anyhow::Result<Outcome>) -> ExitCode {
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Skipped) => ExitCode::from(3),
        Ok(Outcome::Interrupted(signal)) => ExitCode::from(128 + signal as u8),
        Err(error) => {
            say(&format!("{error:#}"));
            ExitCode::from(if error.is::<Misuse>() { 2 } else { 1 })
        }
    }
}

/// One line to stderr.
pub(crate) fn say(text: &str) {
    // Nobody is left to tell when stderr is gone.
    let _ = writeln!(std::io::stderr(), "howslow: {text}");
}

/// A page to stdout. A reader that has gone away (`| head`) is no failure.
///
/// # Errors
/// When stdout cannot be written for another reason, such as a full disk.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(anyhow::anyhow!("cannot write to stdout: {error}")),
        _ => Ok(()),
    }
}

/// A record or listing as one JSON document to stdout.
///
/// # Errors
/// As [`print()`].
pub(crate) fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print(&(serde_json::to_string(value)? + "\n"))
}

/// A document of [`report::document`] to stdout, its keys in alphabetical order.
///
/// # Errors
/// As [`print()`].
pub(crate) fn print_document(document: &impl serde::Serialize) -> anyhow::Result<()> {
    print_json(&serde_json::to_value(document)?)
}

/// Colours only on a terminal that wants them.
pub(crate) fn style() -> Style {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    if std::io::stdout().is_terminal() && !set("NO_COLOR") && !dumb { Style::Coloured } else { Style::Plain }
}

/// The width of charts, in columns: that of the terminal, else what COLUMNS says, else 100.
pub(crate) fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse::<u16>().ok());
    let terminal = rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| size.ws_col);
    terminal.into_iter().chain(columns).find(|&columns| columns > 0).map_or(100, usize::from)
}

/// The progress bar on stderr. It draws when told and starts no thread: the instrument forks.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    pub(crate) fn new() -> Bar {
        // Not a terminal: nothing is drawn.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len}  {msg}");
        Bar(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }

    pub(crate) fn show(&self, progress: &Progress) {
        self.0.set_message(format!("{}, {} left", progress.item, HumanDuration(progress.left)));
        self.0.set_length(u64::from(progress.total));
        self.0.set_position(u64::from(progress.done));
    }

    pub(crate) fn clear(&self) {
        self.0.finish_and_clear();
    }
}
