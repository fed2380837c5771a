//! What counting costs a task that gets a CPU, and one that wakes another: two threads wake each other by turns while the programs at these
//! events run.

use std::io::{self, Read, Write};
use std::thread;

use crate::bpf::{Programs, keep_statistics};

/// How often each wakes the other: some milliseconds.
const TURNS: usize = 100;

/// What the programs take, in ns: those that run when a task gets a CPU, and the one that runs when it wakes another. By the kernel's
/// statistics, since a switch takes fifty times as long. The thread that calls this is watched.
/// Fails if the kernel keeps no statistics, or there is no thread.
pub(super) fn of_switches(programs: &Programs) -> io::Result<[f64; 2]> {
    let _attached = programs.attach_switches();
    let _kept = keep_statistics()?;
    let before = programs.ran_at_switches()?;
    exchange(programs)?;
    let after = programs.ran_at_switches()?;
    let [switched, went_on, waking] = std::array::from_fn(|at| after[at].mean_ns_since(before[at]));
    Ok([switched + went_on, waking])
}

/// This thread and another one, which is watched too, wait for each other.
fn exchange(programs: &Programs) -> io::Result<()> {
    let ((mut their_read, mut write), (mut read, mut their_write)) = (io::pipe()?, io::pipe()?);
    thread::scope(|scope| {
        let partner = scope.spawn(move || {
            programs.enrol()?;
            (0..TURNS).try_for_each(|_| {
                their_read.read_exact(&mut [0])?;
                their_write.write_all(&[0])
            })
        });
        // With the pipes of one that has ended, the wait of the other ends.
        let own = (0..TURNS).try_for_each(move |_| {
            write.write_all(&[0])?;
            read.read_exact(&mut [0])
        });
        partner.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into())).and(own)
    })
}
