//! What every operation of this computer costs: the command. It is the only crate that prints and exits.
//!
//! `verbs` lists the verbs; the file of each has its arguments and its work. `cli` parses the command line. `resolve` and
//! `pattern` turn names into runs and operations before a verb begins. `session` is the common part of all verbs that
//! measure, and `output` writes pages and documents. An example, which the tests run (`tests/it/reading.rs`):
//!
//! ```text
//! howslow compare multics-645 multics-6180
//! ```
#![forbid(unsafe_code)]

mod against;
mod beside;
mod budget;
mod cli;
mod complete;
mod cpu;
mod factors;
mod find;
mod generate;
mod kin;
mod output;
mod pattern;
mod pictures;
mod repeat;
mod resolve;
mod scratch;
mod screen;
mod session;
mod tables;
mod verbs;

use catalogue::mode::emulated;
use cli::AnyVerb;
use terminal::own;

/// The whole command. Another program may install engines before it; see `catalogue::engines`.
/// It runs on a stack that is large enough, whatever `ulimit -s` says. A panic of any thread ends it, with status 101.
pub fn main() -> std::process::ExitCode {
    const ENOUGH: u64 = 1 << 20;
    let message = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        message(panic);
        // A release build does not unwind. What is left is tidied up as after a kill.
        std::process::exit(101)
    }));
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
    // A file beyond `ulimit -f` is then an error of the write, as one on a full disk is. A handler ends with exec, and a signal that is
    // ignored stays so: commands that are started have it as it was.
    let too_large = rustix::process::Signal::XFSZ.as_raw();
    if !system::ignored::is_ignored(too_large) {
        let _ = signal_hook::flag::register(too_large, std::sync::Arc::default());
    }
    // A shell requests what may follow, and nothing else is done.
    clap_complete::CompleteEnv::with_factory(cli::command).shells(complete::SHELLS).complete();
    let command = cli::parse();
    store::when_locked(|| output::print_note("another program is using the store; waiting for it for up to a minute"));
    if let Err(error) = resolve::choose_store(command.store.as_deref()) {
        return output::finish(Err(error));
    }
    verbs::load::remove_remains();
    output::finish(match command.verb {
        None => verbs::run::headline(&command.measure, &command.beside),
        Some(AnyVerb::Listed(verb)) => verb.carry_out(),
        Some(AnyVerb::Completions { shell }) => generate::completions(shell),
        Some(AnyVerb::Man { folder }) => generate::man(folder.as_deref()),
    })
}
