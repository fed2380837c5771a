//! The loop of a program in the mode of its setting.

use std::cell::Cell;

use operation::{Failure, Loop, Setting};

use super::emulated::Emulated;
use super::guest::{Guest, GuestProgram};
use super::native;
use crate::engines::engines;
use crate::kit::{Cycle, handles};

impl Guest {
    /// The program in the mode of this setting, in this process.
    pub(super) fn program(self, setting: &Setting) -> Result<GuestProgram, Failure> {
        match setting.word("mode")? {
            "native" => native::program(self.name, self.memory, self.files),
            mode => (engines("the engines that run WebAssembly")?.webassembly)(self, mode),
        }
    }

    /// Its loop in the mode of this setting, checked against the sums of a cycle.
    pub(super) fn held(self, setting: &Setting, mut cycle: Cycle) -> Result<Loop, Failure> {
        let [sum, result] = handles(Cell::new(0));
        let whole = cycle.length();
        // Several batches may come before a check.
        let verify = move |times| cycle.hold(times, result.take());
        if setting.word("mode")? == "emulated" {
            let mut emulated = Emulated::start(&self, setting)?;
            let run = move |times| {
                let (took, reported) = emulated.batch(times)?;
                sum.set(sum.get().wrapping_add(reported));
                Ok(took)
            };
            let mut emulated = Loop::self_timed(run).verify(verify);
            // All code is translated before the first batch.
            emulated.perform(whole + 1)?;
            return Ok(emulated);
        }
        let mut program = self.program(setting)?;
        let run = move |times| {
            sum.set(sum.get().wrapping_add(program(times)?));
            Ok(())
        };
        Ok(Loop::new(run).verify(verify))
    }
}
