//! Where bills have their prices from: measured for the first bill, kept apart from the user's runs, used by later ones.

use predicates::prelude::*;
use predicates::str::{contains, is_empty};
use tempfile::TempDir;

use crate::support::{folder, howslow};

const WORDS: [&str; 7] = ["bill", "--source", "accounts", "--", "sh", "-c", "exit 3"];

/// The command as users call it: a bill may measure.
fn measuring(data: &TempDir) -> assert_cmd::Command {
    let mut command = howslow(data);
    command.env_remove("HOWSLOW_PRICES");
    command
}

#[test]
fn the_first_bill_measures_what_it_lacks_and_later_ones_use_it() {
    let data = folder();
    let first = measuring(&data).args(WORDS).assert().code(3);
    first.stderr(contains("for at most 8 s; later bills use them").and(contains("measured for bills")));
    // @1 is the user's.
    howslow(&data).args(["show", "@1"]).assert().code(2).stderr(contains("no run is kept"));
    let second = measuring(&data).args(WORDS).assert().code(3);
    second.stderr(contains("measuring").not().and(contains("measured for bills")));
    // A newer run of something else does not hide the prices, and each of them is named.
    howslow(&data).args(["run", "loop.empty", "--budget", "1s", "--rounds", "2"]).assert().success();
    let all = ["bill", "--source", "accounts", "--all", "--", "sh", "-c", "exit 3"];
    let third = measuring(&data).args(all).assert().code(3);
    third.stderr(contains("measuring").not().and(contains("price: page.fault.anonymous")));
    howslow(&data)
        .args(["bill", "--measure", "--on", "pdp-11-24", "--", "true"])
        .assert()
        .code(2)
        .stderr(contains("another one"));
}

#[test]
fn a_bill_that_is_told_not_to_measure_does_not() {
    let data = folder();
    let words = ["bill", "--no-measure", "--source", "accounts", "--", "true"];
    let bill = measuring(&data).args(words).assert().code(0);
    bill.stderr(contains("measuring").not().and(contains("to measure what is lacking: howslow prices")));
    howslow(&data).args(["bill", "--no-measure", "--measure", "--", "true"]).assert().code(2);
}

#[test]
fn what_a_mix_lacks_is_measured_once_and_priced_elsewhere() {
    let data = folder();
    let (mix, there) = (data.path().join("mix.toml"), data.path().join("there.json"));
    let text = "name = \"m\"\nunit = \"request\"\n[[operation]]\noperation = \"syscall.getppid\"\ntimes = 10\n";
    std::fs::write(&mix, text).expect("written");
    let prices = || {
        let mut command = howslow(&data);
        command.args(["prices", "--budget", "2s", "--for"]).arg(&mix).arg("-o").arg(&there);
        command.assert()
    };
    prices().code(0).stderr(contains("measuring 1 price ")).stdout(contains("there.json"));
    prices().code(0).stderr(is_empty()).stdout(contains("none was lacking"));
    // Another machine knows nothing but the file.
    let elsewhere = folder();
    let predict = |on: &str| howslow(&elsewhere).arg("predict").arg(&mix).args(["--on", on]).assert();
    predict(&there.display().to_string()).code(0).stdout(contains("syscall.getppid"));
    let id = record::read_run(&there).expect("a run").id;
    howslow(&data).arg("predict").arg(&mix).args(["--on", &id]).assert().code(0);
    predict(&id).code(2).stderr(contains(id));
}

#[test]
fn a_mix_that_is_none_and_a_file_that_cannot_be_written_are_misuse() {
    let data = folder();
    let prices = |words: &[&str]| howslow(&data).arg("prices").args(words).assert().code(2).stdout(is_empty());
    prices(&["--for", "no-such-mix"]).stderr(contains("neither a file nor a mix"));
    let mix = data.path().join("mix.toml");
    std::fs::write(&mix, "name = \"m\"\nunit = \"u\"\n[[operation]]\noperation = \"no.such\"\ntimes = 1\n")
        .expect("written");
    prices(&["--for", &mix.display().to_string()]).stderr(contains("an operation 'no.such'"));
    std::fs::write(&mix, [0xff, 0xfe, 0]).expect("written");
    prices(&["--for", &mix.display().to_string()]).stderr(contains("cannot read the mix"));
    prices(&["-o", "/no/such/folder/x.json"]).stderr(contains("-o: "));
    prices(&["--budget", "0s"]).stderr(contains("give a time above 0"));
}
