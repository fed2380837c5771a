//! `howslow completions` and `man`: texts from the command line.

use std::path::Path;

use anyhow::Context;

use crate::cli;
use crate::output::{self, Misuse, Outcome};

pub(crate) fn completions(shell: clap_complete::Shell) -> anyhow::Result<Outcome> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut cli::command(), "howslow", &mut text);
    output::print(&String::from_utf8_lossy(&text))?;
    Ok(Outcome::Done)
}

/// Prints the page of the whole command, or writes one page per verb into a folder.
pub(crate) fn man(folder: Option<&Path>) -> anyhow::Result<Outcome> {
    let command = cli::command();
    match folder {
        Some(folder) if !folder.is_dir() => {
            return Err(Misuse(format!("man: {} is not a folder; create it first", folder.display())).into());
        }
        Some(folder) => clap_mangen::generate_to(command, folder)
            .with_context(|| format!("cannot write the manual pages into {}", folder.display()))?,
        None => {
            let mut text = Vec::new();
            clap_mangen::Man::new(command).render(&mut text)?;
            output::print(&String::from_utf8_lossy(&text))?;
        }
    }
    Ok(Outcome::Done)
}
