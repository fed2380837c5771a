//! Machines as the tables hold them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use record::{Bytes, Machine};

use crate::backend::{Backend, DatabaseError, SqlValue};

/// The machines, by their numbers, as far as the table has them.
pub(crate) fn machines(backend: &mut dyn Backend) -> Result<HashMap<i64, Arc<Machine>>, DatabaseError> {
    let every = "SELECT key, host, architecture, cpu_model, microarchitecture, signature, microcode, cpus, memory_bytes, \
        hypervisor, container, kernel, kernel_version, command_line, mitigations, clock_source, governor, huge_pages, libc \
        FROM machine";
    Ok(backend.query(every, &[])?.iter().map(|row| (row[0].number(), Arc::new(machine(row)))).collect())
}

fn machine(row: &[SqlValue]) -> Machine {
    let text = |place: usize| row[place].text().to_owned();
    let mut machine = Machine { host: row[1].optional_text().filter(|host| !host.is_empty()), ..Machine::default() };
    machine.architecture = text(2);
    (machine.cpu.model, machine.cpu.microarchitecture, machine.cpu.signature) =
        (text(3), row[4].optional_text(), text(5));
    machine.cpu.microcode = row[6].optional_text();
    machine.cpu.online = u32::try_from(row[7].number()).unwrap_or_default();
    machine.memory.total = Bytes(u64::try_from(row[8].number()).unwrap_or_default());
    (machine.virtualization.hypervisor, machine.virtualization.container) =
        (row[9].optional_text(), row[10].optional_text());
    (machine.kernel.release, machine.kernel.version, machine.kernel.command_line) =
        (text(11), text(12), row[13].optional_text());
    // The tables do not have it, and howslow runs on no other.
    machine.kernel.name = "Linux".into();
    machine.kernel.mitigations = mitigations(row[14].text());
    (machine.clock_source, machine.cpu.frequency.governor) = (row[15].optional_text(), row[16].optional_text());
    (machine.memory.transparent_huge_pages, machine.libc) = (row[17].optional_text(), text(18));
    machine
}

/// Reads `mds: Not affected; spectre_v2: Mitigation: Enhanced IBRS; IBPB: conditional`. The kernel's names of vulnerabilities
/// are in small letters; what follows "; " in its words for one is not.
fn mitigations(text: &str) -> BTreeMap<String, String> {
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    let mut last = String::new();
    for part in text.split("; ") {
        match (part.split_once(": "), all.get_mut(&last)) {
            (Some((name, how)), _) if is_name(name) => {
                last = name.into();
                all.insert(last.clone(), how.into());
            }
            (_, Some(how)) => *how += &format!("; {part}"),
            _ => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mitigations_are_read_as_they_were_written() {
        let written = [
            ("l1tf", "Mitigation: PTE Inversion; VMX: conditional cache flushes, SMT vulnerable"),
            ("mds", "Vulnerable: Clear CPU buffers attempted, no microcode; SMT Host state unknown"),
            ("meltdown", "Not affected"),
            ("spectre_v2", "Mitigation: Enhanced IBRS; IBPB: conditional; RSB filling"),
        ];
        let written: BTreeMap<String, String> = written.map(|(name, how)| (name.into(), how.into())).into();
        let text = written.iter().map(|(name, how)| format!("{name}: {how}")).collect::<Vec<_>>().join("; ");
        assert_eq!(mitigations(&text), written);
        assert!(mitigations("").is_empty());
    }
}
