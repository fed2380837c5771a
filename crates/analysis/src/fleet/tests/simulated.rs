//! Slow nodes among fleets with measured scatter: how many are found, and how many of those called slow are not.

use testing::fleet::{Fleet, Noise};

use super::support::{How, found_in, score};

const SHARES: [f64; 3] = [0.03, 0.05, 0.10];

fn fleet(seed: u64) -> Fleet {
    let mut fleet = Fleet::new(150, 152, 5, seed);
    fleet.node_scatter = 0.005;
    fleet.plant(9, &SHARES);
    fleet
}

#[test]
fn nodes_that_are_slow_by_five_and_ten_percent_are_found() {
    let (mut called, mut wrong, mut found) = (0, 0, [[0; 2]; 2]);
    for seed in 1..=6 {
        let fleet = fleet(seed);
        let score = score(&fleet, &found_in(&fleet, How::default()));
        called += score.called;
        wrong += score.wrong;
        for (share, counts) in &score.by_share {
            if let Some(place) = [0.05, 0.10].iter().position(|usual| usual == share) {
                found[place][0] += counts[0];
                found[place][1] += counts[1];
            }
        }
    }
    assert!(wrong * 20 <= called + 20, "{wrong} of {called} called slow are not");
    assert_eq!(found[1][0], found[1][1], "all of 10 %: {found:?}");
    assert!(found[0][0] * 10 >= found[0][1] * 9, "nine in ten of 5 %: {found:?}");
}

#[test]
fn nobody_is_called_slow_where_nobody_is_even_if_scatter_is_heavy() {
    for noise in [Noise::Normal, Noise::Heavy] {
        let with_any = (1..=8).filter(|seed| {
            let mut fleet = Fleet { noise, planted: Vec::new(), ..fleet(100 + seed) };
            fleet.nodes = 100;
            !found_in(&fleet, How::default()).slow.is_empty()
        });
        // At a share of 5 %, one fleet in twenty has one.
        let count = with_any.count();
        assert!(count <= 2, "{noise:?}: {count} of 8 fleets");
    }
}
