//! The functions of a program that made its sampled calls. The kernel's programs copy the registers and the top of the stack; here
//! the callers are found by the tables that compilers write for exceptions (`.eh_frame`), and named by symbols and debug information.

mod module;
mod symbols;
mod unwind;

use std::collections::HashMap;
use std::fs::File;
use std::rc::Rc;

use record::{Stack, StackFrame};

use crate::counts::Call;
use crate::usage;
use module::{Mapping, Module, Place, ProgramFile, mappings};
use symbols::Symbols;
pub(crate) use unwind::{CallSample, REGISTERS};

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
    /// Each file that was met, open, with its tables.
    modules: HashMap<ProgramFile, (Option<File>, Option<Rc<Module>>)>,
    /// By process, call, and places, the innermost first.
    met: HashMap<(u32, u16, Vec<Place>), Met>,
    names: HashMap<u32, String>,
    /// Calls whose stack was not found: of processes that ended too early, for example.
    pub unknown: u64,
    /// Calls with other stacks than those that are kept.
    pub beyond: u64,
}

impl Stacks {
    /// Different stacks that are kept.
    pub(crate) const MOST: usize = 20_000;

    /// Adds a sample.
    pub(crate) fn add(&mut self, sample: &CallSample) {
        let places = self.places(sample);
        let key = (sample.process, sample.call, places);
        if key.2.is_empty() {
            self.unknown += sample.weight;
            return;
        }
        if self.met.len() >= Stacks::MOST && !self.met.contains_key(&key) {
            self.beyond += sample.weight;
            return;
        }
        let met = self.met.entry(key).or_default();
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
                self.names.insert(sample.process, usage::name(sample.process, sample.process));
            }
        }
        let Some(all) = self.processes.get(&sample.process) else { return Vec::new() };
        let modules = &mut self.modules;
        let module = |mapping: &Mapping| -> Option<Rc<Module>> {
            let met = || {
                let file = mapping.open();
                let module = file.as_ref().and_then(Module::read).map(Rc::new);
                (file, module)
            };
            modules.entry(mapping.file.clone()?).or_insert_with(met).1.clone()
        };
        unwind::places(sample, all, module)
    }

    /// All stacks with the names of their functions, those of most calls first.
    pub(crate) fn named(&self, name: impl Fn(Call) -> String) -> Vec<Stack> {
        let mut symbols = Symbols::default();
        let mut merged: HashMap<(String, String, Vec<StackFrame>), Met> = HashMap::new();
        for ((process, call, places), met) in &self.met {
            let mut frames = |place: &Place| {
                let met = place.file.as_ref().and_then(|file| self.modules.get(file));
                symbols.frames(place, met.and_then(|(file, _)| file.as_ref()))
            };
            let frames: Vec<StackFrame> = places.iter().rev().flat_map(&mut frames).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_table_still_adds_to_the_stacks_that_it_has() {
        let own = std::process::id();
        let mut registers = [0; REGISTERS];
        registers[REGISTERS - 1] = Stacks::add as fn(&mut Stacks, &CallSample) as usize as u64;
        let sample = |call| CallSample { process: own, call, weight: 2, weighted_ns: 0, registers, stack: Vec::new() };
        let mut stacks = Stacks::default();
        stacks.add(&sample(0));
        stacks.met.extend((0..Stacks::MOST as u32).map(|process| ((process + own + 1, 0, Vec::new()), Met::default())));
        stacks.add(&sample(0));
        stacks.add(&sample(1));
        let added = stacks.met.iter().find(|((process, ..), _)| *process == own).map(|(_, met)| met.calls);
        assert_eq!((added, stacks.unknown, stacks.beyond), (Some(4), 0, 2));
    }
}
