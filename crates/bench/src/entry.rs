//! The benchmarks of a program. Each registers itself before `main`.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::bencher::Bencher;

/// A function with the attribute.
pub struct Entry {
    /// The module it is in.
    pub module: &'static str,
    /// Its name.
    pub name: &'static str,
    /// One case for each choice of types, constants and arguments.
    pub cases: fn() -> Vec<Case>,
    /// The numbers of threads; none: one.
    pub threads: fn() -> Vec<usize>,
    /// True if it runs only when named.
    pub ignored: bool,
}

/// One choice of types, constants and arguments.
pub struct Case {
    label: Vec<String>,
    run: Box<dyn Fn(Bencher<'_>)>,
}

impl Case {
    /// A case with a label of several parts.
    pub fn new(label: &[&str], run: impl Fn(Bencher<'_>) + 'static) -> Case {
        Case { label: label.iter().map(|part| part.to_string()).collect(), run: Box::new(run) }
    }

    /// The same with an argument in its label.
    pub fn with(mut self, argument: &dyn std::fmt::Debug) -> Case {
        self.label.push(format!("{argument:?}").trim_matches('"').to_owned());
        self
    }
}

/// howslow pins the program to one CPU, and says here how many benchmarks of several threads may use.
const CPUS: &str = "HOWSLOW_BENCH_CPUS";

static ENTRIES: Mutex<Vec<&'static Entry>> = Mutex::new(Vec::new());

/// Adds a function. Runs before `main`.
pub fn register(entry: &'static Entry) {
    if let Ok(mut entries) = ENTRIES.lock() {
        entries.push(entry);
    }
}

/// A benchmark that can be run.
pub(crate) struct Benchmark {
    /// `module::function/type/constant/argument`, without the name of the program.
    pub name: String,
    pub threads: usize,
    pub ignored: bool,
    case: Case,
}

impl Benchmark {
    /// Sets it up, and serves whoever requests batches.
    pub fn run(&self, bencher: Bencher<'_>) {
        (self.case.run)(bencher);
    }

    /// A loop around nothing.
    #[cfg(unix)]
    pub fn empty() -> Benchmark {
        let case = Case::new(&[], |bencher| bencher.bench(|| ()));
        Benchmark { name: String::new(), threads: 1, ignored: false, case }
    }
}

/// All benchmarks of the program, in the order of their names.
pub(crate) fn all() -> Vec<Benchmark> {
    let entries = ENTRIES.lock().map(|entries| entries.clone()).unwrap_or_default();
    let mut all: Vec<Benchmark> = entries.into_iter().flat_map(benchmarks).collect();
    // A stable sort, so that arguments stay in the order given.
    all.sort_by(|one, other| function(&one.name).cmp(function(&other.name)));
    // Each can be named.
    let mut seen = HashMap::<String, u32>::new();
    for benchmark in &mut all {
        let count = seen.entry(benchmark.name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            benchmark.name += &format!("#{count}");
        }
    }
    all
}

fn function(name: &str) -> &str {
    name.split('/').next().unwrap_or(name)
}

/// Characters of a part of a name.
const LONGEST: usize = 200;

/// howslow shows no control characters, nor marks that reorder a text, so names have none.
fn plain(character: char) -> char {
    let reorders = matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if character.is_control() || reorders { '?' } else { character }
}

fn cpus() -> usize {
    let reported = std::env::var(CPUS).ok().and_then(|count| count.parse().ok());
    reported.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

fn benchmarks(entry: &'static Entry) -> Vec<Benchmark> {
    let module = entry.module.split_once("::").map(|(_, inner)| format!("{inner}::")).unwrap_or_default();
    let mut threads = (entry.threads)();
    let several = threads.len() > 1;
    if threads.is_empty() {
        threads.push(1);
    }
    let one = |count: usize, case: Case| {
        let parts = [entry.name].into_iter().chain(case.label.iter().map(String::as_str));
        let label: Vec<String> = parts.map(|part| part.chars().take(LONGEST).map(plain).collect()).collect();
        let suffix = if several { format!("/threads={count}") } else { String::new() };
        let name = format!("{module}{}{suffix}", label.join("/"));
        let threads = if count == 0 { cpus() } else { count };
        Benchmark { name, threads, ignored: entry.ignored, case }
    };
    threads.into_iter().flat_map(|count| (entry.cases)().into_iter().map(move |case| one(count, case))).collect()
}
