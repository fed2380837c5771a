//! Hidden CPU: what a kernel's thread does for an operation is told, and what is charged to the operation is not hidden.

use record::{Hidden, Run};

use crate::support::{folder, howslow, run_of};

/// A busy machine may disturb any one measurement.
const TRIES: usize = 6;

fn taken(pattern: &str) -> Run {
    let args = ["run", pattern, "--json", "--rounds", "1", "--precision", "100%", "--budget", "4s"];
    run_of(howslow(&folder()).args(args).assert().get_output())
}

fn hidden(run: &Run, id: &str) -> Hidden {
    run.costs.iter().find(|cost| cost.operation == id).and_then(|cost| cost.hidden).expect("an account")
}

/// The bytes of a terminal's output are carried to the line discipline of its other end by a thread of the kernel (`flush_to_ldisc`).
#[test]
fn a_terminal_hides_the_work_of_a_kernel_thread() {
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let run = taken("terminal.write@distance=same,path=processed,size=1024");
        let it = hidden(&run, "terminal.write");
        // On a busy machine other programs hide what is hidden; what the kernel charges its threads for is seen all the same.
        let threads = it.kernel_threads_ns.is_some_and(|time| time.0 > 0.05 * it.charged_ns.0);
        if threads || it.told().is_some_and(|time| time.0 > 0.05 * it.charged_ns.0) {
            return;
        }
        seen.push(it);
    }
    panic!("{seen:?}");
}

/// A datagram over loopback is received in the context of the one that sends it: all of that is charged.
#[test]
fn what_is_charged_is_not_hidden() {
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let it = hidden(&taken("udp.self@size=512"), "udp.self");
        // Beside other programs the account is uncertain, and says so: then nothing is told as hidden.
        if it.charged_ns.0 > 0.0 && it.told().is_none_or(|time| time.0.abs() < 0.15 * it.charged_ns.0) {
            return;
        }
        seen.push(it);
    }
    panic!("{seen:?}");
}
