//! `howslow terminal`: the crate `terminal` measures, this prints.

use std::time::Duration;

use ::terminal::{TerminalError, own, pseudo};
use analysis::terminal::pseudo::PseudoTerminals;

use crate::cli::TerminalArgs;
use crate::cpu;
use crate::output::{self, Bar, Misuse, Outcome};
use crate::pictures::{self, Picture};
use crate::scratch;

/// The signal that tells of a terminal that was closed: `SIGHUP`.
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
        Err(error) if error.is_misuse() => return Err(Misuse(error.to_string()).into()),
        Err(error) => return Err(error.into()),
    };
    match args.json {
        true => output::print_document(&measured)?,
        false => output::print_page(&report::own_terminal(&measured, output::style()))?,
    }
    Ok(Outcome::Done)
}

fn pseudo_terminals(args: &TerminalArgs) -> anyhow::Result<Outcome> {
    pictures::check(args.svg.as_deref())?;
    let measured = measured(args)?;
    let charts = report::terminal_charts(&measured);
    match args.json {
        true => output::print_document(&measured)?,
        false => {
            output::print_page(&report::pseudo_terminals(&measured, output::style()))?;
            for (_, chart) in &charts {
                output::print_page(&format!("\n{}", chart.text(output::width())))?;
            }
        }
    }
    let picture = |(name, chart): &(&str, report::chart::Chart)| Picture { name: (*name).into(), svg: chart.svg() };
    pictures::write(args.svg.as_deref(), &charts.iter().map(picture).collect::<Vec<_>>())?;
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
    let bar = Bar::new();
    let result = pseudo::measure(&request, &mut |progress| bar.show(progress));
    bar.clear();
    Ok(result?)
}
