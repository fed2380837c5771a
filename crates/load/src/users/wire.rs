//! What a user and the driver send to each other: numbers of fixed length through a socket.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use analysis::load::Outcome;
use operation::Usage;
use rustix::time::{ClockId, clock_gettime};

/// What a user's process reports once all its pages are there, and after each interaction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// How the interaction ended; `None` before the first.
    pub outcome: Option<Outcome>,
    /// When it ended, in ns of the monotonic clock.
    pub ended: f64,
    /// What was used since the last report; switches are not sent.
    pub used: Usage,
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

impl Report {
    /// A report of this moment.
    pub fn now(outcome: Option<Outcome>, used: Usage) -> Report {
        Report { outcome, ended: nanoseconds(), used }
    }

    pub(super) fn send(self, to: &mut UnixStream) -> std::io::Result<()> {
        let (kind, code) = match self.outcome {
            Some(Outcome::Done) => (0, 0),
            Some(Outcome::Failed(status)) => (1, status),
            Some(Outcome::Killed(signal)) => (2, signal),
            Some(Outcome::Hung) => (3, 0),
            None => (4, 0),
        };
        let Usage { user, system, minor_faults, major_faults, .. } = self.used;
        let numbers = [f64::from(kind), f64::from(code), self.ended, user, system, minor_faults, major_faults];
        to.write_all(&numbers.map(f64::to_ne_bytes).concat())
    }

    /// Reads a report. Fails if the user's process has ended.
    pub fn hear(from: &mut UnixStream) -> std::io::Result<Report> {
        let mut bytes = [0; 7 * 8];
        from.read_exact(&mut bytes)?;
        let numbers = bytes.as_chunks().0;
        let [kind, code, ended, user, system, minor_faults, major_faults] =
            std::array::from_fn(|place| f64::from_ne_bytes(numbers[place]));
        let outcome = match kind as i32 {
            0 => Some(Outcome::Done),
            1 => Some(Outcome::Failed(code as i32)),
            2 => Some(Outcome::Killed(code as i32)),
            3 => Some(Outcome::Hung),
            _ => None,
        };
        let used = Usage { user, system, minor_faults, major_faults, ..Usage::default() };
        Ok(Report { outcome, ended, used })
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
        let used =
            Usage { user: 4.0, system: 5.0, minor_faults: 6.0, major_faults: f64::from(u32::MAX), ..Usage::default() };
        let outcomes = [Outcome::Done, Outcome::Failed(2), Outcome::Killed(9), Outcome::Hung].map(Some);
        for outcome in outcomes.into_iter().chain([None]) {
            let report = Report::now(outcome, used);
            report.send(&mut one).expect("said");
            assert_eq!(Report::hear(&mut other).expect("heard"), report);
        }
        send_number(&mut other, 3).expect("said");
        assert_eq!(receive_number(&mut one).expect("heard"), 3);
        drop(one);
        assert!(Report::hear(&mut other).is_err());
    }
}
