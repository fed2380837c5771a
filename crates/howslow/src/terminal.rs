//! `howslow terminal`: the crate `terminal` measures, this prints.

use std::time::Duration;

use ::terminal::{TerminalError, own, pseudo};
use analysis::terminal::pseudo::PseudoTerminals;

use crate::cli::TerminalArgs;
use crate::cpu;
use crate::output::{self, Outcome};
use crate::pictures;
use crate::scratch;

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
        Err(error) => return Err(output::refused(error.is_misuse(), error)),
    };
    output::answer(args.json, &measured, |style| report::own_terminal(&measured, style))?;
    Ok(Outcome::Done)
}

fn pseudo_terminals(args: &TerminalArgs) -> anyhow::Result<Outcome> {
    pictures::check(args.svg.as_deref())?;
    let measured = measured(args)?;
    let charts = report::terminal_charts(&measured);
    output::answer(args.json, &measured, |style| {
        let drawn: String = charts.iter().map(|(_, chart)| format!("\n{}", chart.text(style.width()))).collect();
        report::pseudo_terminals(&measured, style) + &drawn
    })?;
    pictures::write(args.svg.as_deref(), charts.iter().map(|(name, chart)| (name, chart.svg())))?;
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
