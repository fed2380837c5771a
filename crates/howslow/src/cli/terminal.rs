//! The arguments of `howslow terminal`.

use std::path::PathBuf;

use clap::Args;

use super::value::seconds;

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
