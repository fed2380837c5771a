//! Which operations leave work to the kernel's threads or to interrupts: those that cross a device, a queue or a network.

use operation::Operation;

use crate::registry::{FAMILIES, Family};

/// The families whose operations do.
const TITLES: [&str; 11] = [
    "files", "file readers", "file writers", "sparse files", "keyed files", "messages", "calls that move bytes",
    "calls that wait for devices", "calls that ask and collect", "sending with and without a copy",
    "asynchronous completion",
];

/// True if the operation crosses a device, a queue or a network.
pub fn crosses(operation: &Operation) -> bool {
    let own = |family: &&Family| family.operations().any(|other| other.id == operation.id);
    let family = FAMILIES.iter().find(own);
    operation.family() == "terminal" || family.is_some_and(|family| TITLES.contains(&family.title))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_title_is_that_of_a_family() {
        for title in TITLES {
            assert!(FAMILIES.iter().any(|family| family.title == title), "{title}");
        }
    }

    #[test]
    fn what_leaves_work_behind_crosses_and_what_computes_does_not() {
        let crosses = |id: &str| crosses(crate::registry::find(id).expect(id));
        for id in ["terminal.write", "terminal.echo.driver", "udp.self", "tcp.roundtrip", "read.direct", "write.pwrite"]
        {
            assert!(crosses(id), "{id}");
        }
        for id in [
            "tcp.send", "async.read.ring.polled", "call.io_uring_enter", "call.fsync", "file.create.delete",
            "pipe.roundtrip",
        ] {
            assert!(crosses(id), "{id}");
        }
        for id in ["loop.empty", "memory.copy", "syscall.getppid", "process.fork", "instruction.add.latency"] {
            assert!(!crosses(id), "{id}");
        }
    }
}
