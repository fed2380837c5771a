//! Where text goes: pages to stdout, everything else to stderr, progress only to a terminal; and the exit status.

use std::io::{ErrorKind, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::ExitCode;

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use measure::Progress;
use report::{Colours, Detail, Style};

/// How a verb ended, if it did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All that was asked for.
    Done,
    /// Something that was named could not be measured here.
    Skipped,
    /// A cost is at a new level: exit status 5, which means nothing else.
    Changed,
    /// A gate that was asked for failed: exit status 4, which means nothing else.
    GateFailed,
    /// This signal ended the measurement early.
    Interrupted(i32),
    /// All that was asked for; the command that was watched ended with this status, which is passed on.
    Passed(u8),
}

/// The arguments make no sense: exit status 2.
#[derive(Debug)]
pub(crate) struct Misuse(pub String);

impl std::fmt::Display for Misuse {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Misuse {}

/// Checks before anything is measured that the files of `-o` can be written.
///
/// # Errors
/// A misuse, if one cannot.
pub(crate) fn check_writable<'a>(files: impl IntoIterator<Item = &'a PathBuf>) -> Result<(), Misuse> {
    let mut files = files.into_iter();
    files
        .try_for_each(|path| store::check_writable(path))
        .map_err(|error| Misuse(format!("-o: {error}; choose another place")))
}

/// Prints the failure, if any. Returns the exit status.
pub(crate) fn finish(result: anyhow::Result<Outcome>) -> ExitCode {
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Skipped) => ExitCode::from(3),
        Ok(Outcome::Changed) => ExitCode::from(5),
        Ok(Outcome::GateFailed) => ExitCode::from(4),
        Ok(Outcome::Passed(status)) => ExitCode::from(status),
        Ok(Outcome::Interrupted(signal)) => ExitCode::from(128 + signal as u8),
        Err(error) => {
            say(&told(&error));
            ExitCode::from(if error.is::<Misuse>() { 2 } else { 1 })
        }
    }
}

/// An error with its causes, each said once: a text that contains its cause is not followed by it.
fn told(error: &anyhow::Error) -> String {
    let mut told = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if told.is_empty() {
            told = cause;
        } else if !told.contains(&cause) {
            told += &format!(": {cause}");
        }
    }
    told
}

/// Prints one sentence to stderr: in lines that fit on a terminal, in one line elsewhere, where programs read it.
pub(crate) fn say(text: &str) {
    let stderr = std::io::stderr();
    let line = format!("howslow: {text}");
    let shown = if stderr.is_terminal() { of(&stderr).fitted(&line) } else { line };
    // If stderr is closed, there is no place to report that.
    let _ = writeln!(&stderr, "{shown}");
}

/// Prints a text to stdout as it is. It is no failure if the reader has closed it (`| head`).
///
/// # Errors
/// If stdout cannot be written for another reason, such as a full disk.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    print_bytes(text.as_bytes())
}

/// The same for what need not be text.
///
/// # Errors
/// Those of [`print()`].
pub(crate) fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(anyhow::anyhow!("cannot write to stdout: {error}")),
        _ => Ok(()),
    }
}

/// Prints a page for people to stdout: no line is wider than the terminal.
///
/// # Errors
/// Those of [`print()`].
pub(crate) fn print_page(page: &str) -> anyhow::Result<()> {
    print(&style().fitted(page))
}

/// Prints a record or listing to stdout as one JSON document.
///
/// # Errors
/// Those of [`print()`].
pub(crate) fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print(&(serde_json::to_string(value)? + "\n"))
}

/// Prints a document of [`report::document`] to stdout.
///
/// # Errors
/// Those of [`print()`].
pub(crate) fn print_document(document: &impl serde::Serialize) -> anyhow::Result<()> {
    print(&document_text(document)?)
}

/// A document of [`report::document`] as one line, with its keys in alphabetical order.
///
/// # Errors
/// If it cannot be written as JSON.
pub(crate) fn document_text(document: &impl serde::Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string(&serde_json::to_value(document)?)? + "\n")
}

/// The look of pages on stdout. Colours are used on a terminal that supports them, unless `--color` or the environment says
/// otherwise (NO_COLOR, CLICOLOR, CLICOLOR_FORCE).
pub(crate) fn style() -> Style {
    of(&std::io::stdout())
}

/// The same with this much said.
pub(crate) fn style_in(detail: Detail) -> Style {
    style().with_detail(detail)
}

/// The same for what is printed to stderr.
pub(crate) fn error_style() -> Style {
    of(&std::io::stderr())
}

fn of(stream: &(impl RawStream + AsFd)) -> Style {
    let colours = match AutoStream::choice(stream) {
        ColorChoice::Never => Colours::Off,
        _ => Colours::On,
    };
    Style::new(colours, columns(stream))
}

/// The width of charts, in columns.
pub(crate) fn width() -> usize {
    style().width()
}

/// What COLUMNS says, else the width of the terminal, else 100.
fn columns(stream: impl AsFd) -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse::<u16>().ok());
    let terminal = || rustix::termios::tcgetwinsize(stream).ok().map(|size| size.ws_col);
    told.filter(|&columns| columns > 0).or_else(|| terminal().filter(|&columns| columns > 0)).map_or(100, usize::from)
}

/// Whether the terminal says that it only prints: it has no colours, and its cursor cannot be moved.
pub(crate) fn only_prints() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// The progress bar on stderr. It draws only when called and starts no thread, because the instrument forks.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    pub(crate) fn new() -> Bar {
        // Not a terminal, or one that only prints: nothing is drawn.
        let target = if only_prints() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        // The message is cut where the terminal ends.
        let bars = (columns(std::io::stderr()) / 3).clamp(1, 30);
        let style = ProgressStyle::with_template(&format!("{{bar:{bars}}} {{pos}}/{{len}}  {{wide_msg}}"));
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
