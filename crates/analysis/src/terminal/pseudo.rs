//! What was measured of pseudo-terminals: output by path, size and rate, keystrokes, transfers, editors.

use serde::{Deserialize, Serialize};

use super::{Latency, LatencyQuantiles};
use crate::form::{As, Form};

/// What was measured of pseudo-terminals of howslow's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PseudoTerminals {
    /// The CPU that everything but the kernel's own threads ran on.
    pub cpu: u32,
    /// Output as fast as possible: the paper's Figure 2-1.
    #[serde(with = "As::<Vec<FlowRates>>")]
    pub highest: Vec<Flow>,
    /// Output at fixed rates: the paper's Figure 2-2.
    #[serde(with = "As::<Vec<FlowRates>>")]
    pub paced: Vec<Flow>,
    /// From a keystroke to its echo.
    pub keystrokes: Vec<Keystrokes>,
    /// Files that were sent through a terminal.
    pub transfers: Vec<Transfer>,
    /// Editors that made the same edits.
    pub editors: Vec<Edited>,
    /// What could not be measured.
    pub missing: Vec<Missing>,
}

/// Processor time that work took, by the kernel's accounts, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Used {
    /// What tasks were charged: the program, the emulator, and programs in between.
    pub tasks_s: f64,
    /// What the kernel's own threads took; null where they cannot be seen. One of them carries the bytes of a terminal; others may have
    /// had other work.
    pub kernel_threads_s: Option<f64>,
}

impl Used {
    /// Both, as far as they can be seen.
    pub fn all(&self) -> f64 {
        self.tasks_s + self.kernel_threads_s.unwrap_or(0.0)
    }
}

/// Output through a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// What it passes: `raw`, `processed`, `pipe`, `file`, `script`, `tcp`, `ssh`.
    pub path: String,
    /// Bytes of each write.
    pub size: u64,
    /// Bytes a second that the program should write; `None` for as many as possible.
    #[serde(alias = "asked")]
    pub requested: Option<f64>,
    pub bytes: u64,
    /// Until the last of them had come out, in seconds.
    pub elapsed_s: f64,
    pub used: Used,
}

impl Flow {
    /// Bytes a second.
    pub fn rate(&self) -> f64 {
        self.bytes as f64 / self.elapsed_s
    }

    /// Bytes for each second of processor time: the rate at which one CPU is used up.
    pub fn rate_per_cpu(&self) -> f64 {
        self.bytes as f64 / self.used.all()
    }

    /// The share of one CPU that is left. Negative where all of the work together takes more than one.
    pub fn left(&self) -> f64 {
        1.0 - self.used.all() / self.elapsed_s
    }

    /// Whether the rate that was asked for was reached, within a twentieth.
    pub fn reached(&self) -> bool {
        self.requested.is_none_or(|requested| self.rate() >= 0.95 * requested)
    }
}

/// Keystrokes and their echoes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Keystrokes {
    /// What echoes: the line discipline, or a program behind a path.
    pub echo: String,
    /// The pause before each keystroke, in seconds.
    pub pause_s: f64,
    /// From the keystroke to its echo.
    #[serde(with = "As::<LatencyQuantiles>")]
    pub latency: Latency,
}

/// A file sent through a terminal to a program that reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Transfer {
    /// `canonical` or `raw`.
    pub input: String,
    /// Whether the terminal echoes.
    pub echo: bool,
    /// Bytes that the program asks for at once.
    pub read_bytes: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// Read calls that it took.
    pub reads: u64,
    /// Until the program had all of it, in seconds.
    pub elapsed_s: f64,
    /// Processor time.
    #[serde(flatten)]
    pub used: Used,
}

/// An editor that made the edits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Edited {
    /// Its name.
    pub editor: String,
    /// Whether it shows the text on a screen, or works by lines.
    pub screen: bool,
    /// Edits that it made.
    pub edits: u64,
    /// Bytes that the user typed.
    pub typed: u64,
    /// Bytes that came to the terminal.
    pub shown: u64,
    /// Read and write calls of the editor; null where the kernel does not report them.
    pub calls: Option<u64>,
    /// Its processor time, in seconds.
    pub cpu_s: f64,
}

/// Something that could not be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Missing {
    /// What.
    pub what: String,
    /// Why.
    pub reason: String,
    /// What would change that; may be empty.
    pub remedy: String,
}

/// Output through a path.
#[derive(Serialize, JsonSchema)]
struct FlowRates {
    /// What it passes: `raw`, `processed`, `script`, `tcp`, `ssh`, `pipe`, `file`.
    path: String,
    /// Bytes of each write.
    write_bytes: u64,
    /// Bytes a second that the program should write; null for as many as possible.
    requested: Option<f64>,
    /// Bytes a second that came out.
    bytes_per_second: f64,
    /// Bytes for each second of processor time.
    bytes_per_cpu_second: f64,
    /// Time in s.
    elapsed_s: f64,
    /// Processor time of all tasks in s.
    tasks_s: f64,
    /// Processor time of the kernel's own threads in s; null where they cannot be seen.
    kernel_threads_s: Option<f64>,
    /// The share of one CPU that is left; negative if more than one was used.
    cpu_left: f64,
    /// Whether the rate asked for was reached.
    reached: bool,
}

impl Form<Flow> for FlowRates {
    fn of(flow: &Flow) -> FlowRates {
        FlowRates {
            path: flow.path.clone(),
            write_bytes: flow.size,
            requested: flow.requested,
            bytes_per_second: flow.rate(),
            bytes_per_cpu_second: flow.rate_per_cpu(),
            elapsed_s: flow.elapsed_s,
            tasks_s: flow.used.tasks_s,
            kernel_threads_s: flow.used.kernel_threads_s,
            cpu_left: flow.left(),
            reached: flow.reached(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_and_the_rate_of_a_whole_cpu_follow_from_the_accounts() {
        let flow = Flow {
            path: "raw".into(),
            size: 64,
            requested: Some(1000.0),
            bytes: 960,
            elapsed_s: 1.0,
            used: Used { tasks_s: 0.15, kernel_threads_s: Some(0.05) },
        };
        assert!((flow.left() - 0.8).abs() < 1e-12);
        assert!((flow.rate_per_cpu() - 4800.0).abs() < 1e-9);
        assert_eq!(Used { tasks_s: 0.15, kernel_threads_s: None }.all(), 0.15);
        assert!(flow.reached() && !Flow { bytes: 900, ..flow.clone() }.reached());
        assert!(Flow { used: Used { tasks_s: 0.9, kernel_threads_s: Some(0.3) }, ..flow }.left() < 0.0);
    }
}
