//! `howslow terminal --pty --json`.

use analysis::terminal::pseudo::{Edited, Flow, Keystrokes, Missing, PseudoTerminals, Transfer};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

use super::TerminalLatency;

/// Pseudo-terminals of howslow's own.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PseudoTerminalDocument<'a> {
    /// The CPU that everything but the kernel's own threads ran on.
    pub cpu: u32,
    /// Output as fast as possible: the paper's Figure 2-1.
    pub highest: Vec<TerminalFlow<'a>>,
    /// Output at fixed rates: the paper's Figure 2-2.
    pub paced: Vec<TerminalFlow<'a>>,
    /// From a keystroke to its echo.
    pub keystrokes: Vec<TerminalKeystrokes<'a>>,
    /// Files sent through a terminal.
    pub transfers: Vec<TerminalTransfer<'a>>,
    /// Editors that made the same edits.
    pub editors: Vec<TerminalEditor<'a>>,
    /// What could not be measured.
    pub missing: Vec<TerminalMissing<'a>>,
}

/// Output through a path.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TerminalFlow<'a> {
    /// What it passes: `raw`, `processed`, `script`, `tcp`, `ssh`, `pipe`, `file`.
    pub path: &'a str,
    /// Bytes of each write.
    pub write_bytes: u64,
    /// Bytes a second that the program should write; null for as many as possible.
    pub asked: Option<f64>,
    /// Bytes a second that came out.
    pub bytes_per_second: f64,
    /// Bytes for each second of processor time.
    pub bytes_per_cpu_second: f64,
    /// Time in s.
    pub elapsed_s: f64,
    /// Processor time of all tasks in s.
    pub tasks_s: f64,
    /// Processor time of the kernel's own threads in s.
    pub kernel_threads_s: f64,
    /// The share of one CPU that is left; negative if more than one was used.
    pub cpu_left: f64,
    /// Whether the rate asked for was reached.
    pub reached: bool,
}

/// Keystrokes.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TerminalKeystrokes<'a> {
    /// What echoes.
    pub echo: &'a str,
    /// The pause before each keystroke in s.
    pub pause_s: f64,
    /// From the keystroke to its echo.
    pub latency: TerminalLatency,
}

/// A file sent through a terminal.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TerminalTransfer<'a> {
    /// `canonical` or `raw`.
    pub input: &'a str,
    /// Whether the terminal echoes.
    pub echo: bool,
    /// Bytes that the program asks for at once.
    pub read_bytes: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// Read calls.
    pub reads: u64,
    /// Time in s.
    pub elapsed_s: f64,
    /// Processor time of both tasks in s.
    pub tasks_s: f64,
    /// Processor time of the kernel's own threads in s.
    pub kernel_threads_s: f64,
}

/// An editor.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TerminalEditor<'a> {
    /// Its name.
    pub editor: &'a str,
    /// Whether it shows the text on a screen.
    pub screen: bool,
    /// Edits that it made.
    pub edits: u64,
    /// Bytes typed.
    pub typed: u64,
    /// Bytes that came to the terminal.
    pub shown: u64,
    /// Its read and write calls; null where the kernel does not tell.
    pub calls: Option<u64>,
    /// Its processor time in s.
    pub cpu_s: f64,
}

/// Something that could not be measured.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TerminalMissing<'a> {
    /// What.
    pub what: &'a str,
    /// Why.
    pub reason: &'a str,
    /// What would change that; may be empty.
    pub remedy: &'a str,
}

impl<'a> From<&'a Flow> for TerminalFlow<'a> {
    fn from(flow: &'a Flow) -> TerminalFlow<'a> {
        TerminalFlow {
            path: &flow.path,
            write_bytes: flow.size,
            asked: flow.asked,
            bytes_per_second: flow.rate(),
            bytes_per_cpu_second: flow.rate_per_cpu(),
            elapsed_s: flow.elapsed_s,
            tasks_s: flow.used.tasks_s,
            kernel_threads_s: flow.used.kernel_s,
            cpu_left: flow.left(),
            reached: flow.reached(),
        }
    }
}

impl<'a> From<&'a Keystrokes> for TerminalKeystrokes<'a> {
    fn from(it: &'a Keystrokes) -> TerminalKeystrokes<'a> {
        TerminalKeystrokes { echo: &it.echo, pause_s: it.pause_s, latency: TerminalLatency::from(&it.latency) }
    }
}

impl<'a> From<&'a Transfer> for TerminalTransfer<'a> {
    fn from(it: &'a Transfer) -> TerminalTransfer<'a> {
        TerminalTransfer {
            input: &it.input,
            echo: it.echo,
            read_bytes: it.read,
            bytes: it.bytes,
            reads: it.reads,
            elapsed_s: it.elapsed_s,
            tasks_s: it.used.tasks_s,
            kernel_threads_s: it.used.kernel_s,
        }
    }
}

impl<'a> From<&'a Edited> for TerminalEditor<'a> {
    fn from(it: &'a Edited) -> TerminalEditor<'a> {
        let &Edited { screen, edits, typed, shown, calls, cpu_s, .. } = it;
        TerminalEditor { editor: &it.editor, screen, edits, typed, shown, calls, cpu_s }
    }
}

impl<'a> From<&'a Missing> for TerminalMissing<'a> {
    fn from(it: &'a Missing) -> TerminalMissing<'a> {
        TerminalMissing { what: &it.what, reason: &it.reason, remedy: &it.remedy }
    }
}

impl<'a> From<&'a PseudoTerminals> for PseudoTerminalDocument<'a> {
    fn from(it: &'a PseudoTerminals) -> PseudoTerminalDocument<'a> {
        PseudoTerminalDocument {
            cpu: it.cpu,
            highest: it.highest.iter().map(TerminalFlow::from).collect(),
            paced: it.paced.iter().map(TerminalFlow::from).collect(),
            keystrokes: it.keystrokes.iter().map(TerminalKeystrokes::from).collect(),
            transfers: it.transfers.iter().map(TerminalTransfer::from).collect(),
            editors: it.editors.iter().map(TerminalEditor::from).collect(),
            missing: it.missing.iter().map(TerminalMissing::from).collect(),
        }
    }
}
