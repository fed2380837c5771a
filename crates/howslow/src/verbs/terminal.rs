//! `howslow terminal`: the crate `terminal` measures, this prints.

use std::path::PathBuf;
use std::time::Duration;

use ::terminal::{TerminalError, own, pseudo};
use analysis::terminal::pseudo::PseudoTerminals;
use clap::Args;

use crate::cli::value::seconds;
use crate::output::{self, Outcome};
use crate::{cpu, pictures, scratch};

const EXPLAINED: &str = "\
The terminal at /dev/tty is set to raw mode, shows the alternate screen, and is sent five kinds of
output. It has parsed one when it answers the question for the cursor's place (ESC[6n) after it; a
writer alone sees only when its bytes were accepted. Keys pressed meanwhile are lost. Settings and
screen are restored in any case, also when howslow is killed. In tmux or screen the figures are
theirs, and over ssh they include the network.
With --pty, the user's terminal is not touched, and none is needed.
Examples:
  howslow terminal
  howslow terminal --json > terminal.json
  howslow terminal --pty --svg charts
Exit status: 0 done; 1 the terminal does not answer or takes no output; 2 there is no terminal;
3 with --pty, part of it could not be measured; 129 the terminal was closed; 130 interrupted by Ctrl-C.";

/// How fast the terminal that you sit at parses what is sent to it, and how soon it answers
#[derive(Debug, Args)]
#[command(after_help = EXPLAINED)]
pub(crate) struct TerminalArgs {
    /// Measure pseudo-terminals of howslow's own instead: output by path, write size and rate, keystrokes, transfers, editors
    #[arg(long)]
    pub pty: bool,
    /// Time it may take [default: 10s; 45s with --pty, of which transfers, editors and what starts each part take some 15s in any
    /// case]
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true)]
    pub budget: Option<f64>,
    /// With --pty: measure on this CPU
    #[arg(long, value_name = "N", requires = "pty")]
    pub cpu: Option<u32>,
    /// With --pty: write the figures into this folder as SVG
    #[arg(long, value_name = "DIR", requires = "pty")]
    pub svg: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The signal that reports a terminal that was closed: `SIGHUP`.
const HANGUP: i32 = 1;

pub(crate) fn terminal(args: &TerminalArgs) -> anyhow::Result<Outcome> {
    if args.pty { pseudo_terminals(args) } else { own_terminal(args) }
}

fn own_terminal(args: &TerminalArgs) -> anyhow::Result<Outcome> {
    const SECONDS: f64 = 10.0;
    let variable = |name: &str| std::env::var(name).ok();
    let measured = match own::measure(Duration::from_secs_f64(args.budget.unwrap_or(SECONDS)), variable) {
        Ok(measured) => measured,
        Err(TerminalError::Interrupted(signal)) => return Ok(Outcome::Interrupted(signal)),
        Err(TerminalError::Closed) => return Ok(Outcome::Interrupted(HANGUP)),
        Err(error) => return Err(error.into()),
    };
    output::answer(args.json, &measured, |style| report::own_terminal(&measured, style))?;
    Ok(Outcome::Done)
}

fn pseudo_terminals(args: &TerminalArgs) -> anyhow::Result<Outcome> {
    pictures::check(args.svg.as_deref())?;
    let measured = measured(args)?;
    let charts = report::terminal_charts(&measured);
    let page = |style| report::pseudo_terminals(&measured, style) + &pictures::drawn(&charts, style);
    output::answer(args.json, &measured, page)?;
    pictures::write_charts(args.svg.as_deref(), charts)?;
    Ok(if measured.missing.is_empty() { Outcome::Done } else { Outcome::Skipped })
}

fn measured(args: &TerminalArgs) -> anyhow::Result<PseudoTerminals> {
    const SECONDS: f64 = 45.0;
    let allowed = system::machine::describe().cpu.usable;
    cpu::check(args.cpu, &allowed)?;
    let cpu = args.cpu.or(allowed.last().copied()).ok_or_else(|| anyhow::anyhow!("no CPU may be used"))?;
    let request = pseudo::Request {
        budget: Duration::from_secs_f64(args.budget.unwrap_or(SECONDS)),
        cpu,
        other_cpu: allowed.iter().copied().find(|&other| other != cpu),
        scratch_root: &scratch::folder()?,
    };
    Ok(output::watched(|show| pseudo::measure(&request, show))?)
}
