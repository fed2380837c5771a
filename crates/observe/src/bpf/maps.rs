//! The maps that the programs share with the reader.

use std::io;
use std::os::unix::fs::MetadataExt;

use super::layout;
use super::reader;
use super::sampled::StackMaps;
use super::sys::{Map, MapKind};
use super::types::Types;

/// Tasks that can be followed at once, and records.
const TASKS: usize = 1 << 16;
/// Processes of a cgroup that have not been seen to make a call.
const WANTED: usize = 1 << 13;

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
    /// Arrays of records.
    pub records: Map,
    chunks: Vec<Map>,
    /// Records that nobody uses.
    pub free: Map,
    /// Records whose task ended.
    pub ended: Map,
    /// What found no place in the table of its record.
    pub spilled: Map,
    /// What a call's arguments name, by its number: see `names`; after them, its place among those that are counted by object.
    pub classes: Map,
    /// How many calls were sampled, by number, 4 bytes each, and how many page faults.
    pub samples: Map,
    /// How many windows in which calls are sampled the present one stands for.
    pub window: Map,
    /// The names by which descriptors were opened: see `names`.
    pub folders: Map,
    /// What descriptors stand for: see `kinds`.
    pub kinds: Map,
    /// Where the stacks of sampled calls are noted, if they are wanted.
    pub stacks: Option<StackMaps>,
    /// What was lost.
    pub lost: Map,
    /// Records that belong to a CPU each.
    pub shared: u32,
    /// The namespace of process ids that howslow is in, if it is not the first: its device and inode.
    pub namespace: Option<(u64, u64)>,
    /// Where the kernel keeps what distinguishes objects, if it describes that.
    pub types: Option<Types>,
    next: u64,
    /// How often a record was offered.
    offered: u64,
}

impl Maps {
    /// Maps for `records` tasks that have one of their own, on `cpus` CPUs, and this many keys beyond their tables.
    pub(crate) fn new(records: usize, cpus: usize, spilled: usize) -> io::Result<Maps> {
        let hash = |key, value, entries| Map::new(MapKind::Hash, key, value, entries);
        let array = |value, entries| Map::new(MapKind::Array, 4, value, entries);
        let arrays = (records + cpus).div_ceil(layout::CHUNK).max(1);
        let arrays = (0..arrays).map(|_| array_of_records()).collect::<io::Result<Vec<Map>>>()?;
        let mut maps = Maps {
            tasks: hash(8, 4, TASKS)?,
            announced: hash(8, 4, 1 << 10)?,
            // Once a process has a record, it is no longer looked for here, so the oldest may go.
            wanted: Map::new(MapKind::RecentHash, 4, 4, WANTED)?,
            hints: array(layout::HINTS, 1)?,
            records: arrays[0].array_of(TASKS / layout::CHUNK)?,
            chunks: Vec::new(),
            free: Map::new(MapKind::Stack, 0, 4, TASKS)?,
            ended: Map::new(MapKind::Queue, 0, 4, TASKS)?,
            spilled: hash(16, 8, spilled)?,
            classes: array(2 * layout::CALLS, 1)?,
            samples: array(layout::SAMPLED_NUMBERS * 4, 1)?,
            window: array(4, 1)?,
            folders: array(layout::FOLDERS, 1)?,
            kinds: array(layout::kinds::SIZE, 1)?,
            stacks: None,
            lost: array(layout::lost::SIZE, 1)?,
            shared: cpus as u32,
            namespace: namespace(),
            types: Types::here(),
            next: 1,
            offered: 0,
        };
        maps.add(arrays)?;
        maps.set_window(1)?;
        Ok(maps)
    }

    /// Offers the records of these arrays.
    fn add(&mut self, arrays: Vec<Map>) -> io::Result<()> {
        let first = self.chunks.len();
        let descriptors: Vec<u8> = arrays.iter().flat_map(|array| array.descriptor().to_ne_bytes()).collect();
        self.records.set_from(first as u32, &descriptors)?;
        self.chunks.extend(arrays);
        (first * layout::CHUNK..self.chunks.len() * layout::CHUNK).try_for_each(|slot| self.recycle(slot as u32))
    }

    /// Adds records until this many are free, or there are as many as can be: by their numbers, or where the kernel refuses memory or
    /// descriptors. Tasks without one share. Returns how many are free.
    pub(crate) fn replenish(&mut self, wanted: u64) -> u64 {
        // In this order, because both grow meanwhile, and a task that gets no record is counted among those given out first.
        let refused = self.noted(layout::lost::RECORDS);
        let taken = self.noted(layout::lost::GIVEN) - refused;
        let missing = wanted.saturating_sub(self.offered.saturating_sub(taken)).div_ceil(layout::CHUNK as u64);
        let possible = TASKS / layout::CHUNK - self.chunks.len();
        let arrays: Vec<Map> = (0..possible.min(missing as usize)).map_while(|_| array_of_records().ok()).collect();
        if !arrays.is_empty() {
            // Without them, tasks share.
            let _ = self.add(arrays);
        }
        self.offered.saturating_sub(taken)
    }

    /// The keys of watched tasks that have a record of their own, with its number.
    pub(crate) fn slots(&self) -> impl Iterator<Item = (Vec<u8>, u32)> + '_ {
        let slot = |key: &[u8]| Some(u32::from_ne_bytes(self.tasks.get(key).ok()?.try_into().ok()?));
        let slots = self.tasks.keys().into_iter().filter_map(move |key| slot(&key).map(|slot| (key, slot)));
        slots.filter(|(_, slot)| *slot < layout::CREATED as u32)
    }

    /// Goes on as if so many of each number had been sampled.
    pub(crate) fn set_sampled(&self, count: u32) -> io::Result<()> {
        self.samples.set(&0_u32.to_ne_bytes(), &count.to_ne_bytes().repeat(layout::SAMPLED_NUMBERS))
    }

    /// Samples stand for this many windows from now on.
    pub(crate) fn set_window(&self, weight: u32) -> io::Result<()> {
        self.window.set(&0_u32.to_ne_bytes(), &weight.to_ne_bytes())
    }

    /// One call in this many is sampled.
    pub(crate) fn sampled_one_in(&self) -> i32 {
        if self.stacks.is_some() { layout::STACKS_ONE_IN } else { layout::SAMPLED_ONE_IN }
    }

    /// How many calls were made in windows.
    pub(crate) fn sampled(&self) -> u64 {
        let (first, each) = (layout::SAMPLED_FIRST as u64, self.sampled_one_in() as u64);
        let counts = self.samples.get(&0_u32.to_ne_bytes()).unwrap_or_default();
        let counts = counts.as_chunks().0.iter().take(layout::CALLS).map(|count| u64::from(u32::from_ne_bytes(*count)));
        counts.map(|count| count.min(first) + count.saturating_sub(first) * each).sum()
    }

    /// One of the counts of what was lost.
    pub(crate) fn noted(&self, what: i16) -> u64 {
        reader::number(&self.lost.get(&0_u32.to_ne_bytes()).unwrap_or_default(), what)
    }

    /// The numbers of the records whose task ended since the last call.
    pub(crate) fn take_ended(&self) -> Vec<u32> {
        let slot = |bytes: Vec<u8>| u32::from_ne_bytes(bytes.try_into().unwrap_or_default());
        std::iter::from_fn(|| self.ended.take().map(slot)).collect()
    }

    /// Has tasks with these marks, for which no record was left, looked for again at their next call: not more than `most`. Returns
    /// how many.
    pub(crate) fn forget_shared(&self, marks: &[i32], most: u64) -> u64 {
        let is_marked = |slot: Vec<u8>| marks.iter().any(|mark| slot == mark.to_ne_bytes());
        let keys = self.tasks.keys().into_iter().filter(|task| self.tasks.get(task).is_ok_and(is_marked));
        keys.take(most as usize).filter(|task| self.tasks.remove(task).is_ok()).count() as u64
    }

    /// Empties a record and offers it to the next task.
    pub(crate) fn recycle(&mut self, slot: u32) -> io::Result<()> {
        let mut record = vec![0; layout::RECORD];
        let mut put = |at: i16, bytes: &[u8]| record[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
        put(layout::ID, &self.next.to_ne_bytes());
        put(layout::LAST, &layout::NONE.to_ne_bytes());
        if slot < self.shared {
            put(layout::FLAGS, &layout::SHARED.to_ne_bytes());
        }
        self.next += 1;
        let (chunk, place) = self.place(slot)?;
        chunk.set(&place, &record)?;
        if slot >= self.shared {
            self.offered += 1;
            self.free.push(&slot.to_ne_bytes())?;
        }
        Ok(())
    }

    /// The bytes of a record.
    pub(crate) fn record(&self, slot: u32) -> io::Result<Vec<u8>> {
        let (chunk, place) = self.place(slot)?;
        chunk.get(&place)
    }

    /// The array of a record, and its place there.
    pub(super) fn place(&self, slot: u32) -> io::Result<(&Map, [u8; 4])> {
        let (chunk, place) = (slot as usize / layout::CHUNK, slot % layout::CHUNK as u32);
        let chunk = self.chunks.get(chunk).ok_or(io::ErrorKind::NotFound)?;
        Ok((chunk, place.to_ne_bytes()))
    }
}

fn array_of_records() -> io::Result<Map> {
    Map::new(MapKind::Array, 4, layout::RECORD, layout::CHUNK)
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
    use crate::tested;

    /// The memory of all maps in bytes, as the kernel reports it.
    fn memory(maps: &Maps) -> u64 {
        let fixed = [&maps.tasks, &maps.announced, &maps.wanted, &maps.hints, &maps.records, &maps.free, &maps.ended];
        let others =
            [&maps.spilled, &maps.classes, &maps.samples, &maps.window, &maps.folders, &maps.kinds, &maps.lost];
        let bytes = |map: &Map| {
            let text = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", map.descriptor())).expect("it is open");
            let line = text.lines().find_map(|line| line.strip_prefix("memlock:")).expect("a line about memory");
            line.trim().parse::<u64>().expect("a number")
        };
        fixed.into_iter().chain(others).chain(&maps.chunks).map(bytes).sum()
    }

    #[test]
    fn memory_grows_by_records_that_are_needed() {
        let Some(mut maps) = tested(Maps::new(100, 2, 1 << 16), "no maps can be created") else { return };
        let before = memory(&maps);
        assert!(before < 16 << 20, "{before} bytes");
        maps.replenish(90);
        assert_eq!(memory(&maps), before);
        maps.replenish(500);
        let grown = memory(&maps) - before;
        assert!((380..450).contains(&(grown / layout::RECORD as u64)), "{grown} bytes");
    }

    #[test]
    fn a_cgroup_may_have_more_processes_than_are_wanted_at_once() {
        let Some(maps) = tested(Maps::new(4, 1, 1), "no maps can be created") else { return };
        for process in 0..2 * WANTED as u32 {
            maps.wanted.set(&process.to_ne_bytes(), &[0; 4]).expect("there is room");
        }
    }
}
