//! What being followed costs a call: the processor time of the same call in a process of its own, before and while it is
//! followed. The program also waits for howslow at each call, which is no processor time and is not in it.

use std::io::{self, Read, Write};

use rustix::process::getppid;
use rustix::time::{ClockId, clock_gettime};

use crate::target::Detail;
use crate::traced::Tracer;

/// Calls of a batch: about 2 ms while they are followed.
const CALLS: u32 = 200;

/// The processor time that a call is charged more while it is followed, in ns.
///
/// # Errors
/// A sentence: why no process can be followed.
pub(crate) fn followed_call(detail: Detail) -> Result<f64, String> {
    let pipe = || io::pipe().map_err(|error| format!("there is no pipe: {error}"));
    let ((mut told, tell), (wait, mut go)) = (pipe()?, pipe()?);
    // SAFETY: the new process makes system calls only, and ends by one: it allocates nothing and takes no lock.
    match unsafe { libc::fork() } {
        -1 => Err(format!("there is no process: {}", io::Error::last_os_error())),
        0 => {
            // Its own ends would keep it waiting if howslow were killed.
            drop((told, go));
            let bare = batch();
            let _ = rustix::io::write(&tell, &bare.to_ne_bytes());
            let _ = rustix::io::read(&wait, &mut [0_u8]);
            let _ = rustix::io::write(&tell, &batch().to_ne_bytes());
            // SAFETY: ends this process without anything of the other one being cleaned up by it.
            unsafe { libc::_exit(0) }
        }
        child => {
            drop((tell, wait));
            let mut figure = || {
                let mut bytes = [0; 8];
                told.read_exact(&mut bytes).map(|()| u64::from_ne_bytes(bytes))
            };
            let bare = figure();
            let tracer = Tracer::attach(child as u32, detail);
            let _ = go.write_all(&[1]);
            let followed = figure();
            // SAFETY: no place is given to write to. If the tracer has seen the end, there is nobody to wait for.
            unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
            let (bare, followed) = tracer.and_then(|_| bare.and_then(|bare| Ok((bare, followed?))).map_err(ended))?;
            Ok((followed as f64 - bare as f64) / f64::from(CALLS))
        }
    }
}

fn ended(error: io::Error) -> String {
    format!("the process that was to be timed has ended: {error}")
}

/// The processor time of some calls, in ns.
fn batch() -> u64 {
    let begin = charged_ns();
    for _ in 0..CALLS {
        let _ = getppid();
    }
    charged_ns() - begin
}

fn charged_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn being_followed_costs_processor_time() {
        match followed_call(Detail::All) {
            Ok(time) => assert!(time > 0.0, "{time}"),
            Err(why) => testing::not_tested!("{why}; allow ptrace(2)"),
        }
    }
}
