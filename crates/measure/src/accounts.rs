//! What all processors of the machine did during a run, from the kernel's accounts.

use record::Noise;

/// The machine's processor time so far, in ticks.
pub(crate) struct Accounts {
    busy: f64,
    all: f64,
    steal: f64,
    own: f64,
}

impl Accounts {
    pub fn now() -> Option<Accounts> {
        let text = std::fs::read_to_string("/proc/stat").ok()?;
        let fields: Vec<f64> =
            text.lines().next()?.split_whitespace().skip(1).filter_map(|field| field.parse().ok()).collect();
        let at = |index: usize| fields.get(index).copied().unwrap_or(0.0);
        let per_second = rustix::param::clock_ticks_per_second() as f64;
        Some(Accounts {
            busy: at(0) + at(1) + at(2) + at(5) + at(6),
            all: fields.iter().take(8).sum(),
            steal: at(7),
            own: crate::watch::own_processor_time() / 1e9 * per_second,
        })
    }

    /// Fills in what other programs used since. Our own part is complete only after the launcher is reaped, so close after that.
    pub fn close(self, noise: &mut Noise) {
        let Some(end) = Accounts::now() else { return };
        let all = (end.all - self.all).max(1.0);
        noise.others = (((end.busy - self.busy) - (end.own - self.own)) / all).max(0.0);
        noise.steal = (end.steal - self.steal) / all;
    }
}
