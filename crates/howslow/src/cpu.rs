//! `--cpu`: the CPU that the user names.

use crate::output::Misuse;

/// Refuses a CPU that this process may not use.
pub(crate) fn check(cpu: Option<u32>, usable: &[u32]) -> Result<(), Misuse> {
    let Some(cpu) = cpu.filter(|cpu| !usable.contains(cpu)) else { return Ok(()) };
    let may = match usable {
        [only] => format!("CPU {only} alone; choose it"),
        several => {
            let names: Vec<String> = several.iter().map(u32::to_string).collect();
            format!("the CPUs {}; choose one of them", names.join(", "))
        }
    };
    Err(Misuse(format!("--cpu {cpu}: this process may use {may}")))
}
