//! The sources of scatter: a nested analysis of variance of round medians, by rounds of one launcher, launchers of one
//! run, and runs (Kalibera and Jones, "Rigorous benchmarking in reasonable time", ISMM 2013, section 6). Its input is
//! numbers; it knows nothing of records.

/// The variance that each level adds to the natural logarithm of a figure. The square root of a small one is a share of
/// the figure.
///
/// A level with too few members is `None`, and its variance is contained in the next level above. An estimate by
/// moments can be negative: then the level adds nothing visible. It is not clamped, because the mean or median over
/// many costs would then be too large.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Components {
    /// Between runs, beyond what their launchers and rounds explain. `None` for fewer than two runs.
    pub between_runs: Option<f64>,
    /// Between launchers of one run, beyond what their rounds explain. `None` if no run has two.
    pub between_launchers: Option<f64>,
    /// Between rounds of one launcher. `None` if no launcher has two.
    pub between_rounds: Option<f64>,
}

/// The standard deviation of a variance; zero for a negative one.
pub fn deviation(variance: f64) -> f64 {
    variance.max(0.0).sqrt()
}

/// The sums of one level: the mean of its members' logarithms, and their number.
struct LevelMean {
    mean: f64,
    count: f64,
}

impl LevelMean {
    fn of(parts: &[LevelMean]) -> LevelMean {
        let count: f64 = parts.iter().map(|part| part.count).sum();
        LevelMean { mean: parts.iter().map(|part| part.mean * part.count).sum::<f64>() / count, count }
    }

    /// The sum of squares of parts around their common mean.
    fn squares(&self, parts: &[LevelMean]) -> f64 {
        parts.iter().map(|part| part.count * (part.mean - self.mean).powi(2)).sum()
    }

    /// The sum of the squared counts of parts, divided by the count of all.
    fn weight(&self, parts: &[LevelMean]) -> f64 {
        parts.iter().map(|part| part.count.powi(2)).sum::<f64>() / self.count
    }
}

/// The components of positive figures: by run, by launcher of the run, by round of the launcher. Figures that are not
/// positive and finite, and empty levels, are left out. Levels may have different numbers of members: the coefficients
/// are those of Searle, Casella and McCulloch, "Variance components", section 3.6. For equal numbers they are Kalibera
/// and Jones' T².
pub fn components(runs: &[Vec<Vec<f64>>]) -> Components {
    let usable = |figure: &f64| figure.is_finite() && *figure > 0.0;
    let leaf = |figure: &f64| LevelMean { mean: figure.ln(), count: 1.0 };
    let (mut run_means, mut within_launchers, mut within_runs) = (Vec::new(), 0.0, 0.0);
    let (mut launchers, mut runs_weight) = (0.0, 0.0);
    for run in runs {
        let mut launcher_means = Vec::new();
        for launcher in run {
            let rounds: Vec<LevelMean> = launcher.iter().filter(|figure| usable(figure)).map(leaf).collect();
            if rounds.is_empty() {
                continue;
            }
            let mean = LevelMean::of(&rounds);
            within_launchers += mean.squares(&rounds);
            launcher_means.push(mean);
        }
        if launcher_means.is_empty() {
            continue;
        }
        let mean = LevelMean::of(&launcher_means);
        launchers += launcher_means.len() as f64;
        within_runs += mean.squares(&launcher_means);
        runs_weight += mean.weight(&launcher_means);
        run_means.push((mean, launcher_means));
    }
    if run_means.is_empty() {
        return Components::default();
    }
    let all_launchers: Vec<&LevelMean> = run_means.iter().flat_map(|(_, launchers)| launchers).collect();
    let launcher_squares: f64 = all_launchers.iter().map(|launcher| launcher.count.powi(2)).sum();
    let run_means: Vec<LevelMean> = run_means.into_iter().map(|(mean, _)| mean).collect();
    let all = LevelMean::of(&run_means);
    let (count, runs) = (all.count, run_means.len() as f64);

    let mean_square = |squares: f64, freedom: f64| (freedom > 0.0).then(|| squares / freedom);
    let between_rounds = mean_square(within_launchers, count - launchers);
    let rounds = between_rounds.unwrap_or(0.0);
    let between_launchers = mean_square(within_runs, launchers - runs).map(|square| {
        // How often the mean square between launchers contains the launchers' variance.
        let times = (count - runs_weight) / (launchers - runs);
        (square - rounds) / times
    });
    let between_runs = mean_square(all.squares(&run_means), runs - 1.0).map(|square| {
        let of_launchers = (runs_weight - launcher_squares / count) / (runs - 1.0);
        let times = (count - all.weight(&run_means)) / (runs - 1.0);
        (square - rounds - of_launchers * between_launchers.unwrap_or(0.0)) / times
    });
    Components { between_runs, between_launchers, between_rounds }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::statistics::normal;

    /// Figures around 1,000 whose logarithms have these standard deviations between runs, launchers and rounds.
    fn simulated(seed: u64, deviations: [f64; 3], shape: &[Vec<usize>]) -> Vec<Vec<Vec<f64>>> {
        let mut random = fastrand::Rng::with_seed(seed);
        let run = |launchers: &Vec<usize>| {
            let run = deviations[0] * normal(&mut random);
            let mut launcher = |rounds: &usize| {
                let launcher = run + deviations[1] * normal(&mut random);
                (0..*rounds).map(|_| 1000.0 * (launcher + deviations[2] * normal(&mut random)).exp()).collect()
            };
            launchers.iter().map(&mut launcher).collect()
        };
        shape.iter().map(run).collect()
    }

    /// The mean of each component over many simulations: estimates by moments are right on average.
    fn on_average(deviations: [f64; 3], shape: &[Vec<usize>]) -> [f64; 3] {
        const TIMES: u64 = 2000;
        let mut sums = [0.0; 3];
        for seed in 0..TIMES {
            let found = components(&simulated(seed, deviations, shape));
            let parts = [found.between_runs, found.between_launchers, found.between_rounds];
            sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part.unwrap_or(f64::NAN));
        }
        sums.map(|sum| sum / TIMES as f64)
    }

    fn assert_near(found: [f64; 3], deviations: [f64; 3]) {
        let largest = deviations.iter().fold(0.0_f64, |most, deviation| most.max(deviation * deviation));
        for (found, deviation) in found.iter().zip(deviations) {
            let known = deviation * deviation;
            assert!((found - known).abs() < 0.07 * known + 0.02 * largest, "{found} is not {known}");
        }
    }

    #[test]
    fn known_components_are_found() {
        let shape = &vec![vec![4; 3]; 10];
        for deviations in [[0.02, 0.01, 0.005], [0.003, 0.01, 0.02], [0.01, 0.01, 0.01]] {
            assert_near(on_average(deviations, shape), deviations);
        }
    }

    #[test]
    fn components_that_are_nothing_are_nothing_on_average_and_sometimes_negative() {
        let shape = &vec![vec![3; 2]; 6];
        assert_near(on_average([0.0, 0.0, 0.01], shape), [0.0, 0.0, 0.01]);
        assert_near(on_average([0.02, 0.0, 0.01], shape), [0.02, 0.0, 0.01]);
        assert_near(on_average([0.0, 0.02, 0.0], shape), [0.0, 0.02, 0.0]);
        let negative = (0..100).filter(|seed| {
            components(&simulated(*seed, [0.0, 0.0, 0.01], shape)).between_runs.is_some_and(|part| part < 0.0)
        });
        assert!((30..80).contains(&negative.count()));
    }

    #[test]
    fn unequal_numbers_and_few_rounds_do_not_matter_on_average() {
        let shape = &[vec![1, 2], vec![3], vec![2, 1, 1], vec![5, 1], vec![2, 2]];
        assert_near(on_average([0.02, 0.01, 0.01], shape), [0.02, 0.01, 0.01]);
    }

    #[test]
    fn equal_numbers_give_what_is_worked_by_hand() {
        let run = |values: [[f64; 2]; 2]| values.map(|launcher| launcher.map(f64::exp).to_vec()).to_vec();
        let found = components(&[run([[0.0, 2.0], [4.0, 6.0]]), run([[10.0, 12.0], [14.0, 16.0]])]);
        // Rounds: four launchers with squares of 2 over four degrees of freedom. Launchers: means 1, 5 and 11, 15, so
        // squares of 2 x (4 + 4) twice over two: 16 = 2 + 2 x 7. Runs: means 3 and 13, 4 x 2 x 25 over one:
        // 200 = 2 + 2 x 7 + 4 x 46.
        let near = |part: Option<f64>, wanted: f64| {
            assert!(part.is_some_and(|part| (part - wanted).abs() < 1e-9), "{found:?}")
        };
        near(found.between_rounds, 2.0);
        near(found.between_launchers, 7.0);
        near(found.between_runs, 46.0);
    }

    #[test]
    fn what_cannot_be_separated_is_in_the_level_above() {
        let one_launcher = &vec![vec![6]; 40];
        let mut found = (0.0, 0.0);
        for seed in 0..200 {
            let parts = components(&simulated(seed, [0.01, 0.02, 0.03], one_launcher));
            assert_eq!(parts.between_launchers, None);
            found.0 += parts.between_runs.expect("forty runs") / 200.0;
            found.1 += parts.between_rounds.expect("six rounds") / 200.0;
        }
        assert!((found.0 / (0.01_f64.powi(2) + 0.02_f64.powi(2)) - 1.0).abs() < 0.05, "{found:?}");
        assert!((found.1 / 0.03_f64.powi(2) - 1.0).abs() < 0.05, "{found:?}");

        let one_round = components(&simulated(1, [0.0, 0.01, 0.01], &vec![vec![1; 3]; 400]));
        assert_eq!(one_round.between_rounds, None);
        let both = one_round.between_launchers.expect("three launchers");
        assert!((both / 2e-4 - 1.0).abs() < 0.15, "{both}");

        let one_run = components(&[vec![vec![1.0, 1.1], vec![1.2, 1.3]]]);
        assert_eq!(one_run.between_runs, None);
        assert!(one_run.between_launchers.is_some() && one_run.between_rounds.is_some());
        assert_eq!(components(&[vec![vec![1.0]]]), Components::default());
    }

    #[test]
    fn nothing_and_figures_without_a_logarithm_are_left_out() {
        assert_eq!(components(&[]), Components::default());
        assert_eq!(components(&[vec![], vec![vec![]], vec![vec![-1.0, f64::NAN, 0.0]]]), Components::default());
        let clean = simulated(5, [0.01; 3], &vec![vec![3; 2]; 3]);
        let mut dirty = clean.clone();
        dirty[1][0].extend([f64::INFINITY, -3.0]);
        dirty[2].push(vec![0.0]);
        dirty.push(Vec::new());
        assert_eq!(components(&dirty), components(&clean));
    }

    #[test]
    fn figures_that_are_all_alike_have_no_components() {
        let found = components(&vec![vec![vec![7.0; 3]; 2]; 4]);
        for part in [found.between_runs, found.between_launchers, found.between_rounds] {
            assert!(part.is_some_and(|part| part.abs() < 1e-20), "{found:?}");
        }
        assert_eq!([deviation(4.0), deviation(-4.0)], [2.0, 0.0]);
    }
}
