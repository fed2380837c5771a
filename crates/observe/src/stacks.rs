//! The functions of a program that made its sampled calls. The kernel's programs copy the registers and the top of the stack; here
//! the callers are found by the tables that compilers write for exceptions (`.eh_frame`), and named by symbols and debug information.

mod module;
mod symbols;
mod unwind;

use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use record::{Stack, StackFrame};

use crate::counts::Call;
use module::{Mapping, Module, Place, mappings};
use symbols::Symbols;
pub(crate) use unwind::{CallSample, REGISTERS};

/// Stacks beyond these are not distinguished.
const MOST: usize = 20_000;
/// Processes whose memory is known.
const PROCESSES: usize = 4096;

/// How often a stack was met, and how long its call was on the CPU in all.
#[derive(Clone, Copy, Debug, Default)]
struct Met {
    calls: u64,
    cpu_ns: u64,
}

/// All stacks that were met.
#[derive(Debug, Default)]
pub(crate) struct Stacks {
    processes: HashMap<u32, Vec<Mapping>>,
    modules: HashMap<PathBuf, Option<Rc<Module>>>,
    /// By process, call, and places, the innermost first.
    met: HashMap<(u32, u16, Vec<Place>), Met>,
    names: HashMap<u32, String>,
    /// Calls whose stack was not found: of processes that ended too early, for example.
    pub unknown: u64,
}

impl Stacks {
    /// Adds a sample.
    pub(crate) fn add(&mut self, sample: &CallSample) {
        let places = self.places(sample);
        if places.is_empty() || self.met.len() >= MOST {
            self.unknown += sample.weight;
            return;
        }
        let met = self.met.entry((sample.process, sample.call, places)).or_default();
        met.calls += sample.weight;
        met.cpu_ns += sample.weighted_ns;
    }

    /// The places of a sample, the innermost first. What is mapped is read again where an address lies in nothing that is known.
    fn places(&mut self, sample: &CallSample) -> Vec<Place> {
        let known = self.processes.get(&sample.process).is_some_and(|all| Mapping::of(all, sample.address()).is_some());
        if !known && self.processes.len() < PROCESSES {
            let now = mappings(sample.process);
            if Mapping::of(&now, sample.address()).is_some() {
                self.processes.insert(sample.process, now);
                let name = std::fs::read_to_string(format!("/proc/{}/comm", sample.process)).unwrap_or_default();
                self.names.insert(sample.process, name.trim().into());
            }
        }
        let Some(all) = self.processes.get(&sample.process) else { return Vec::new() };
        let modules = &mut self.modules;
        let module = |mapping: &Mapping| -> Option<Rc<Module>> {
            let path = mapping.path.clone()?;
            modules.entry(path).or_insert_with(|| Module::read(mapping).map(Rc::new)).clone()
        };
        unwind::places(sample, all, module)
    }

    /// All stacks with the names of their functions, those of most calls first.
    pub(crate) fn named(&self, name: impl Fn(Call) -> String) -> Vec<Stack> {
        let mut symbols = Symbols::default();
        let mut merged: HashMap<(String, String, Vec<StackFrame>), Met> = HashMap::new();
        for ((process, call, places), met) in &self.met {
            let frames: Vec<StackFrame> = places.iter().rev().flat_map(|place| symbols.frames(place)).collect();
            let process = self.names.get(process).cloned().unwrap_or_default();
            // What differs by an instruction, or by the process, is the same here.
            let all = merged.entry((process, name(Call::Native(*call)), frames)).or_default();
            all.calls += met.calls;
            all.cpu_ns += met.cpu_ns;
        }
        let stack = |((process, call, frames), met): ((String, String, Vec<StackFrame>), Met)| Stack {
            process,
            call,
            frames,
            calls: met.calls,
            cpu_ns: met.cpu_ns as f64,
        };
        let mut stacks: Vec<Stack> = merged.into_iter().map(stack).collect();
        stacks.sort_by(|one, other| other.calls.cmp(&one.calls).then_with(|| one.frames.cmp(&other.frames)));
        stacks
    }
}
