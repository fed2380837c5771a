//! What every operation of this computer costs: the command.
#![forbid(unsafe_code)]

mod advise;
mod cli;
mod compare;
mod crossover;
mod doctor;
mod explain;
mod factors;
mod file;
mod generate;
mod headline;
mod history;
mod list;
mod output;
mod pattern;
mod pictures;
mod predict;
mod repeat;
mod resolve;
mod run;
mod scratch;
mod session;
mod show;
mod study;
mod syscalls;
mod time;

use cli::Verb;

/// A round's emulated program, started by howslow itself.
fn serve() -> anyhow::Result<output::Outcome> {
    operations::mode::emulated::serve().map(|()| output::Outcome::Done).map_err(|failure| {
        let word = operations::mode::emulated::SERVE;
        output::Misuse(format!("{word} is howslow's own word, for a program that it emulates: {failure}")).into()
    })
}

/// A process that starts the rounds of a run, started by howslow itself.
fn serve_rounds() -> anyhow::Result<output::Outcome> {
    measure::serve_rounds(operations::find).map(|()| output::Outcome::Done).map_err(|why| output::Misuse(why).into())
}

fn main() -> std::process::ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == measure::LAUNCH) {
        return output::finish(serve_rounds());
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == operations::mode::emulated::SERVE) {
        return output::finish(serve());
    }
    let command = cli::parse();
    output::finish(match command.verb {
        None => headline::headline(&command.measure),
        Some(Verb::Run(args)) => run::run(&args),
        Some(Verb::Time(args)) => time::time(&args),
        Some(Verb::List(args)) => list::list(&args),
        Some(Verb::Show(args)) => show::show(&args),
        Some(Verb::Compare(args)) => compare::compare(&args),
        Some(Verb::Explain(args)) => explain::explain(&args),
        Some(Verb::Predict(args)) => predict::predict(&args),
        Some(Verb::Crossover(args)) => crossover::crossover(&args),
        Some(Verb::Study(args)) => study::study(&args),
        Some(Verb::File(args)) => file::file(&args),
        Some(Verb::History(args)) => history::history(&args),
        Some(Verb::Doctor(args)) => doctor::doctor(&args),
        Some(Verb::Schema { document }) => generate::schema(&document),
        Some(Verb::Completions { shell }) => generate::completions(shell),
        Some(Verb::Man { folder }) => generate::man(folder.as_deref()),
    })
}
