//! What being followed costs a call: the processor time of the same calls in a process of its own, alternately followed and
//! not. The program also waits for howslow at each call, which is no processor time and is not in it.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::time::Instant;

use rustix::process::getppid;
use rustix::time::ClockId;

use super::added::{Added, are_enough};
use crate::target::Detail;
use crate::traced::Tracer;
use crate::usage::now_ns;

/// Calls of a batch: about 2 ms while they are followed.
const CALLS: u32 = 40;

/// The other process, which does a batch for each byte that it is sent.
struct Caller {
    times: PipeReader,
    go: PipeWriter,
    child: libc::pid_t,
}

/// What being followed adds to the processor time of a call. The error is a sentence: why no process can be followed.
pub(crate) fn followed_calls(detail: Detail) -> Result<Added, String> {
    let mut caller = Caller::start()?;
    let mut added =
        Added { method: "processor time of calls of its own, alternately followed and not", ..Added::default() };
    caller.batch()?;
    let begun = Instant::now();
    while !are_enough(added.plain.len(), begun.elapsed()) {
        let bare = caller.batch()?;
        let tracer = Tracer::attach(caller.child as u32, detail)?;
        let followed = caller.batch()?;
        // It is let go at its next stop, which comes before the next batch: when it has read the byte for that.
        drop(tracer);
        // The clock is read by a call, too: its end at the beginning and its beginning at the end are in the time.
        added.plain.push((followed - bare) / f64::from(CALLS + 1));
    }
    added.named.clone_from(&added.plain);
    Ok(added)
}

/// Follows a process for one batch. The error is a sentence: why no process can be followed.
pub(crate) fn can_follow(detail: Detail) -> Result<(), String> {
    let mut caller = Caller::start()?;
    let _tracer = Tracer::attach(caller.child as u32, detail)?;
    caller.batch().map(|_| ())
}

impl Caller {
    fn start() -> Result<Caller, String> {
        let pipe = || io::pipe().map_err(|error| format!("there is no pipe: {error}"));
        let ((times, time), (wait, go)) = (pipe()?, pipe()?);
        // SAFETY: the new process makes system calls only, and ends by one: it allocates nothing and takes no lock.
        match unsafe { libc::fork() } {
            -1 => Err(format!("there is no process: {}", io::Error::last_os_error())),
            0 => {
                // Its own ends would keep it waiting if howslow were killed.
                drop((times, go));
                while rustix::io::read(&wait, &mut [0_u8]) == Ok(1) {
                    let _ = rustix::io::write(&time, &batch().to_ne_bytes());
                }
                // SAFETY: ends this process without anything of the other one being cleaned up by it.
                unsafe { libc::_exit(0) }
            }
            child => Ok(Caller { times, go, child }),
        }
    }

    /// The processor time of a batch, in ns.
    fn batch(&mut self) -> Result<f64, String> {
        let mut bytes = [0; 8];
        let done = self.go.write_all(&[1]).and_then(|()| self.times.read_exact(&mut bytes));
        done.map_err(|error| format!("the process that was to be timed has ended: {error}"))?;
        Ok(u64::from_ne_bytes(bytes) as f64)
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        // SAFETY: the process is this one's child, which nothing has waited for, so that its number is no other's.
        unsafe { libc::kill(self.child, libc::SIGKILL) };
        // SAFETY: no place is given to write to. If a tracer has seen the end, there is nobody to wait for.
        unsafe { libc::waitpid(self.child, std::ptr::null_mut(), 0) };
    }
}

/// The processor time of some calls, in ns.
fn batch() -> u64 {
    let begin = now_ns(ClockId::ThreadCPUTime);
    for _ in 0..CALLS {
        let _ = getppid();
    }
    now_ns(ClockId::ThreadCPUTime) - begin
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn being_followed_costs_processor_time_and_is_reported_with_an_interval() {
        if let Err(why) = can_follow(Detail::All) {
            return testing::not_tested!("{why}; allow ptrace(2)");
        }
        let cost = followed_calls(Detail::All).expect("pairs").cost(1.0, [0.0; 2], None).expect("a cost");
        let probe = cost.probe.expect("enough pairs, however busy the machine is");
        assert!(probe.low_ns > 0.0 && probe.low_ns <= probe.per_call_ns, "{probe:?}");
        assert!(probe.per_call_ns <= probe.high_ns, "{probe:?}");
    }
}
