//! Real commands on two different systems: counted on one, predicted on both, compared with the measured times.

#[path = "../accuracy/two_systems/mod.rs"]
mod two_systems;

use two_systems::{Extent, laboratory, missing};

#[test]
fn commands_are_predicted_on_the_system_they_were_not_counted_on() {
    if let Some(missing) = missing() {
        testing::not_tested!("{missing}");
        return;
    }
    // Small, because the test asserts that everything is counted, priced and compared, not how good the prediction is.
    let options = ["--rounds", "3", "--precision", "50%", "--budget", "24s"].map(String::from).to_vec();
    let extent = Extent { names: vec!["find"], size: 400, times: 3, options };
    let laboratory = laboratory(&extent).expect("both systems are measured");
    assert_eq!(laboratory.commands.len(), 3);
    assert!(laboratory.compared["rows"].as_array().is_some_and(|rows| rows.len() > 10));
    for command in &laboratory.commands {
        let name = command.name;
        assert!(command.unpriced.len() <= 3, "{name}: {:?} have no price", command.unpriced);
        assert!(
            command.sums.iter().chain(&laboratory.code).all(|ns| ns.is_finite() && *ns >= 0.0),
            "{name}: {:?}",
            command.sums
        );
        assert!(command.measured.iter().all(|spent| spent.ns > 0.0 && spent.median_ns >= spent.ns));
        // Those that do nothing serve to measure the cost of new code, which is not added to them.
        assert!(command.new_code.iter().zip(&command.sums).all(|(code, sum)| (0.0..*sum).contains(code)), "{name}");
        assert_eq!(command.new_code == [0.0; 2], name != "find", "{name}");
        let factors = command.compared["factors"].as_array().expect("factors");
        let product: f64 = factors.iter().map(|factor| factor["factor"].as_f64().expect("a number")).product();
        assert!((product / (command.sums[1] / command.sums[0]) - 1.0).abs() < 1e-6, "{name}: {factors:?}");
        let unexplained = command.compared["unexplained"]["value"].as_f64().expect("what the costs do not explain");
        let ratio = command.measured[1].ns / command.measured[0].ns;
        assert!((product * unexplained / ratio - 1.0).abs() < 1e-3, "{name}: {unexplained}");
        assert!(
            (command.interval[0]..=command.interval[1]).contains(&command.sums[1]),
            "{name}: {:?}",
            command.interval
        );
        // A cost of one round has no interval, nor has a prediction that needs it.
        assert!(command.interval[1].is_finite() || !command.untold.is_empty(), "{name}");
        let error = command.sums[1] / command.measured[1].ns - 1.0;
        eprintln!("{name}: predicted on the other system with an error of {:+.0} %", 100.0 * error);
    }
    // Facts about the programs that hold on every machine: they ask for the attributes of each file of a folder.
    let find = &laboratory.commands[2];
    let stats = find.mix.split("operation = \"called.stat@files").skip(1);
    let times = stats.filter_map(|rest| rest.split("times = ").nth(1)?.lines().next()?.parse::<f64>().ok());
    assert!(times.sum::<f64>() >= 80.0, "{}", find.mix);
}
