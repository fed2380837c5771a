//! What every operation of this computer costs: the command. It is the only crate that prints and exits.
//!
//! `cli` describes the arguments of every verb. `main` calls the file of the verb. `resolve` and `pattern` turn names
//! into runs and operations before a verb begins. `session` is the common part of all verbs that measure, and `output`
//! writes pages and documents. An example, which the tests run (`tests/it/reading.rs`):
//!
//! ```text
//! howslow compare multics-645 multics-6180
//! ```
#![forbid(unsafe_code)]

mod advise;
mod against;
mod beside;
mod bill;
mod budget;
mod cli;
mod compare;
mod complete;
mod contribute;
mod cpu;
mod crossover;
mod doctor;
mod explain;
mod export;
mod factors;
mod file;
mod find;
mod fleet;
mod generate;
mod headline;
mod history;
mod import;
mod interference;
mod kin;
mod list;
mod load;
mod model;
mod noise;
mod output;
mod page;
mod pattern;
mod pictures;
mod predict;
mod prices;
mod repeat;
mod resolve;
mod run;
mod scaling;
mod scratch;
mod screen;
mod self_test;
mod session;
mod show;
mod study;
mod syscalls;
mod tables;
mod terminal;
mod time;
mod top;
mod watch;

use ::terminal::own;
use catalogue::mode::emulated;
use cli::Verb;

/// The whole command. Another program may install engines before it; see `catalogue::engines`.
/// It runs on a stack that is large enough, whatever `ulimit -s` says.
pub fn main() -> std::process::ExitCode {
    const ENOUGH: u64 = 1 << 20;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Stack).current;
    if limit.is_none_or(|bytes| bytes >= ENOUGH) {
        return begin();
    }
    // The first thread only waits, so what forks in the other one copies all that works.
    let other = std::thread::Builder::new().stack_size(8 * ENOUGH as usize).spawn(begin);
    match other {
        Ok(other) => other.join().unwrap_or(std::process::ExitCode::FAILURE),
        Err(why) => {
            output::finish(Err(anyhow::anyhow!("no thread with a larger stack starts: {why}; raise ulimit -s or -u")))
        }
    }
}

fn begin() -> std::process::ExitCode {
    // howslow starts itself with one of these words: for rounds, for a program that is emulated, to restore the terminal.
    let served =
        match std::env::args_os().nth(1).unwrap_or_default().to_str() {
            Some(measure::LAUNCH) => Some(measure::serve_rounds(catalogue::find)),
            Some(word @ emulated::SERVE) => Some(emulated::serve().map_err(|failure| {
                format!("{word} is used by howslow itself, for a program that it emulates: {failure}")
            })),
            Some(own::GUARD) => Some(own::serve()),
            _ => None,
        };
    if let Some(served) = served {
        return output::finish(served.map(|()| output::Outcome::Done).map_err(|why| output::Misuse(why).into()));
    }
    // A file beyond `ulimit -f` is then an error of the write, as one on a full disk is. A handler ends with exec, so commands that
    // are started have the signal as it was.
    let _ = signal_hook::flag::register(rustix::process::Signal::XFSZ.as_raw(), std::sync::Arc::default());
    // A shell requests what may follow, and nothing else is done.
    clap_complete::CompleteEnv::with_factory(cli::command).shells(complete::SHELLS).complete();
    let command = cli::parse();
    store::when_locked(|| output::print_note("another program is using the store; waiting for it for up to a minute"));
    if let Err(error) = resolve::choose_store(command.store.as_deref()) {
        return output::finish(Err(error));
    }
    load::remove_remains();
    output::finish(match command.verb {
        None => headline::headline(&command.measure, &command.beside),
        Some(Verb::Run(args)) => run::run(&args),
        Some(Verb::Time(args)) => time::time(&args),
        Some(Verb::Prices(args)) => prices::prices(&args),
        Some(Verb::List(args)) => list::list(&args),
        Some(Verb::Show(args)) => show::show(&args),
        Some(Verb::Export(args)) => export::export(&args),
        Some(Verb::Import(args)) => import::import(&args),
        Some(Verb::Compare(args)) => compare::compare(&args),
        Some(Verb::Contribute(args)) => contribute::contribute(&args),
        Some(Verb::Report(args)) => page::report(&args),
        Some(Verb::Explain(args)) => explain::explain(&args),
        Some(Verb::Predict(args)) => predict::predict(&args),
        Some(Verb::Model(args)) => model::model(&args),
        Some(Verb::Crossover(args)) => crossover::crossover(&args),
        Some(Verb::Study(args)) => study::study(&args),
        Some(Verb::Interference(args)) => interference::interference(&args),
        Some(Verb::Scaling(args)) => scaling::scaling(&args),
        Some(Verb::Load(args)) => load::load(&args),
        Some(Verb::File(args)) => file::file(&args),
        Some(Verb::Fleet(args)) => fleet::fleet(&args),
        Some(Verb::Terminal(args)) => terminal::terminal(&args),
        Some(Verb::History(args)) => history::history(&args),
        Some(Verb::Watch(args)) => watch::watch(&args),
        Some(Verb::Bill(args)) => bill::bill(&args),
        Some(Verb::Top(args)) => top::top(&args),
        Some(Verb::Noise(args)) => noise::noise(&args),
        Some(Verb::SelfTest(args)) => self_test::self_test(&args),
        Some(Verb::Doctor(args)) => doctor::doctor(&args),
        Some(Verb::Schema { document }) => generate::schema(&document),
        Some(Verb::Completions { shell }) => generate::completions(shell),
        Some(Verb::Man { folder }) => generate::man(folder.as_deref()),
    })
}
