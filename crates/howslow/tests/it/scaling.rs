//! `howslow scaling`, from the command line.

use predicates::prelude::*;
use predicates::str::contains;

use crate::support::{folder, howslow, json};

/// Short rounds of everything: what is printed, kept and drawn, not how precise it is.
#[test]
fn work_is_measured_on_one_cpu_and_on_all_and_drawn() {
    let data = folder();
    if std::thread::available_parallelism().map_or(1, |cpus| cpus.get()) < 2 {
        howslow(&data).arg("scaling").assert().code(1).stderr(contains("only one CPU may be used"));
        return testing::not_tested!("it takes two CPUs");
    }
    let file = data.path().join("run.json");
    let mut command = howslow(&data);
    command.args(["scaling", "--budget", "1s", "--count", "1", "--svg"]).arg(data.path()).arg("-o").arg(&file);
    let page = contains("speed-up").and(contains("compute")).and(contains("Speed-up by the number of CPUs"));
    command.env("COLUMNS", "100").assert().success().stdout(page);
    let picture = std::fs::read_to_string(data.path().join("scaling.svg")).expect("the chart");
    assert!(picture.starts_with("<svg"), "{picture}");
    // The same from the run.
    let document = json(howslow(&data).args(["scaling", "--json", "--run"]).arg(&file));
    let works = document["works"].as_array().expect("works");
    assert!(works.iter().any(|work| work["operation"] == "scaling.compute"), "{document}");
}
