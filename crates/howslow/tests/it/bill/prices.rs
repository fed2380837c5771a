//! Where bills have their prices from: measured for the first bill, kept apart from the user's runs, used by later ones.

use predicates::prelude::*;
use predicates::str::{contains, is_empty};
use tempfile::TempDir;

use crate::support::{folder, howslow};

const WORDS: [&str; 8] = ["bill", "--source", "accounts", "--all", "--", "sh", "-c", "exit 3"];

/// The command as users call it: a bill may measure.
fn measuring(data: &TempDir) -> assert_cmd::Command {
    let mut command = howslow(data);
    command.env_remove("HOWSLOW_PRICES");
    command
}

#[test]
fn prices_are_measured_once_and_used_again() {
    the_first_bill_measures_what_it_lacks_and_later_ones_use_it();
    what_a_mix_lacks_is_measured_once_and_priced_elsewhere();
}

fn the_first_bill_measures_what_it_lacks_and_later_ones_use_it() {
    let data = folder();
    let bill = || String::from_utf8(measuring(&data).args(WORDS).assert().code(3).get_output().stderr.clone());
    let first = bill().expect("text");
    assert!(first.contains("for at most 8 s; later bills use them") && first.contains("measured for bills"), "{first}");
    // @1 is the user's.
    howslow(&data).args(["show", "@1"]).assert().code(2).stderr(contains("no run is kept"));
    // Prices of a moment in which another program traced calls are measured again.
    let measures = |text: &str| text.contains("measuring");
    let were_traced = |text: &str| text.contains("while calls were traced");
    let second = bill().expect("text");
    assert!(second.contains("measured for bills") && (!measures(&second) || were_traced(&first)), "{first}{second}");
    // A newer run of something else does not hide the prices, and each of them is named.
    howslow(&data).args(["run", "loop.empty", "--budget", "1s", "--rounds", "2"]).assert().success();
    let third = bill().expect("text");
    assert!(third.contains("price: page.fault.anonymous"), "{third}");
    assert!(!measures(&third) || were_traced(&second), "{second}{third}");
    let words = ["bill", "--measure", "--on", "pdp-11-24", "--", "true"];
    howslow(&data).args(words).assert().code(2).stderr(contains("another one"));
}

/// By `prices`, and by a prediction that lacks them.
fn what_a_mix_lacks_is_measured_once_and_priced_elsewhere() {
    let (data, elsewhere) = (folder(), folder());
    let [mix, there, here] = ["mix.toml", "there.json", "here.json"].map(|name| data.path().join(name));
    let text = "name = \"m\"\nunit = \"request\"\n[[operation]]\noperation = \"syscall.getppid\"\ntimes = 10\n";
    std::fs::write(&mix, text).expect("written");
    let prices = || {
        let mut command = howslow(&data);
        command.args(["prices", "--budget", "2s", "--for"]).arg(&mix).arg("-o").arg(&there).assert().success()
    };
    prices().stderr(contains("measuring 1 price ")).stdout(contains("there.json"));
    // What was measured while another program traced calls is measured again.
    let was_traced = record::read_run(&there).expect("a run").noise.traced;
    let again = prices().stdout(contains("none was lacking"));
    if !was_traced {
        again.stderr(is_empty());
    }
    // Another machine knows nothing but the file.
    let predict = |data: &TempDir, on: &str, more: &[&str]| {
        howslow(data).arg("predict").arg(&mix).args(["--on", on]).args(more).assert()
    };
    let costs = contains("syscall.getppid");
    predict(&elsewhere, &there.display().to_string(), &[]).code(0).stdout(costs.clone());
    let mut run = record::read_run(&there).expect("a run");
    predict(&data, &run.id, &[]).code(0);
    predict(&elsewhere, &run.id, &[]).code(2).stderr(contains(&run.id));
    // A run of this kernel without it, and one of another kernel.
    run.costs.retain(|cost| cost.operation == "loop.empty");
    let written = |run: &record::Run| std::fs::write(&here, serde_json::to_vec(run).expect("JSON")).expect("written");
    written(&run);
    let on = here.display().to_string();
    predict(&elsewhere, &on, &[]).code(2).stderr(contains("lacks 1 of the 1 costs").and(contains("--measure")));
    let measured = predict(&elsewhere, &on, &["--measure"]).code(0).stdout(costs);
    measured.stderr(contains("measuring 1 price of this kernel "));
    run.machine.kernel.release = "1.2.3".into();
    written(&run);
    let refused = predict(&elsewhere, &on, &["--measure"]).code(2).stdout(is_empty());
    refused.stderr(contains("a run of another one"));
}
