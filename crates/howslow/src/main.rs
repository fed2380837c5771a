//! What every operation of this computer costs: the command.
#![forbid(unsafe_code)]

mod advise;
mod cli;
mod compare;
mod doctor;
mod explain;
mod factors;
mod file;
mod headline;
mod history;
mod list;
mod measuring;
mod memory;
mod output;
mod pattern;
mod predict;
mod repeat;
mod run;
mod show;
mod study;
mod syscalls;
mod texts;
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
        None => headline::headline(&command.how),
        Some(Verb::Run(asked)) => run::run(&asked),
        Some(Verb::Time(asked)) => time::time(&asked),
        Some(Verb::List(asked)) => list::list(&asked),
        Some(Verb::Show(asked)) => show::show(&asked),
        Some(Verb::Compare(asked)) => compare::compare(&asked),
        Some(Verb::Explain(asked)) => explain::explain(&asked),
        Some(Verb::Predict(asked)) => predict::predict(&asked),
        Some(Verb::Study(asked)) => study::study(&asked),
        Some(Verb::File(asked)) => file::file(&asked),
        Some(Verb::History(asked)) => history::history(&asked),
        Some(Verb::Doctor(asked)) => doctor::doctor(&asked),
        Some(Verb::Schema) => texts::schema(),
        Some(Verb::Completions { shell }) => texts::completions(shell),
        Some(Verb::Man { folder }) => texts::man(folder.as_deref()),
    })
}
