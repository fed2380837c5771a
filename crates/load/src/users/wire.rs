//! What a user and the driver send to each other: numbers of fixed length through a socket.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use rustix::time::{ClockId, clock_gettime};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// 0 done, 1 failed, 2 killed, 3 hung, 4 ready for the first interaction.
    pub kind: f64,
    /// The exit status or the signal.
    pub code: f64,
    /// When it ended, in ns of the monotonic clock.
    pub ended: f64,
    /// Processor time in ns since the last report, in user mode.
    pub user: f64,
    /// The same in the kernel.
    pub system: f64,
    /// Page faults without a read.
    pub minor: f64,
    /// Page faults that waited for a page.
    pub major: f64,
}

/// The monotonic clock, in ns. All processes see the same.
pub fn nanoseconds() -> f64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}

/// Sends a number: a user its own when it has connected, the driver then that of each interaction to do. Fails if the other
/// side is gone.
pub fn send_number(to: &mut UnixStream, number: u32) -> std::io::Result<()> {
    to.write_all(&number.to_ne_bytes())
}

/// Reads such a number. Fails if the other side is gone or silent.
pub fn receive_number(from: &mut UnixStream) -> std::io::Result<u32> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes)?;
    Ok(u32::from_ne_bytes(bytes))
}

/// The kind of a report that comes before all interactions.
const READY: f64 = 4.0;

impl Report {
    /// Says that all pages are there.
    pub(super) fn ready(ended: f64) -> Report {
        Report { kind: READY, ended, ..Report::default() }
    }

    /// True for the report that comes before all interactions.
    pub fn is_ready(&self) -> bool {
        self.kind == READY
    }

    pub(super) fn send(self, to: &mut UnixStream) -> std::io::Result<()> {
        let numbers = [self.kind, self.code, self.ended, self.user, self.system, self.minor, self.major];
        to.write_all(&numbers.map(f64::to_ne_bytes).concat())
    }

    /// Reads a report. Fails if the user's process has ended.
    pub fn hear(from: &mut UnixStream) -> std::io::Result<Report> {
        let mut bytes = [0; 7 * 8];
        from.read_exact(&mut bytes)?;
        let numbers = bytes.as_chunks().0;
        let [kind, code, ended, user, system, minor, major] =
            std::array::from_fn(|place| f64::from_ne_bytes(numbers[place]));
        Ok(Report { kind, code, ended, user, system, minor, major })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_received() {
        let (mut one, mut other) = UnixStream::pair().expect("a pair");
        send_number(&mut one, 17).expect("said");
        assert_eq!(receive_number(&mut other).expect("heard"), 17);
        let report =
            Report { kind: 1.0, code: 2.0, ended: 3.5, user: 4.0, system: 5.0, minor: 6.0, major: f64::from(u32::MAX) };
        report.send(&mut one).expect("said");
        assert_eq!(Report::hear(&mut other).expect("heard"), report);
        send_number(&mut other, 3).expect("said");
        assert_eq!(receive_number(&mut one).expect("heard"), 3);
        drop(one);
        assert!(Report::hear(&mut other).is_err());
    }
}
