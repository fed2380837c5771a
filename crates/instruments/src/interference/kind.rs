//! The kinds of work: which operation at which point stands for each.

use operation::Operation;
use record::{Point, Value};
use system::machine::data_caches;

use crate::interference::error::InterferenceError;

/// A kind of work, and the operation that stands for it.
#[derive(Debug)]
pub struct Kind {
    /// Its name on the command line and in every table.
    pub name: &'static str,
    /// What it does, in one sentence without a full stop.
    pub summary: &'static str,
    pub(crate) operation: &'static str,
    /// Its point on this CPU.
    point: fn(u32) -> Point,
}

/// All kinds, in the order of the matrix. Each keeps its partner, if it has one, on its own CPU, and waits for its device
/// before an iteration ends: a load that has to stop has stopped.
pub static KINDS: [Kind; 12] = [
    Kind {
        name: "compute",
        summary: "additions that keep every adder of the core busy and touch no memory",
        operation: "instruction.add.throughput",
        point: |_| words("width", Value::Number(64)),
    },
    Kind {
        name: "l2",
        summary: "reads of a working set that fills a part of the core's second cache",
        operation: "memory.read",
        point: |cpu| words("set", Value::Bytes(within_second(data_caches(cpu).get(&2).copied()))),
    },
    Kind {
        name: "memory",
        summary: "reads of twice what the last cache holds, at most 256 MiB",
        operation: "memory.read",
        point: |cpu| words("set", Value::Bytes(beyond_caches(cpu))),
    },
    Kind {
        name: "system-calls",
        summary: "system calls that do next to nothing",
        operation: "syscall.getppid",
        point: |_| Point::default(),
    },
    Kind {
        name: "switches",
        summary: "switches between two processes on one CPU",
        operation: "switch.process",
        point: |_| words("set", Value::Bytes(0)),
    },
    Kind {
        name: "pipe",
        summary: "messages of 64 KiB through a pipe",
        operation: "pipe.self",
        point: |_| words("size", Value::Bytes(64 << 10)),
    },
    Kind {
        name: "disk-reads",
        summary: "reads of 128 KiB from the disk, past the page cache",
        operation: "read.direct.unused",
        point: |_| {
            let point = words("file", Value::Bytes(1 << 20)).with("record", Value::Bytes(128 << 10));
            point.with("order", Value::Word("sequential".into())).with("state", Value::Word("cold".into()))
        },
    },
    Kind {
        name: "disk-writes",
        summary: "writes to the disk over blocks that a file has already, past the page cache",
        operation: "write.direct",
        point: |_| {
            let point = words("file", Value::Bytes(1 << 20)).with("record", Value::Bytes(128 << 10));
            let point = point.with("order", Value::Word("sequential".into())).with("over", Value::Word("old".into()));
            point.with("sync", Value::Word("none".into()))
        },
    },
    Kind {
        name: "terminal",
        summary: "lines of 1 KiB written to a terminal that another process drains",
        operation: "terminal.write",
        point: |_| {
            let point = words("size", Value::Bytes(1 << 10)).with("path", Value::Word("processed".into()));
            point.with("distance", Value::Word("same".into()))
        },
    },
    Kind {
        name: "network",
        summary: "messages of 4 KiB through TCP over loopback",
        operation: "tcp.self",
        point: |_| words("size", Value::Bytes(4 << 10)),
    },
    Kind {
        name: "faults",
        summary: "first touches of pages of new memory, in frames given back just before",
        operation: "page.fault.anonymous",
        point: |_| words("frames", Value::Word("recycled".into())),
    },
    Kind {
        name: "processes",
        summary: "processes copied, ended and waited for",
        operation: "process.fork",
        point: |_| Point::default(),
    },
];

impl Kind {
    /// The kind of this name. Fails if there is none; the error names all.
    pub fn named(name: &str) -> Result<&'static Kind, InterferenceError> {
        // The disk alone means reading from it, as in the paper's question of what a transfer costs a program.
        let name = if name == "disk" { "disk-reads" } else { name };
        let found = KINDS.iter().find(|kind| kind.name == name);
        let known = || KINDS.each_ref().map(|kind| kind.name).join(", ");
        found.ok_or_else(|| InterferenceError::Kind { name: record::printable(name), known: known() })
    }

    /// The operation that it repeats. Fails if this program does not have it.
    pub fn operation(&self) -> Result<&'static Operation, InterferenceError> {
        catalogue::find(self.operation).ok_or(InterferenceError::Operation { id: self.operation })
    }

    pub fn point(&self, cpu: u32) -> Point {
        (self.point)(cpu)
    }
}

fn words(axis: &str, value: Value) -> Point {
    Point::default().with(axis, value)
}

/// Half of a second cache, from 64 to 256 KiB.
fn within_second(cache: Option<u64>) -> u64 {
    const LEAST: u64 = 64 << 10;
    const MOST: u64 = 256 << 10;
    cache.map_or(MOST, |bytes| (bytes / 2).clamp(LEAST, MOST))
}

/// Twice what the last cache holds, from 64 to 256 MiB.
fn beyond_caches(cpu: u32) -> u64 {
    const LEAST: u64 = 64 << 20;
    const MOST: u64 = 256 << 20;
    let last = data_caches(cpu).values().copied().max().unwrap_or(0);
    (2 * last).next_power_of_two().clamp(LEAST, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_set_of_the_second_cache_leaves_room_in_it() {
        let sets =
            [Some(256), Some(1280), Some(96), None].map(|kib: Option<u64>| within_second(kib.map(|kib| kib << 10)));
        assert_eq!(sets.map(|set| set >> 10), [128, 256, 64, 256]);
    }
}
