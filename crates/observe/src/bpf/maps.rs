//! The maps that the programs share with the reader.

use std::io;
use std::os::unix::fs::MetadataExt;

use super::layout;
use super::sys::{Map, MapKind};
use super::types::Types;

/// Tasks that can be followed at once.
const TASKS: usize = 1 << 16;
/// Processes of a cgroup that have not been seen to make a call.
const WANTED: usize = 1 << 13;
/// Keys beyond the tables of all records together.
const SPILLED: usize = 1 << 14;

/// All maps.
#[derive(Debug)]
pub(crate) struct Maps {
    /// The number of the record of each task, by the address of its `struct task_struct`.
    pub tasks: Map,
    /// Tasks to be watched once they execute a program.
    pub announced: Map,
    /// Processes to be watched.
    pub wanted: Map,
    /// The number of the record that a task had, by a hash of its address. It may be wrong.
    pub hints: Map,
    pub records: Map,
    /// Records that nobody uses.
    pub free: Map,
    /// Records whose task ended.
    pub ended: Map,
    /// What found no place in the table of its record.
    pub spilled: Map,
    /// What a call's arguments name, by its number: see `names`; after them, its place among those that are counted by object.
    pub classes: Map,
    /// How many calls were sampled, by number, 4 bytes each.
    pub samples: Map,
    /// What was lost.
    pub lost: Map,
    /// Records that belong to a CPU each.
    pub shared: u32,
    /// The namespace of process ids that howslow is in, if it is not the first: its device and inode.
    pub namespace: Option<(u64, u64)>,
    /// Where the kernel keeps what tells objects apart, if it describes that.
    pub types: Option<Types>,
    next: u64,
}

impl Maps {
    /// Maps for `records` tasks that have one of their own, on `cpus` CPUs.
    ///
    /// # Errors
    /// If this process may not create maps, or there is no memory for them.
    pub(crate) fn new(records: usize, cpus: usize) -> io::Result<Maps> {
        let hash = |key, value, entries| Map::new(MapKind::Hash, key, value, entries);
        let array = |value, entries| Map::new(MapKind::Array, 4, value, entries);
        let mut maps = Maps {
            tasks: hash(8, 4, TASKS)?,
            announced: hash(8, 4, 1 << 10)?,
            // Once a process has a record, it is no longer looked for here, so the oldest may go.
            wanted: Map::new(MapKind::RecentHash, 4, 4, WANTED)?,
            hints: array(layout::HINTS, 1)?,
            records: array(layout::RECORD, records + cpus)?,
            free: Map::new(MapKind::Stack, 0, 4, records)?,
            ended: Map::new(MapKind::Queue, 0, 4, records)?,
            spilled: hash(16, 8, SPILLED)?,
            classes: array(2 * layout::CALLS, 1)?,
            samples: array(layout::CALLS * 4, 1)?,
            lost: array(layout::lost::SIZE, 1)?,
            shared: cpus as u32,
            namespace: namespace(),
            types: Types::here(),
            next: 1,
        };
        for slot in 0..(records + cpus) as u32 {
            maps.recycle(slot)?;
        }
        Ok(maps)
    }

    /// Empties a record and offers it to the next task.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub(crate) fn recycle(&mut self, slot: u32) -> io::Result<()> {
        let mut record = vec![0; layout::RECORD];
        let mut put = |at: i16, bytes: &[u8]| record[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
        put(layout::ID, &self.next.to_ne_bytes());
        put(layout::LAST, &layout::NONE.to_ne_bytes());
        if slot < self.shared {
            put(layout::FLAGS, &layout::SHARED.to_ne_bytes());
        }
        self.next += 1;
        self.records.set(&slot.to_ne_bytes(), &record)?;
        if slot < self.shared { Ok(()) } else { self.free.push(&slot.to_ne_bytes()) }
    }

    /// The bytes of a record.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub(crate) fn record(&self, slot: u32) -> io::Result<Vec<u8>> {
        self.records.get(&slot.to_ne_bytes())
    }
}

/// The namespace of process ids that this process is in, if it is not the first, whose inode is fixed
/// (include/uapi/linux/nsfs.h, `PID_NS_INIT_INO`).
fn namespace() -> Option<(u64, u64)> {
    const FIRST: u64 = 0xefff_fffc;
    let own = std::fs::metadata("/proc/self/ns/pid").ok()?;
    Some((own.dev(), own.ino())).filter(|(_, inode)| *inode != FIRST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cgroup_may_have_more_processes_than_are_wanted_at_once() {
        let maps = match Maps::new(4, 1) {
            Ok(maps) => maps,
            Err(error) => return testing::not_tested!("no maps can be created: {error}; run as root"),
        };
        for process in 0..2 * WANTED as u32 {
            maps.wanted.set(&process.to_ne_bytes(), &[0; 4]).expect("there is room");
        }
    }
}
