//! The command line: what all verbs have in common, and how it is parsed.

#[cfg(test)]
mod examples;
mod instead;
pub(crate) mod measure;
pub(crate) mod value;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::verbs::Verb;
use measure::{AgainstArgs, MeasureArgs};

const STATUS: &str = "\
RUN is a file, @1 (the newest kept run), @2 ..., a label, the beginning of a kept run's id, or a book (cascade-lake).
Examples:
  howslow
  howslow --against zen-4-kvm --budget 30s
  howslow --label before && howslow compare before @1
Exit status: 0 done; 1 failed, with --keep also if the run could not be kept; 2 misused;
3 done, but an operation asked for by name was skipped;
130 interrupted (what was measured is printed, and written only to the file of -o).
Environment: HOWSLOW_DATA folder for kept runs (default: XDG_DATA_HOME), HOWSLOW_STORE or --store their database \
(postgres://USER@HOST/DATABASE, FILE.sqlite or files; default: SQLite in that folder), TMPDIR scratch files, \
HOWSLOW_PRICES=kept bills measure no prices, \
NO_COLOR no colours, COLUMNS the width of pages (default: the terminal's; 100 in a pipe).";

const COMPLETED: &str = "\
What this prints completes verbs and options, and needs no howslow while one types. The form with COMPLETE asks howslow at each
TAB, so that operations, their axes and values, runs, books, studies and plans are completed as well (docs/GUIDE.md).
Examples:
  howslow completions bash > ~/.local/share/bash-completion/completions/howslow
  howslow completions zsh > ~/.zfunc/_howslow
Exit status: 0 done; 1 failed; 2 misused: no such shell.";

const MANUAL: &str = "\
Examples:
  howslow man | man -l -
  howslow man ~/.local/share/man/man1
Exit status: 0 done; 1 failed; 2 misused: no such folder.";

/// What every operation of this computer costs, why, and what a change would buy.
///
/// Without a verb: measures the headline operations, in about 10 seconds.
#[derive(Debug, Parser)]
#[command(name = "howslow", version, after_help = STATUS, args_conflicts_with_subcommands = true, max_term_width = 100)]
pub(crate) struct Command {
    #[command(flatten)]
    pub beside: AgainstArgs,
    #[command(flatten)]
    pub measure: MeasureArgs,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", value_enum, help_heading = "Output")]
    pub color: clap::ColorChoice,
    /// Where runs are kept: postgres://USER@HOST/DATABASE, a FILE.sqlite, or `files` [default: SQLite in the data folder]
    // Hidden, because it would stand in the help of every verb; the text below the help of howslow names it.
    #[arg(long, global = true, value_name = "STORE", hide = true)]
    pub store: Option<String>,
    #[command(subcommand)]
    pub verb: Option<AnyVerb>,
}

/// What follows the name of the program.
#[derive(Debug, Subcommand)]
pub(crate) enum AnyVerb {
    #[command(flatten)]
    Listed(Verb),
    /// Print shell completions; `source <(COMPLETE=bash howslow)` also completes operations, runs and books
    #[command(after_help = COMPLETED)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write all manual pages into a folder
    #[command(after_help = MANUAL)]
    Man {
        /// An existing folder
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
}

/// The arguments of a verb, without what stands before them.
#[cfg(test)]
pub(crate) fn parsed<A: clap::Args>(words: &[&str]) -> Result<A, clap::Error> {
    let command = A::augment_args(clap::Command::new("howslow"));
    A::from_arg_matches(&command.try_get_matches_from([&["howslow"], words].concat())?)
}

/// The command line as clap describes it, with running text in its help that is filled to the width there is.
pub(crate) fn command() -> clap::Command {
    flowing(Command::command())
}

/// The words with a leading `--color WHEN` or `--store STORE` moved behind the verb: options before a verb are those of
/// `howslow` alone.
fn after_verb(mut words: Vec<OsString>) -> Vec<OsString> {
    let mut count = 0;
    while let Some(word) = words.get(1 + count).and_then(|word| word.to_str()) {
        count += match word {
            "--color" | "--store" => 2,
            word if word.starts_with("--color=") || word.starts_with("--store=") => 1,
            _ => break,
        };
    }
    let is_verb = words.get(1 + count).and_then(|word| word.to_str()).is_some_and(|word| !word.starts_with('-'));
    if count > 0 && is_verb {
        words[1..2 + count].rotate_right(1);
    }
    words
}

fn flowing(mut command: clap::Command) -> clap::Command {
    if let Some(help) = command.get_after_help().map(ToString::to_string) {
        command = command.after_help(joined(&help));
    }
    let verbs: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_string()).collect();
    verbs.into_iter().fold(command, |command, verb| command.mut_subcommand(verb, flowing))
}

/// The text with each paragraph on one line. Where lines were filled by hand, the next one continues a long line unless it
/// is indented or starts with a label, such as `Examples:`.
fn joined(text: &str) -> String {
    const LONG: usize = 78;
    let mut joined = String::new();
    let mut filled = false;
    for line in text.lines() {
        let label = line.split_once(':').is_some_and(|(word, _)| word.len() < 20 && !word.contains(['`', ';', ',']));
        if !joined.is_empty() {
            joined.push(if filled && !label && !line.is_empty() && !line.starts_with(' ') { ' ' } else { '\n' });
        }
        joined += line;
        filled = line.len() >= LONG && !line.starts_with(' ');
    }
    joined
}

/// Parses the command line. Help, version and misuse end the program here, with status 0 or 2.
pub(crate) fn parse() -> Command {
    let words = after_verb(std::env::args_os().collect());
    // Help is filled where it is printed: the other starts need not wait for it.
    let matches = Command::command().try_get_matches_from(&words).or_else(|error| match error.kind() {
        ErrorKind::DisplayVersion => Err(error),
        _ => command().try_get_matches_from(&words),
    });
    let matches = matches.unwrap_or_else(|error| instead::exit(error));
    let command = Command::from_arg_matches(&matches).unwrap_or_else(|error| instead::exit(error));
    match command.color {
        clap::ColorChoice::Auto if is_plain_terminal() => anstream::ColorChoice::Never,
        clap::ColorChoice::Auto => anstream::ColorChoice::Auto,
        clap::ColorChoice::Always => anstream::ColorChoice::Always,
        clap::ColorChoice::Never => anstream::ColorChoice::Never,
    }
    .write_global();
    command
}

/// Whether the terminal says that it has no colours and nobody forces them. The library alone would colour such a terminal
/// wherever CI is set.
fn is_plain_terminal() -> bool {
    let is_forced = std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    !is_forced && crate::output::only_prints()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_colour_and_the_store_may_be_given_before_the_verb() {
        let moved = |words: &[&str]| after_verb(words.iter().map(OsString::from).collect());
        assert_eq!(moved(&["howslow", "--color", "never", "list", "x"]), ["howslow", "list", "--color", "never", "x"]);
        assert_eq!(moved(&["howslow", "--color=never", "list"]), ["howslow", "list", "--color=never"]);
        let both = moved(&["howslow", "--store", "files", "--color=never", "history"]);
        assert_eq!(both, ["howslow", "history", "--store", "files", "--color=never"]);
        for words in [&["howslow", "--color", "never"][..], &["howslow", "--color", "never", "--json"], &["howslow"]] {
            assert_eq!(moved(words), words);
        }
    }

    #[test]
    fn running_text_is_filled_once() {
        let filled = format!("{} and\nmore words.\nExamples: howslow\n          howslow run", "word ".repeat(16));
        let lines: Vec<String> = joined(&filled).lines().map(String::from).collect();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[0].ends_with("and more words."));
    }

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }
}
