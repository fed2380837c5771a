//! Made-up gaps with known periods among noise: the periods are found, and none where there is none.

use record::smallest_first;

use super::*;

const SECOND: f64 = 1e9;

/// Made-up gaps, some of which hide others.
struct Made {
    gaps: Vec<Gap>,
    random: fastrand::Rng,
    seconds: f64,
}

impl Made {
    fn new(seconds: f64, seed: u64) -> Made {
        Made { gaps: Vec::new(), random: fastrand::Rng::with_seed(seed), seconds }
    }

    /// From 0 to 1, never exactly 0.
    fn share(&mut self) -> f64 {
        self.random.f64().max(1e-12)
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.share().ln()
    }

    /// A series at the multiples of a period, each so much late at most; of some, a share is missing.
    fn every(mut self, period: f64, length: f64, late: f64, missing: f64) -> Made {
        let mut due = self.share() * period;
        while due < self.seconds * SECOND {
            let start = due + late * self.share();
            let length = length * (0.97 + 0.06 * self.share());
            if self.share() > missing {
                self.gaps.push(Gap { start, length, switched: false });
            }
            due += period;
        }
        self
    }

    /// Gaps at random moments, with lengths that spread over two orders of magnitude.
    fn at_random(mut self, per_second: f64, mean: f64) -> Made {
        let mut start = 0.0;
        while start < self.seconds * SECOND {
            start += self.exponential(SECOND / per_second);
            let length = self.exponential(mean) + 100.0;
            self.gaps.push(Gap { start, length, switched: false });
        }
        self
    }

    /// Gaps of other tasks, each so long after the end of the one before.
    fn after_each_other(mut self, length: f64, pause: impl Fn(&mut Made) -> f64) -> Made {
        let mut start = 0.0;
        while start < self.seconds * SECOND {
            self.gaps.push(Gap { start, length, switched: true });
            start += length + pause(&mut self);
        }
        self
    }

    /// In windows of 50 ms with holes of 0.4 ms, gaps that overlap being one.
    fn recorded(mut self) -> (Vec<Gap>, Vec<SpinWindow>) {
        let count = (self.seconds * 20.0) as u32;
        let window = |start: f64| SpinWindow { start, end: start + 4.96e7, ..SpinWindow::default() };
        let windows: Vec<SpinWindow> = (0..count).map(|number| window(f64::from(number) * 5e7)).collect();
        smallest_first(&mut self.gaps, |one| one.start);
        let mut seen: Vec<Gap> = Vec::new();
        for gap in self.gaps {
            let within = windows.iter().any(|window| window.start <= gap.start && gap.end() <= window.end);
            match seen.last_mut().filter(|last| last.end() >= gap.start) {
                Some(last) => last.length = last.length.max(gap.end() - last.start),
                None if within => seen.push(gap),
                None => (),
            }
        }
        (seen, windows)
    }
}

/// The series within 5 % of a period, which must exist.
fn at(found: &[Series], period: f64) -> Series {
    let series = found.iter().find(|series| (series.period / period - 1.0).abs() < 0.05);
    series.unwrap_or_else(|| panic!("no period of {period}: {found:?}")).clone()
}

/// The series of these gaps, each of which must fill enough of its slots.
fn checked(gaps: &[Gap], windows: &[SpinWindow]) -> Vec<Series> {
    let found = periods(gaps, windows);
    for series in &found {
        let (gaps, slots) = (series.members.len(), series.slots);
        assert!(gaps as f64 >= FILLED * slots as f64, "a period of {}: {gaps} gaps in {slots} slots", series.period);
    }
    found
}

fn right(series: &Series, period: f64, length: f64) {
    assert!((series.period / period - 1.0).abs() < 0.05, "{series:?}");
    assert!((series.length / length - 1.0).abs() < 0.05, "{} instead of {length}", series.length);
}

#[test]
fn a_disturbance_a_tick_and_a_stall_are_distinguished() {
    for seed in 0..5 {
        let (gaps, windows) = Made::new(10.0, seed)
            .every(4e6, 1_500.0, 200.0, 0.0)
            .every(3e6, 10_000.0, 60_000.0, 0.0)
            .every(SECOND, 500_000.0, 60_000.0, 0.0)
            .at_random(300.0, 1_000.0)
            .recorded();
        let found = checked(&gaps, &windows);
        right(&at(&found, 4e6), 4e6, 1_500.0);
        right(&at(&found, 3e6), 3e6, 10_000.0);
        right(&at(&found, SECOND), SECOND, 500_000.0);
        assert_eq!(found.len(), 3, "{found:?}");
    }
}

#[test]
fn series_of_like_length_are_distinguished() {
    // As a virtual machine shows them: a switch and a tick take 30 us and more, and small gaps are everywhere.
    let (gaps, windows) = Made::new(10.0, 70)
        .every(4e6, 45_000.0, 2_000.0, 0.0)
        .every(1e7, 45_000.0, 200.0, 0.0)
        .every(3e6, 40_000.0, 30_000.0, 0.0)
        .every(SECOND, 530_000.0, 60_000.0, 0.0)
        .at_random(9_000.0, 60.0)
        .at_random(60.0, 60_000.0)
        .recorded();
    let found = checked(&gaps, &windows);
    right(&at(&found, 3e6), 3e6, 40_000.0);
    right(&at(&found, 4e6), 4e6, 45_000.0);
    right(&at(&found, SECOND), SECOND, 530_000.0);
}

#[test]
fn gaps_of_one_series_may_differ_in_length() {
    // What else happens at the same moments makes some of them longer: every second, third, eighth or sixteenth one.
    for (seed, longer) in [(1, 2_usize), (2, 3), (3, 8), (4, 16)] {
        let mut made = Made::new(10.0, seed).every(3e6, 18_000.0, 2_000.0, 0.0);
        made.gaps.iter_mut().step_by(longer).for_each(|gap| gap.length *= 1.8);
        let rest =
            made.every(4e6, 3_000.0, 500.0, 0.0).every(SECOND, 500_000.0, 60_000.0, 0.0).at_random(300.0, 1_000.0);
        let (gaps, windows) = rest.recorded();
        let found = checked(&gaps, &windows);
        let series = at(&found, 3e6);
        assert!(series.members.len() as f64 > 0.9 * series.slots as f64, "{longer}: {series:?}");
        assert_eq!(found.len(), 3, "{found:?}");
    }
}

#[test]
fn missing_gaps_and_many_others_do_not_hide_a_period() {
    for seed in 20..24 {
        let (gaps, windows) =
            Made::new(10.0, seed).every(4e6, 2_000.0, 500.0, 0.2).at_random(1_500.0, 2_000.0).recorded();
        let series = at(&checked(&gaps, &windows), 4e6);
        assert!((series.period / 4e6 - 1.0).abs() < 1e-3, "{series:?}");
        let share = series.members.len() as f64 / series.slots as f64;
        assert!((0.7..0.95).contains(&share), "{share}");
    }
}

#[test]
fn shorter_gaps_at_random_are_no_part_of_a_series_that_lasts_a_while() {
    for seed in 0..5 {
        let mut made = Made::new(10.0, seed).every(3e6, 25_000.0, 60_000.0, 0.0);
        made.gaps.retain(|gap| (3e9..6e9).contains(&gap.start));
        let (gaps, windows) = made.at_random(300.0, 5_000.0).recorded();
        right(&at(&checked(&gaps, &windows), 3e6), 3e6, 25_000.0);
    }
}

#[test]
fn a_sleeper_that_is_late_each_time_drifts_and_is_found() {
    // It sleeps for 3 ms after each disturbance, so that all its delays add up.
    let made = Made::new(10.0, 3).after_each_other(10_000.0, |made| 3e6 + 50_000.0 + 20_000.0 * made.share());
    let (gaps, windows) = made.at_random(200.0, 1_000.0).recorded();
    right(&at(&checked(&gaps, &windows), 3.07e6), 3.07e6, 10_000.0);
}

#[test]
fn gaps_at_random_have_no_period() {
    for seed in 40..45 {
        for rate in [20.0, 300.0, 1_500.0] {
            let (gaps, windows) = Made::new(5.0, seed).at_random(rate, 3_000.0).recorded();
            let found = checked(&gaps, &windows);
            assert!(found.is_empty(), "{seed}, {rate} a second: {found:?}");
        }
    }
}

#[test]
fn a_task_that_takes_the_cpu_for_long_does_not_break_the_tick() {
    // Another program takes the CPU for 6 ms of every 20 at irregular moments: a third of the ticks is hidden.
    let made = Made::new(10.0, 5).every(4e6, 1_500.0, 300.0, 0.0);
    let (gaps, windows) = made.after_each_other(6e6, |made| made.exponential(1.4e7)).recorded();
    let series = at(&checked(&gaps, &windows), 4e6);
    assert!((series.period / 4e6 - 1.0).abs() < 1e-3, "{series:?}");
    assert!(series.members.len() as f64 > 0.9 * series.slots as f64, "{} of {}", series.members.len(), series.slots);
}

#[test]
fn what_follows_from_a_gap_is_no_series_of_its_own() {
    let (mut gaps, windows) = Made::new(5.0, 9).every(4e6, 30_000.0, 200.0, 0.0).recorded();
    let echoes: Vec<Gap> =
        gaps.iter().map(|gap| Gap { start: gap.end() + 300.0, length: 150.0, switched: false }).collect();
    gaps.extend(echoes);
    smallest_first(&mut gaps, |one| one.start);
    let found = checked(&gaps, &windows);
    assert_eq!(found.len(), 1, "{found:?}");
    right(&found[0], 4e6, 30_000.0);
}

#[test]
fn too_few_gaps_are_no_series() {
    let (gaps, windows) = Made::new(2.0, 1).every(5e8, 1_000.0, 0.0, 0.0).recorded();
    assert!(gaps.len() <= 4);
    assert_eq!(periods(&gaps, &windows), Vec::new());
    assert_eq!(periods(&[], &[]), Vec::new());
}
