//! The benchmarks of a program. Each registers itself before `main`.

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
    all
}

fn function(name: &str) -> &str {
    name.split('/').next().unwrap_or(name)
}

fn benchmarks(entry: &'static Entry) -> Vec<Benchmark> {
    let module = entry.module.split_once("::").map(|(_, inner)| format!("{inner}::")).unwrap_or_default();
    let mut threads = (entry.threads)();
    let several = threads.len() > 1;
    if threads.is_empty() {
        threads.push(1);
    }
    let one = |count: usize, case: Case| {
        let label = case.label.iter().map(|part| format!("/{}", part.replace(char::is_control, "?")));
        let suffix = if several { format!("/threads={count}") } else { String::new() };
        let name = format!("{module}{}{}{suffix}", entry.name, label.collect::<String>());
        let threads = if count == 0 { std::thread::available_parallelism().map_or(1, usize::from) } else { count };
        Benchmark { name, threads, ignored: entry.ignored, case }
    };
    threads.into_iter().flat_map(|count| (entry.cases)().into_iter().map(move |case| one(count, case))).collect()
}
