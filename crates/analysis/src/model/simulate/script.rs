//! What a script requests, and what is noted while it is played.

/// What a user does next: thinks for so long, and requests this kind of interaction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// How long it thinks, in seconds.
    pub think_s: f64,
    /// The kind, by its place in `System::kinds`.
    pub kind: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ended {
    pub kind: usize,
    /// Waiting for eligibility, in seconds.
    pub wait_s: f64,
    pub response_s: f64,
    /// Its processor time, in seconds.
    pub cpu_s: f64,
    pub faults: f64,
}

/// What was noted of a script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    /// The time that counts, in seconds.
    pub elapsed_s: f64,
    /// The interactions that ended in it.
    pub ended: Vec<Ended>,
    /// By the number of eligible interactions: elapsed and processor time, in seconds.
    pub eligible: Vec<(f64, f64)>,
}

impl Log {
    /// Time passes with so many eligible, while so many processors are busy.
    pub(super) fn pass(&mut self, eligible: usize, seconds: f64, busy: f64) {
        if self.eligible.len() <= eligible {
            self.eligible.resize(eligible + 1, (0.0, 0.0));
        }
        self.eligible[eligible].0 += seconds;
        self.eligible[eligible].1 += seconds * busy;
    }
}
