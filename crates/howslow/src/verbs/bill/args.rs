//! The arguments of `howslow bill`.

use std::ffi::OsString;
use std::path::PathBuf;

use analysis::predict::MachineState;
use clap::{Args, ValueEnum};
use observe::Source;
use report::Weight;

use crate::cli::value::{at_least_one, between, positive, seconds, share};

const USAGE: &str = "\
howslow bill [OPTIONS] -- <COMMAND>...
       howslow bill [OPTIONS] -p <PID> | --cgroup <PATH>
       howslow bill [OPTIONS] --container <NAME>
       howslow bill [OPTIONS] --unit <NAME>
       howslow bill [OPTIONS] --pod <NAME>
       howslow bill [OPTIONS] --system
       howslow bill <BILL> <BILL>
       howslow bill <BILL> --on <RUN>";

const BILLED: &str = "\
With a COMMAND, the bill goes to stderr, and the command has its own input, output, signals and exit status, which
howslow passes on (128 + n if signal n ended it). --json prints the document to stdout, -o writes it to a file.
The way of counting is chosen from the best that is possible here, and named: eBPF (as root); ptrace, of a command or a
process, which takes much longer; then what the kernel's accounts tell: processor time, faults and switches.
Ctrl-C ends the watching; the bill so far is printed.
Examples: howslow bill -- find / -name x
          howslow bill -p 1234 --for 10s -o mix.toml
          howslow bill --system --for 5s --json
          howslow bill -p 1234 --every 1s --per accept
          howslow bill --system --every 10s -o /run/metrics/bill.prom
          howslow bill before.json after.json --per accept --fail-on more-calls
          howslow bill before.json --on other-machine.json
          howslow bill --repeat 9 --against './old input' -- ./new input
Exit status: that of the command; without one: 0 done; 1 failed; 2 misused; 128 + n ended by signal n. Of two bills with --fail-on:
0 passed; 3 a figure is not known, or differs too much from run to run to tell; 4 a figure grew. With --on: 3 a line has no price there.";

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BillFormat {
    /// The document
    Json,
    /// Stacks for a flame graph: process;thread;call;next call, or with --stacks the functions of the program
    Folded,
    /// For a scraper; with --every, one exposition each time
    Openmetrics,
}

/// What of a bill may not grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BillGrowth {
    /// System calls
    #[value(name = "more-calls")]
    Calls,
    /// Elapsed or processor time
    #[value(name = "more-time")]
    Time,
    /// Time off the CPU
    #[value(name = "more-waiting")]
    Waiting,
    /// Page faults
    #[value(name = "more-faults")]
    Faults,
    /// Switches between tasks
    #[value(name = "more-switches")]
    Switches,
}

/// Count what a running program asks of the kernel, and price it
#[derive(Debug, Args)]
#[command(after_help = BILLED, arg_required_else_help = true, override_usage = USAGE)]
pub(crate) struct BillArgs {
    /// Two bills in JSON: what changed between them. One, with --on: what the program would take on that machine
    #[arg(value_name = "BILL", num_args = 1..=2, conflicts_with_all = [
        "pid", "cgroup", "system", "words", "time", "every", "measure", "no_measure", "repeat", "against", "alternate", "source",
        "stacks", "counts_only", "output", "all", "format", "weigh",
    ])]
    pub bills: Vec<PathBuf>,
    /// Watch this process, and what it starts
    #[arg(short, long, value_name = "PID", value_parser = at_least_one::<u32>, conflicts_with_all = ["cgroup", "system", "words"])]
    pub pid: Option<u32>,
    /// Watch this cgroup, a folder below /sys/fs/cgroup
    #[arg(long, value_name = "PATH", conflicts_with_all = ["system", "words"])]
    pub cgroup: Option<PathBuf>,
    /// Watch this container of Docker, Podman or containerd, by its name or its id
    #[arg(long, value_name = "NAME", conflicts_with_all = ["pid", "cgroup", "system", "words", "bills"])]
    pub container: Option<String>,
    /// Watch this unit of systemd
    #[arg(long, value_name = "NAME", conflicts_with_all = ["pid", "cgroup", "container", "system", "words", "bills"])]
    pub unit: Option<String>,
    /// Watch this pod of a kubelet, by its name or its id
    #[arg(long, value_name = "NAME", conflicts_with_all = ["pid", "cgroup", "container", "unit", "system", "words", "bills"])]
    pub pod: Option<String>,
    /// Watch all processes
    #[arg(long, conflicts_with = "words")]
    pub system: bool,
    /// Stop watching after this time
    #[arg(long = "for", value_name = "TIME", value_parser = seconds, allow_hyphen_values = true)]
    pub time: Option<f64>,
    /// Print a bill of each such stretch of time, and at the end one of all of it
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true)]
    pub every: Option<f64>,
    /// The run whose costs are the prices [default: the most certain prices of this kernel]
    #[arg(long, value_name = "RUN", add = clap_complete::ArgValueCompleter::new(crate::complete::runs))]
    pub on: Option<String>,
    /// Measure the prices that are lacking for up to 45 s [default: up to 8 s, unless --on names others]
    #[arg(long, conflicts_with = "every")]
    pub measure: bool,
    /// Measure no prices after the watching
    #[arg(long, conflicts_with = "measure")]
    pub no_measure: bool,
    /// The prices: of an undisturbed core, or of programs that share the machine [default: typical; of a written bill, its own]
    #[arg(long, value_name = "STATE", value_enum)]
    pub by: Option<MachineState>,
    /// Run COMMAND this often: bills of repeated runs are compared with intervals
    #[arg(long, value_name = "TIMES", value_parser = between::<2, 100_000>, allow_hyphen_values = true, requires = "words",
          conflicts_with_all = ["pid", "cgroup", "system", "every", "time", "alternate"])]
    pub repeat: Option<u32>,
    /// With --repeat: run this command line alternately with COMMAND, and print what COMMAND changes
    #[arg(long, value_name = "COMMAND LINE", requires = "repeat", conflicts_with = "format")]
    pub against: Option<String>,
    /// Figures for each of these calls, such as accept: of two bills what changed; with --every a line each time
    #[arg(long, value_name = "CALL", conflicts_with = "units")]
    pub per: Option<String>,
    /// The same for each of so many units of work; of two bills two numbers if they differ
    #[arg(long, value_name = "N[,N]", value_delimiter = ',', num_args = 1, value_parser = positive, allow_hyphen_values = true)]
    pub units: Vec<f64>,
    /// Of two bills: exit status 4 if one of these grew
    #[arg(long, value_name = "GROWTH", value_enum, value_delimiter = ',')]
    pub fail_on: Vec<BillGrowth>,
    /// With --fail-on: only a growth by more than this fails
    #[arg(long, value_name = "PERCENT", requires = "fail_on", value_parser = share, allow_hyphen_values = true)]
    pub at_least: Option<f64>,
    /// Of two bills: print Markdown for a comment on a pull request
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// First run COMMAND this often without and with counting, alternately, to tell what counting costs it
    #[arg(long, value_name = "TIMES", value_parser = at_least_one::<u32>, allow_hyphen_values = true, requires = "words",
          conflicts_with_all = ["pid", "cgroup", "system", "time"])]
    pub alternate: Option<u32>,
    /// Count in this way only
    #[arg(long, value_name = "SOURCE", value_enum)]
    pub source: Option<Source>,
    /// Find the functions of the program that made its calls, by samples: findings name its lines (eBPF)
    #[arg(long, conflicts_with_all = ["counts_only", "every", "repeat"])]
    pub stacks: bool,
    /// Count calls by number alone, which takes the least time: no bytes, errors and pairs
    #[arg(long)]
    pub counts_only: bool,
    /// Write a file; may be repeated. The mix for `howslow predict` (.toml), the document (.json), stacks for a flame graph
    /// (.folded) or as one (.svg), or metrics for the node exporter (.prom), replaced in one step
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// Every line, process and wait, and each price with the run that it is from
    #[arg(long)]
    pub all: bool,
    /// Print JSON instead of the page
    #[arg(long)]
    pub json: bool,
    /// Print this instead of the page
    #[arg(long, value_name = "FORMAT", value_enum, conflicts_with = "json")]
    pub format: Option<BillFormat>,
    /// What the stacks are weighed by [default: count]
    #[arg(long, value_name = "WEIGHT", value_enum)]
    pub weigh: Option<Weight>,
    /// The command to watch, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub words: Vec<OsString>,
}
