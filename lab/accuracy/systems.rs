//! Real commands, counted on this machine and predicted on it and under an emulator of its processor.

use record::Nanoseconds;
use record::units::percent;

use crate::two_systems::{self, CommandOnBoth, Laboratory, laboratory, missing};
use crate::{Extent, tool};

const TIMES: u32 = 40;
const BUDGET: u32 = 30;
/// So many lines are sorted and packed, and a fifth as many files found.
const SIZE: usize = 20_000;

pub(crate) fn systems(extent: &Extent) -> anyhow::Result<()> {
    if let Some(missing) = missing() {
        tool::skip("commands on two systems", &missing);
        return Ok(());
    }
    let asked = |name: &&str| extent.only.as_ref().is_none_or(|only| name.contains(only));
    let extent = two_systems::Extent {
        names: ["sort", "gzip", "find", "tar", "git", "lighttpd"].into_iter().filter(asked).collect(),
        size: SIZE,
        times: extent.times(TIMES).max(4) as usize,
        options: vec!["--budget".into(), format!("{}s", extent.budget(BUDGET).as_secs())],
    };
    let Laboratory { commands, compared, code } = laboratory(&extent)?;
    println!("costs under the emulator over native, geometric means by family");
    for family in compared["families"].as_array().into_iter().flatten() {
        if let Some(ratio) = family["ratio"]["value"].as_f64() {
            println!("  {:<42} {ratio:6.2}  of {}", family["family"].as_str().unwrap_or_default(), family["pairs"]);
        }
    }
    println!(
        "a line of code executed for the first time, measured with two programs that do nothing: {}, {}",
        Nanoseconds(code[0]),
        Nanoseconds(code[1])
    );
    println!(
        "processor time       native: measured       sum  residual   emulated: measured predicted   error  without new code  interval"
    );
    commands.iter().for_each(line);
    commands.iter().for_each(factors);
    Ok(())
}

fn line(command: &CommandOnBoth) {
    let [here, there] = command.measured.map(|spent| spent.ns);
    let show = |ns: f64| Nanoseconds(ns).to_string();
    println!(
        "  {:<26} {:>9} {:>9} {:>9} {:>20} {:>9} {:>+6.0} % {:>+15.0} %   {} to {}{}",
        command.name,
        show(here),
        show(command.sums[0]),
        percent((here - command.sums[0]) / here),
        show(there),
        show(command.sums[1]),
        100.0 * (command.sums[1] / there - 1.0),
        100.0 * ((command.sums[1] - command.new_code[1]) / there - 1.0),
        show(command.interval[0]),
        show(command.interval[1]),
        if command.new_code == [0.0; 2] {
            "; it does nothing, and prices new code"
        } else if (command.interval[0]..=command.interval[1]).contains(&there) {
            ""
        } else {
            ", which does not hold it"
        }
    );
}

/// The factors of one command, and what was left out of its sum.
fn factors(command: &CommandOnBoth) {
    let scatter = command.measured.map(|spent| percent(spent.median_ns / spent.ns - 1.0));
    let kinds = command.mix.matches("[[operation]]").count();
    println!(
        "{}: emulated over native, of {kinds} kinds of work (medians lie {} and {} above)",
        command.name, scatter[0], scatter[1]
    );
    for factor in command.compared["factors"].as_array().into_iter().flatten() {
        let value = factor["factor"].as_f64().unwrap_or(f64::NAN);
        println!("  {:<32} {value:6.2}", factor["family"].as_str().unwrap_or_default());
    }
    println!(
        "  what the costs do not explain    {:6.2}",
        command.compared["unexplained"]["value"].as_f64().unwrap_or(f64::NAN)
    );
    command.untold.iter().for_each(|operation| println!("  without an interval under the emulator: {operation}"));
    command.unpriced.iter().for_each(|line| println!("  not priced: {line}"));
}
