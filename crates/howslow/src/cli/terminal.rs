//! What `howslow terminal` can be told.

use clap::Args;

use super::value::seconds;

const EXPLAINED: &str = "\
The terminal at /dev/tty is set to raw mode, shows the alternate screen, and is sent five kinds of
output. It has parsed one when it answers the question for the cursor's place (ESC[6n) after it; a
writer alone sees only when its bytes were accepted. Keys pressed meanwhile are lost. Settings and
screen are restored in any case, also when howslow is killed. In tmux or screen the figures are
theirs, and over ssh they include the network.
Exit status: 0 done; 1 the terminal does not answer or takes no output; 2 there is no terminal;
129 it was closed; 130 interrupted by Ctrl-C.";

#[derive(Debug, Args)]
#[command(after_help = EXPLAINED)]
pub(crate) struct TerminalArgs {
    /// Time it may take
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "10s", allow_hyphen_values = true)]
    pub budget: f64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
