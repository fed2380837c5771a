//! Several costs of one run, such as routines or commands: how many times as long each takes as one of them.

use analysis::relative::{Relative, relative};
use analysis::statistics::Interval;
use record::units::percent;
use record::{Cost, TimedRatio, printable};

use crate::text::Style;

/// What a command's name begins with.
const COMMAND: &str = "command: ";

/// How many times as long each of these costs takes as the base, the fastest first. Without a base, the one that takes least
/// is it. Empty for fewer than two costs.
pub fn ratios(costs: &[&Cost], base: Option<&Cost>) -> Vec<TimedRatio> {
    others(costs, base).map_or_else(Vec::new, |(base, others)| others.iter().map(|other| ratio(base, other)).collect())
}

/// The same as one sentence each.
pub fn relatives(costs: &[&Cost], base: Option<&Cost>, style: Style) -> String {
    let Some((base, others)) = others(costs, base) else { return String::new() };
    let mut text = String::from("\n");
    for other in others {
        text += &(style.paragraph("", &sentence(base, other)) + "\n");
    }
    let how = "The ratio is that of rounds taken in turn; another run's lies within ± 95 times in 100.";
    text + &style.dim(&style.paragraph("", how)) + "\n"
}

/// The base, and the other costs, the fastest first.
fn others<'c>(costs: &[&'c Cost], base: Option<&'c Cost>) -> Option<(&'c Cost, Vec<&'c Cost>)> {
    let fastest = || costs.iter().copied().filter(|cost| is_told(cost)).min_by(|one, other| by_time(one, other));
    let base = base.or_else(fastest).filter(|_| costs.len() > 1)?;
    let mut others: Vec<&Cost> = costs.iter().copied().filter(|cost| !std::ptr::eq(*cost, base)).collect();
    others.sort_by(|one, other| by_time(one, other));
    Some((base, others))
}

fn ratio(base: &Cost, other: &Cost) -> TimedRatio {
    let (ratio, pairs) = match relative(base, other) {
        Relative::Times { ratio, pairs } => (Some(ratio), pairs as u32),
        _ => (None, 0),
    };
    TimedRatio {
        operation: other.operation.clone(),
        at: other.at.clone(),
        base: base.operation.clone(),
        base_at: base.at.clone(),
        ratio: ratio.as_ref().map(|ratio| ratio.value),
        low: ratio.as_ref().map(|ratio| ratio.low),
        high: ratio.as_ref().map(|ratio| ratio.high),
        pairs,
    }
}

fn by_time(one: &Cost, other: &Cost) -> std::cmp::Ordering {
    one.quoted().0.total_cmp(&other.quoted().0)
}

/// True if it can be the base: its time is distinguishable from nothing.
fn is_told(cost: &Cost) -> bool {
    cost.quoted().0 > 0.0 && !cost.holds_zero()
}

/// `'sort -u a' takes 1.05 ± 0.01 times as long as 'sort a'`.
fn sentence(base: &Cost, other: &Cost) -> String {
    let [one, two] = [other, base].map(name);
    match relative(base, other) {
        Relative::Times { ratio, .. } if ratio.low > 1.0 || ratio.high < 1.0 => {
            format!("{one} takes {} times as long as {two}", plus_minus(&ratio))
        }
        Relative::Times { ratio, .. } => {
            let within = (ratio.high - 1.0).max(1.0 - ratio.low);
            format!("{one} takes as long as {two}, within {}", percent(within))
        }
        Relative::HoldsZero => {
            format!("{one} and {two} cannot be compared: one of them cannot be told from its baseline")
        }
        Relative::FewPairs => format!("{one} and {two} cannot be compared: too few rounds; raise --budget or --rounds"),
    }
}

fn name(cost: &Cost) -> String {
    match printable(&cost.operation).strip_prefix(COMMAND) {
        Some(command) => format!("'{command}'"),
        None => format!("'{}'", printable(&cost.typed())),
    }
}

/// `1.05 ± 0.01`: as many decimals as the interval carries.
fn plus_minus(ratio: &Interval) -> String {
    const MOST: f64 = 4.0;
    let half = (ratio.high - ratio.value).max(ratio.value - ratio.low);
    let decimals = (-half.log10().floor()).clamp(0.0, MOST) as usize;
    format!("{:.decimals$} ± {half:.decimals$}", ratio.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_has_the_decimals_that_it_carries() {
        let told = |value: f64, half: f64| plus_minus(&Interval { value, low: value - half, high: value + half });
        assert_eq!(told(1.0512, 0.0123), "1.05 ± 0.01");
        assert_eq!(told(1.05126, 0.0021), "1.051 ± 0.002");
        assert_eq!(told(2.44, 0.31), "2.4 ± 0.3");
        assert_eq!(told(25.4, 3.1), "25 ± 3");
        assert_eq!(told(1254.0, 31.0), "1254 ± 31");
        assert_eq!(told(1.0, 0.0), "1.0000 ± 0.0000");
    }
}
