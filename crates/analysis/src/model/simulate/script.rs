//! A script: users that request given kinds of interactions at given times, as those of an experiment do; and what is noted while it is
//! played.

/// What the users of an experiment do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// What each user does, from its first thinking on. It begins anew at its end.
    pub users: Vec<Vec<Request>>,
    /// Seconds that are played before what counts.
    pub settle_s: f64,
    /// Seconds that count.
    pub time_s: f64,
}

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
