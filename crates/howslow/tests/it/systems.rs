//! The static program, native and under emulators of both processors: systems on which every cost differs, and on which everything
//! that cannot be measured is reported with a reason.

mod program;

use std::process::{Command, Output};
use std::time::Duration;

use record::{Cost, Run};

use crate::support::{cost, count, folder, is_installed, run_of};
use program::{program, target};

/// What is measured: instructions, memory, the kernel, a signal, two processes, a page.
const MEASURED: [&str; 7] = [
    "instruction.add.latency",
    "instruction.divide.latency",
    "memory.copy@size=512",
    "syscall.getppid",
    "signal.deliver",
    "crossing.process@distance=same,arguments=3",
    "process.fork",
];

/// What an emulator may lack; it is measured or skipped with a reason.
const MAYBE: [&str; 4] = ["crossing.vdso", "process.exec", "call.landlock_create_ruleset", "call.seccomp"];

/// A system to run on: the architecture of the program, and the emulator of its processor.
#[derive(Clone, Copy)]
struct System {
    architecture: &'static str,
    emulator: Option<&'static str>,
}

const NATIVE: System = System { architecture: std::env::consts::ARCH, emulator: None };
const X86_64: System = System { architecture: "x86_64", emulator: Some("qemu-x86_64") };
const AARCH64: System = System { architecture: "aarch64", emulator: Some("qemu-aarch64") };

impl System {
    /// The command that runs the static program here; `None`, with a message on what is missing, if that is not possible.
    fn command(self) -> Option<Command> {
        if testing::is_for_later("systems") {
            return None;
        }
        let missing = |what: &str, remedy: &str| {
            testing::not_tested!("{what}, so nothing ran on {}; {remedy}", self.architecture);
            None
        };
        if let Some(emulator) = self.emulator
            && !is_installed(emulator)
        {
            return missing(&format!("{emulator} is not installed"), "apt-get install qemu-user");
        }
        let Some(program) = program(self.architecture) else {
            let target = target(self.architecture);
            return missing(&format!("there is no Rust library for {target}"), &format!("rustup target add {target}"));
        };
        let mut command = Command::new(self.emulator.map_or(program.as_os_str(), std::ffi::OsStr::new));
        command.args(self.emulator.map(|_| &program));
        Some(command)
    }

    /// Measures; `None` if it cannot run.
    fn run(self, patterns: &[&str]) -> Option<Run> {
        let mut command = self.command()?;
        command.arg("run").args(patterns);
        // On a system that is never quiet, more time would not help.
        command.args(["--json", "--rounds", "2", "--precision", "50%", "--budget", "8s"]);
        Some(run_of(&ended(command)))
    }
}

/// How it ended. Nothing here takes a minute, so a command that takes ten hangs, and is killed. Checks that nothing is left behind.
fn ended(mut command: Command) -> Output {
    let (data, scratch) = (folder(), folder());
    command.env("HOWSLOW_DATA", data.path()).env("TMPDIR", scratch.path());
    let output = assert_cmd::Command::from_std(command).timeout(Duration::from_secs(600)).output().expect("it starts");
    assert_eq!(count(&scratch), 0, "left behind");
    output
}

/// The cost of one of the patterns that were measured.
fn of<'r>(run: &'r Run, pattern: &str) -> &'r Cost {
    cost(run, pattern.split('@').next().unwrap_or(pattern))
}

/// Checks what holds for every run on every system.
fn is_sound(run: &Run, system: System) {
    assert_eq!(run.machine.architecture, system.architecture);
    assert_eq!(run.machine.libc, "musl");
    assert_eq!(run.machine.kernel.name, "Linux");
    let emulated = run.machine.virtualization.hypervisor.as_deref() == Some("QEMU TCG");
    assert!(emulated || system.emulator.is_none(), "{:?}", run.machine.virtualization);
    // What an emulator executes anew runs without it, if it is of this machine's architecture.
    let executed = run.noise.launchers.as_ref().is_some_and(|launchers| launchers.executed);
    assert_eq!(executed, system.emulator.is_none(), "under {:?}", system.emulator);
    for pattern in MEASURED {
        let cost = of(run, pattern);
        assert!(cost.quoted().0 > 0.0, "{} costs {}", cost.name(), cost.quoted());
    }
    for id in MAYBE {
        let measured = run.costs.iter().any(|cost| cost.operation == id && cost.quoted().0 > 0.0);
        let skipped = run.skipped.iter().any(|skip| skip.operation == id && !skip.reason.is_empty());
        assert!(measured || skipped, "{id} is neither measured nor skipped");
    }
}

#[test]
fn the_static_program_measures_native_and_emulated() {
    let all = [&MEASURED[..], &MAYBE].concat();
    let native = NATIVE.run(&all);
    if let Some(native) = &native {
        is_sound(native, NATIVE);
    }
    for system in [X86_64, AARCH64] {
        let Some(emulated) = system.run(&all) else { continue };
        is_sound(&emulated, system);
        let Some(native) = &native else { continue };
        // Reported and not asserted: on a busy machine every batch of a short run may be interrupted.
        for pattern in MEASURED {
            let [here, there] = [native, &emulated].map(|run| of(run, pattern).quoted());
            eprintln!("{pattern}: {here} native, {there} under {}", system.emulator.unwrap_or_default());
        }
    }
}

#[test]
fn the_other_verbs_work_under_emulators() {
    'systems: for system in [NATIVE, X86_64, AARCH64] {
        for (arguments, wanted) in [(&["list", "crossing"][..], "crossing.process"), (&["doctor"], "Linux")] {
            let Some(mut command) = system.command() else { continue 'systems };
            command.args(arguments);
            let output = ended(command);
            let is_expected = output.status.success() && String::from_utf8_lossy(&output.stdout).contains(wanted);
            assert!(is_expected, "{arguments:?}: {output:?}");
        }
    }
}
