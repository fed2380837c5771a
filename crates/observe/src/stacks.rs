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

/// Processes whose memory is known at once; then those that still make calls are read again.
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
    /// The name of each process, and its memory.
    processes: HashMap<u32, (Rc<str>, Vec<Mapping>)>,
    /// Each file that was met, open, with its tables.
    modules: HashMap<ProgramFile, (Option<File>, Option<Rc<Module>>)>,
    /// By the name of the process, call, and places, the innermost first.
    met: HashMap<(Rc<str>, u16, Vec<Place>), Met>,
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
        let Some((name, places)) = self.places(sample).filter(|(_, places)| !places.is_empty()) else {
            self.unknown += sample.weight;
            return;
        };
        let key = (name, sample.call, places);
        if self.met.len() >= Stacks::MOST && !self.met.contains_key(&key) {
            self.beyond += sample.weight;
            return;
        }
        let met = self.met.entry(key).or_default();
        met.calls += sample.weight;
        met.cpu_ns += sample.weighted_ns;
    }

    /// The name of a sample's process, and its places, the innermost first. What is mapped is read again where an address lies in nothing
    /// that is known.
    fn places(&mut self, sample: &CallSample) -> Option<(Rc<str>, Vec<Place>)> {
        let known = self.processes.get(&sample.process);
        if known.is_none_or(|(_, all)| Mapping::of(all, sample.address()).is_none()) {
            let now = mappings(sample.process);
            if Mapping::of(&now, sample.address()).is_some() {
                if self.processes.len() >= PROCESSES {
                    self.processes.clear();
                }
                self.processes.insert(sample.process, (usage::name(sample.process, sample.process).into(), now));
            }
        }
        let (name, all) = self.processes.get(&sample.process)?;
        let modules = &mut self.modules;
        let module = |mapping: &Mapping| -> Option<Rc<Module>> {
            let met = || {
                let file = mapping.open();
                let module = file.as_ref().and_then(Module::read).map(Rc::new);
                (file, module)
            };
            modules.entry(mapping.file.clone()?).or_insert_with(met).1.clone()
        };
        Some((name.clone(), unwind::places(sample, all, module)))
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
            // What differs by an instruction is the same here.
            let all = merged.entry((process.to_string(), name(Call::Native(*call)), frames)).or_default();
            all.calls += met.calls;
            all.cpu_ns += met.cpu_ns;
        }
        let mut stacks = Vec::new();
        for ((process, call, frames), Met { calls, cpu_ns }) in merged {
            stacks.push(Stack { process, call, frames, calls, cpu_ns: cpu_ns as f64 });
        }
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
        // Processes that are gone, as many as are kept.
        let gone = u32::MAX >> 2;
        stacks.processes.extend((0..PROCESSES as u32).map(|process| (gone - process, ("gone".into(), Vec::new()))));
        stacks.add(&sample(0));
        stacks.met.extend((0..Stacks::MOST).map(|name| ((name.to_string().into(), 0, Vec::new()), Met::default())));
        stacks.add(&sample(0));
        stacks.add(&sample(1));
        let added: Vec<u64> = stacks.met.values().map(|met| met.calls).filter(|calls| *calls > 0).collect();
        assert_eq!((added, stacks.unknown, stacks.beyond), (vec![4], 0, 2));
    }
}
