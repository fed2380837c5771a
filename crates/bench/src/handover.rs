//! The command line of a bench program: `cargo bench -- FILTER`, `--list`, `--test`. Everything else is done by howslow.

use std::path::PathBuf;
use std::process::Command;

use crate::entry::{self, Benchmark};
use crate::estimate;

const HELP: &str = "\
cargo bench -- [FILTER]... [--exact] [--list | --test | OPTIONS OF howslow time --bench]
  FILTER        only benchmarks whose name contains it; with --exact, those of exactly this name
  --list        list them
  --test        run each once, as cargo test --benches does
  --against X   compare with a git revision, a folder or an older program (howslow)
  howslow time --help lists the other options";

/// What to do.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wanted {
    filters: Vec<String>,
    exact: bool,
    list: bool,
    test: bool,
    /// What cargo bench passes, and cargo test does not.
    bench: bool,
    help: bool,
    options: Vec<String>,
}

/// Options of cargo and its test harness that change nothing here.
const NO_MEANING: [&str; 3] = ["--nocapture", "--show-output", "--quiet"];

/// The words before the first option are filters. From the first option that is not of this program on, all is for howslow.
fn wanted(words: impl Iterator<Item = String>) -> Wanted {
    let mut wanted = Wanted::default();
    for word in words {
        match word.as_str() {
            word if NO_MEANING.contains(&word) => {}
            "--list" => wanted.list = true,
            "--test" => wanted.test = true,
            "--bench" => wanted.bench = true,
            "--exact" => wanted.exact = true,
            "--help" | "-h" => wanted.help = true,
            word if wanted.options.is_empty() && !word.starts_with('-') => wanted.filters.push(word.into()),
            word => wanted.options.push(word.into()),
        }
    }
    wanted
}

impl Wanted {
    fn names(&self, benchmark: &Benchmark) -> bool {
        let named = |filter: &String| {
            if self.exact { benchmark.name == *filter } else { benchmark.name.contains(filter.as_str()) }
        };
        if self.filters.is_empty() { !benchmark.ignored } else { self.filters.iter().any(named) }
    }
}

/// Runs the benchmarks of this program: hands over to howslow, or prints plain times. Ends the process.
pub fn main() {
    std::process::exit(run());
}

fn run() -> i32 {
    #[cfg(unix)]
    if let Ok(descriptors) = std::env::var(crate::protocol::PIPES) {
        return match crate::protocol::serve(&descriptors) {
            Ok(()) => 0,
            Err(why) => misused(&why),
        };
    }
    let wanted = wanted(std::env::args().skip(1));
    if wanted.help {
        println!("{HELP}");
        return 0;
    }
    let all: Vec<Benchmark> = entry::all().into_iter().filter(|benchmark| wanted.names(benchmark)).collect();
    if wanted.list {
        all.iter().for_each(|benchmark| println!("{}: benchmark", benchmark.name));
        return 0;
    }
    if wanted.test || !wanted.bench {
        return once(&all);
    }
    if all.is_empty() {
        // Another bench program of the package may have what the filter names.
        println!("no benchmark of this program is named by the filter");
        return 0;
    }
    match howslow() {
        Some(program) => hand_over(program, &wanted),
        None if wanted.options.is_empty() => {
            plain(&all);
            0
        }
        None => misused(&format!(
            "{} is an option of howslow, which is not on PATH; install it or set HOWSLOW",
            wanted.options[0]
        )),
    }
}

fn misused(why: &str) -> i32 {
    eprintln!("howslow-bench: {why}");
    2
}

/// Runs each once, and prints what a test harness prints.
fn once(all: &[Benchmark]) -> i32 {
    let mut failed = false;
    for benchmark in all {
        let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| estimate::once(benchmark))).unwrap_or(false);
        println!("test {} ... {}", benchmark.name, if ran { "ok" } else { "FAILED" });
        failed |= !ran;
    }
    if failed { 101 } else { 0 }
}

fn plain(all: &[Benchmark]) {
    for benchmark in all {
        println!("{}", estimate::plain(benchmark));
    }
    println!(
        "These are plain times: they contain whatever else the machine did. With howslow on PATH, cargo bench gives intervals\n\
         from undisturbed moments, and cargo bench -- --against main compares two builds."
    );
}

/// `$HOWSLOW`, or `howslow` in a folder of PATH.
fn howslow() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("HOWSLOW") {
        return (!named.is_empty()).then(|| PathBuf::from(named));
    }
    let folders = std::env::var_os("PATH")?;
    let name = format!("howslow{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&folders).map(|folder| folder.join(&name)).find(|program| program.is_file())
}

fn hand_over(program: PathBuf, wanted: &Wanted) -> i32 {
    let own = match std::env::current_exe() {
        Ok(own) => own,
        Err(error) => return misused(&format!("the path of this program is not known: {error}")),
    };
    let mut command = Command::new(&program);
    command.args(["time", "--bench"]).arg(own);
    for filter in &wanted.filters {
        command.args(["--filter", filter]);
    }
    if wanted.exact {
        command.arg("--exact");
    }
    command.args(&wanted.options);
    match command.status() {
        // A signal has no exit status; shells give 128 and more.
        Ok(status) => status.code().unwrap_or(130),
        Err(error) => misused(&format!("{} cannot be started: {error}; HOWSLOW= turns it off", program.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_come_before_options_and_what_is_unknown_is_for_howslow() {
        let parsed = |words: &[&str]| wanted(words.iter().map(|word| word.to_string()));
        let all = parsed(&["--bench", "sum", "--exact", "--against", "main", "--budget", "2s"]);
        assert_eq!((all.filters, all.exact), (vec!["sum".to_owned()], true));
        assert_eq!(all.options, ["--against", "main", "--budget", "2s"]);
        let tested = parsed(&["--test", "a", "b"]);
        assert!(tested.test && tested.filters == ["a", "b"] && tested.options.is_empty());
    }
}
