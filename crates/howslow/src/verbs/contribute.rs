//! `howslow contribute`: writes runs as a reference machine, without what identifies the host.

use analysis::reference::{self, Contribution, ContributionError};
use clap::Args;
use clap_complete::ArgValueCompleter;
use record::Book;

use crate::output::{self, Misuse, Outcome, print_note};
use crate::{complete, resolve};

const CONTRIBUTED: &str = "\
Several runs give medians, and intervals that hold the scatter between the runs: five or more are best.
What identifies a host is left out: names, ids, paths, the kernel's command line but for options that change costs.
The words on stderr say what was kept and what was left out. Read the file before you pass it on.
Examples:
  howslow --repeat 5 && howslow contribute @1 @2 @3 @4 @5 -o my-machine.toml
Exit status: 0 done; 1 failed; 2 misused, or no reference can be made of these runs.";

/// Write runs as a reference machine that others hold theirs against, without what identifies this host
#[derive(Debug, Args)]
#[command(after_help = CONTRIBUTED, override_usage = "howslow contribute <RUN>... -o <BOOK.toml>")]
pub(crate) struct ContributeArgs {
    /// Runs of one machine: files, @1, or the beginnings of kept runs' ids
    #[arg(value_name = "RUN", required = true, add = ArgValueCompleter::new(complete::runs))]
    pub runs: Vec<String>,
    /// The book's file; its name without `.toml` is the book's name
    #[arg(short, long, value_name = "BOOK.toml")]
    pub output: std::path::PathBuf,
}

pub(crate) fn contribute(args: &ContributeArgs) -> anyhow::Result<Outcome> {
    let name = name_of(args)?;
    output::check_writable([&args.output])?;
    let runs = resolve::distinct(&args.runs)?;
    let known = |id: &str| catalogue::find(id).is_some();
    let made =
        reference::contribute(&runs, &name, &known).map_err(|error: ContributionError| Misuse(error.to_string()))?;
    let text = made.book.reference_toml().map_err(|why| anyhow::anyhow!("the book cannot be written: {why}"))?;
    if let Some(found) = identifying(&text, &runs) {
        anyhow::bail!("the book would contain {found}, which identifies this host; nothing was written");
    }
    store::write_whole(&args.output, text.as_bytes())?;
    report(&made);
    print_note(&format!("written: {}; read it before you pass it on", args.output.display()));
    Ok(Outcome::Done)
}

/// The book's name, from that of its file.
fn name_of(args: &ContributeArgs) -> Result<String, Misuse> {
    let wrong = |why: &str| Misuse(format!("-o {}: {why}", args.output.display()));
    if args.output.extension().is_none_or(|ending| ending != "toml") {
        return Err(wrong("a book is a TOML file; name it NAME.toml"));
    }
    let name = args.output.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    if !record::is_plain_name(name) {
        return Err(wrong("a book's name begins with a letter or digit, and has letters, digits, '-', '_' and '.'"));
    }
    Ok(name.into())
}

/// What was kept and what was left out.
fn report(made: &Contribution) {
    let Book { machine, measured_costs, .. } = &made.book;
    print_note(&format!(
        "kept: {} costs with value, interval, cycles and version; {} with its kernel's version and mitigations, hypervisor, \
         caches, CPUs, memory size and limits",
        measured_costs.len(),
        if machine.cpu.model.is_empty() { "the processor" } else { &machine.cpu.model }
    ));
    print_note(&format!("left out: {}", made.stripped.join("; ")));
    if made.uncertain > 0 {
        print_note(&format!("left out: {} costs that are too uncertain", made.uncertain));
    }
}

/// A name of this host or user that the text contains as a word, in case a field held it that is thought to be harmless.
fn identifying(text: &str, runs: &[record::Run]) -> Option<&'static str> {
    /// Shorter names are words of their own: a host called `x86`.
    const SHORTEST: usize = 5;
    let first = |host: &str| host.split('.').next().unwrap_or_default().to_string();
    let own = system::machine::describe().host;
    let home = std::env::var("HOME").unwrap_or_default();
    let user = std::env::var("USER").unwrap_or_default();
    let word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let generic = ["linux", "docker", "ubuntu", "debian", "x86_64", "aarch64", "generic", "default"];
    let contains = |name: &str| {
        name.len() >= SHORTEST
            && !generic.contains(&name.to_lowercase().as_str())
            && text.split(|c| !word(c)).any(|part| part == name)
    };
    let mut hosts = runs.iter().map(|run| &run.machine.host).chain([&own]).flatten();
    let ids = runs.iter().any(|run| run.id.len() >= SHORTEST && text.contains(&run.id));
    if hosts.any(|host| contains(&first(host))) {
        Some("the host's name")
    } else if contains(&user) {
        Some("the user's name")
    } else if home.len() > 1 && text.contains(&format!("{home}/")) {
        Some("the path of your home folder")
    } else if ids {
        Some("a run's id")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_found_by_its_name_without_its_domain() {
        let mut run = record::Run::default();
        run.machine.host = Some("build-17.example.org".into());
        let found = |text: &str| identifying(text, std::slice::from_ref(&run));
        assert_eq!(found("command = \"root=/dev/build-17\""), Some("the host's name"));
        assert_eq!(found("command = \"root=/dev/build-170\""), None);
        run.machine.host = Some("docker".into());
        assert_eq!(identifying("container = \"docker\"", &[run]), None);
    }
}
