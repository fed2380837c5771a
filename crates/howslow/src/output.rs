//! Where text goes: pages to stdout, everything else to stderr, progress only to a terminal; and the exit status.

use std::io::{ErrorKind, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use ::fleet::FleetError;
use ::load::LoadError;
use ::terminal::TerminalError;
use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use anyhow::Context;
use catalogue::residence::FileError;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use instruments::advise::AdviseError;
use instruments::interference::InterferenceError;
use measure::Progress;
use observe::ObserveError;
use report::{Colours, Detail, Style};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use store::StoreError;

/// How a verb ended, if it did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All that was requested.
    Done,
    /// Something that was named could not be measured here.
    Skipped,
    /// A cost is at a new level: exit status 5, which means nothing else.
    Changed,
    /// A gate that was requested failed: exit status 4, which means nothing else.
    GateFailed,
    /// This signal ended the measurement early.
    Interrupted(i32),
    /// All that was requested; the command that was watched ended with this status, which is passed on.
    Passed(u8),
}

impl Outcome {
    /// How a gate ended. A failure counts more than what has no verdict.
    pub(crate) fn of_gate(has_failed: bool, is_complete: bool) -> Outcome {
        match (has_failed, is_complete) {
            (true, _) => Outcome::GateFailed,
            (false, false) => Outcome::Skipped,
            (false, true) => Outcome::Done,
        }
    }
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

/// How a verb ended that printed what it had until this signal came, if one did.
pub(crate) fn until(signal: Option<i32>) -> Outcome {
    let Some(signal) = signal else { return Outcome::Done };
    print_note("interrupted: this is what was measured until then");
    Outcome::Interrupted(signal)
}

/// Checks before anything is measured that these files can be written.
pub(crate) fn check_writable<'a>(files: impl IntoIterator<Item = &'a PathBuf>) -> Result<(), Misuse> {
    let checked = files.into_iter().try_for_each(|path| store::check_writable(path));
    checked.map_err(|error| Misuse(format!("{error}; choose another place")))
}

/// A path as it is shown in a sentence.
pub(crate) fn shown(path: &Path) -> String {
    record::printable(&path.display().to_string())
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
        Err(error) if error.is::<Misuse>() => failed(&error_text(&error), 2),
        Err(error) if is_refused(&error) => failed(&record::printable(&error.to_string()), 2),
        Err(error) => failed(&error_text(&error), 1),
    }
}

fn failed(text: &str, status: u8) -> ExitCode {
    print_note(text);
    ExitCode::from(status)
}

/// True for an error of a crate that other arguments, or a program built with more, would mend.
fn is_refused(error: &anyhow::Error) -> bool {
    error.downcast_ref().is_some_and(AdviseError::is_misuse)
        || error.downcast_ref().is_some_and(FleetError::is_misuse)
        || error.downcast_ref().is_some_and(InterferenceError::is_misuse)
        || error.downcast_ref().is_some_and(LoadError::is_misuse)
        || error.downcast_ref().is_some_and(TerminalError::is_misuse)
        || matches!(error.downcast_ref(), Some(FileError::Open { .. } | FileError::Kind { .. }))
        || matches!(error.downcast_ref(), Some(StoreError::Team(_)))
        || error.downcast_ref().is_some_and(|why| !matches!(why, ObserveError::Failed(_)))
}

/// Prints the help, the version, or what is wrong with the command line. Returns the exit status.
pub(crate) fn finish_usage(error: &clap::Error) -> i32 {
    let text = |colours: Colours| match colours {
        Colours::On => error.render().ansi().to_string(),
        Colours::Off => error.render().to_string(),
    };
    if error.use_stderr() {
        let stderr = std::io::stderr();
        let colours = colours(&stderr);
        let _ = (&stderr).write_all(report::shown(&text(colours), colours).as_bytes());
    } else if let Err(error) = print(&text(colours(&std::io::stdout()))) {
        print_note(&error.to_string());
        return 1;
    }
    error.exit_code()
}

/// An error with its causes, each printed once: a text that contains its cause is not followed by it.
pub(crate) fn error_text(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text += &format!(": {cause}");
        }
    }
    // What the kernel refused; a file that is too large to be read is not one that may not be written.
    let io = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>());
    match io.filter(|error| error.raw_os_error().is_some()).map(std::io::Error::kind) {
        Some(ErrorKind::FileTooLarge) => {
            text + "; files may not be longer here: raise the limit (ulimit -f), or write elsewhere"
        }
        Some(ErrorKind::StorageFull) => text + "; free some space, or write elsewhere",
        _ => text,
    }
}

/// Prints one sentence to stderr: in lines that fit on a terminal, in one line elsewhere, where programs read it.
pub(crate) fn print_note(text: &str) {
    let stderr = std::io::stderr();
    let line = format!("howslow: {text}");
    let line = report::shown(&line, Colours::Off);
    let line = if stderr.is_terminal() { style_for(&stderr).fitted(&line) } else { line.into_owned() };
    // If stderr is closed, there is no place to report that.
    let _ = writeln!(&stderr, "{line}");
}

/// Prints a text to stdout. It is no failure if the reader has closed it (`| head`).
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    print_bytes(report::shown(text, colours(&std::io::stdout())).as_bytes())
}

/// Prints what is not text to stdout, as it is.
pub(crate) fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let why = format!("cannot write to stdout: {error}");
            Err(anyhow::Error::from(error).context(why))
        }
        _ => Ok(()),
    }
}

/// Texts on their way to a stream whose reader may take none now: what watches meanwhile must not wait for it.
#[derive(Default)]
pub(crate) struct Outgoing {
    bytes: Vec<u8>,
    /// Texts that were left out because the reader was too slow.
    left_out: u32,
}

impl Outgoing {
    /// Adds a text, unless more of the earlier ones waits than any pause of a reader explains.
    pub(crate) fn add(&mut self, text: &str) {
        const MOST: usize = 1 << 20;
        if self.bytes.len() > MOST {
            self.left_out += 1;
        } else {
            self.bytes.extend_from_slice(report::shown(text, Colours::On).as_bytes());
        }
    }

    /// Writes what the stream takes at once. A reader that has closed it is no failure.
    pub(crate) fn offer(&mut self, stream: &mut (impl Write + AsFd)) -> anyhow::Result<()> {
        /// PIPE_BUF: a pipe that is ready takes so much without a pause (pipe(7)).
        const AT_ONCE: usize = 4096;
        while !self.bytes.is_empty() && is_ready(stream) {
            let length = self.bytes.len().min(AT_ONCE);
            match stream.write_all(&self.bytes[..length]).and_then(|()| stream.flush()) {
                Err(error) if error.kind() == ErrorKind::BrokenPipe => self.bytes.clear(),
                written => {
                    written.context("cannot write the output")?;
                    self.bytes.drain(..length);
                }
            }
        }
        Ok(())
    }

    /// Waits until the stream has taken all of it, or takes nothing for as long as `patience`.
    pub(crate) fn finish(mut self, mut stream: impl Write + AsFd, patience: Duration) -> anyhow::Result<()> {
        const PAUSE: Duration = Duration::from_millis(5);
        let (mut since, mut left) = (Instant::now(), self.bytes.len());
        while !self.bytes.is_empty() && since.elapsed() < patience {
            self.offer(&mut stream)?;
            if self.bytes.len() < left {
                (since, left) = (Instant::now(), self.bytes.len());
            } else {
                std::thread::sleep(PAUSE);
            }
        }
        if self.left_out > 0 {
            print_note(&format!("{} bills are missing in the output, because its reader was too slow", self.left_out));
        }
        Ok(())
    }
}

/// True if a stream takes something now. One of which that is not known is written to.
fn is_ready(stream: &impl AsFd) -> bool {
    let mut polled = [PollFd::new(stream, PollFlags::OUT)];
    poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) != Ok(0)
}

/// Prints a page for people to stdout: no line is wider than the terminal.
pub(crate) fn print_page(page: &str) -> anyhow::Result<()> {
    print(&style().fitted(page))
}

/// Prints a record or listing to stdout as one JSON document.
pub(crate) fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print(&report::shown_json(&(serde_json::to_string(value)? + "\n")))
}

/// Prints a document of [`report::document`] to stdout.
pub(crate) fn print_document(document: &impl serde::Serialize) -> anyhow::Result<()> {
    print(&document_text(document)?)
}

/// Prints a document of [`report::document`] if JSON is requested, else its page.
pub(crate) fn answer(
    json: bool,
    document: &impl serde::Serialize,
    page: impl FnOnce(Style) -> String,
) -> anyhow::Result<()> {
    if json { print_document(document) } else { print_page(&page(style())) }
}

/// A document of [`report::document`] as one line, with its keys in alphabetical order. Characters that control a terminal are escaped.
pub(crate) fn document_text(document: &impl serde::Serialize) -> anyhow::Result<String> {
    let text = serde_json::to_string(&serde_json::to_value(document)?)? + "\n";
    Ok(report::shown_json(&text).into_owned())
}

/// The look of pages on stdout. Colours are used on a terminal that supports them, unless `--color` or the environment says
/// otherwise (NO_COLOR, CLICOLOR, CLICOLOR_FORCE).
pub(crate) fn style() -> Style {
    style_for(&std::io::stdout())
}

/// The same, of a page that says all or what matters most.
pub(crate) fn style_in(all: bool) -> Style {
    style().with_detail(if all { Detail::Full } else { Detail::Folded })
}

/// The same for what is printed to stderr.
pub(crate) fn error_style() -> Style {
    style_for(&std::io::stderr())
}

fn style_for(stream: &(impl RawStream + AsFd)) -> Style {
    Style::new(colours(stream), columns(stream))
}

fn colours(stream: &impl RawStream) -> Colours {
    if AutoStream::choice(stream) == ColorChoice::Never { Colours::Off } else { Colours::On }
}

/// What COLUMNS says, else the width of the terminal, else 100.
fn columns(stream: impl AsFd) -> usize {
    let variable = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse::<u16>().ok());
    let terminal = || rustix::termios::tcgetwinsize(stream).ok().map(|size| size.ws_col).filter(|&columns| columns > 0);
    variable.filter(|&columns| columns > 0).or_else(terminal).map_or(100, usize::from)
}

/// Whether the terminal says that it only prints: it has no colours, and its cursor cannot be moved.
pub(crate) fn only_prints() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Does something that reports its progress.
pub(crate) fn watched<T>(work: impl FnOnce(&mut dyn FnMut(&Progress)) -> T) -> T {
    let bar = Bar::new();
    let done = work(&mut |progress| bar.show(progress));
    bar.clear();
    done
}

/// Computes what may take minutes, and forks nothing: a terminal shows that it goes on.
pub(crate) fn computed<T>(what: &'static str, work: impl FnOnce() -> T) -> T {
    const TICK: Duration = Duration::from_millis(200);
    let style = ProgressStyle::with_template("{spinner} {msg} for {elapsed}");
    let bar = ProgressBar::with_draw_target(None, target()).with_message(what);
    let bar = bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.enable_steady_tick(TICK);
    let done = work();
    bar.finish_and_clear();
    done
}

/// Where progress is drawn: nowhere if stderr is not a terminal, or one that only prints.
pub(crate) fn target() -> ProgressDrawTarget {
    if only_prints() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() }
}

/// The progress bar on stderr. It draws only when called and starts no thread, because the instrument forks.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    pub(crate) fn new() -> Bar {
        let bar = ProgressBar::with_draw_target(None, target());
        // The message is cut where the terminal ends.
        let bars = (columns(std::io::stderr()) / 3).clamp(1, 30);
        let style = ProgressStyle::with_template(&format!("{{bar:{bars}}} {{pos}}/{{len}}  {{wide_msg}}"));
        Bar(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }

    pub(crate) fn show(&self, progress: &Progress) {
        self.0.set_message(record::printable(&format!("{}, {} left", progress.item, HumanDuration(progress.left))));
        self.0.set_length(u64::from(progress.total));
        self.0.set_position(u64::from(progress.done));
    }

    pub(crate) fn clear(&self) {
        self.0.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_holds_what_controls_a_terminal_as_escapes() {
        let text = document_text(&["turned\u{202e}", "\u{9b}31m"]).expect("a document");
        assert_eq!(text, "[\"turned\\u202e\",\"\\u009b31m\"]\n");
        // What bills write is shown once more.
        assert_eq!(report::shown(&text, Colours::On), text);
    }
}
