//! Several costs of one run, such as routines or commands: how many times as long each takes as one of them.

use analysis::compare::Verdict;
use analysis::lockstep::Lockstep;
use analysis::relative::{ComparedTime, Relative, relative};
use analysis::statistics::Interval;
use record::{COMMAND, Cost, Nanoseconds, TimedRatio, printable};

use crate::interval::signed;
use crate::text::Style;

/// How many times as long each of these costs takes as the base, the fastest first. Without a base, the one that takes least
/// is it. Empty for fewer than two costs.
pub fn ratios(costs: &[&Cost], base: Option<&Cost>) -> Vec<TimedRatio> {
    others(costs, base)
        .map_or_else(Vec::new, |(base, others)| others.iter().map(|other| ratio(base, other, spent_s(costs))).collect())
}

/// The same for people: who takes longer, by how much, what the difference consists of, and the command that shows why.
pub fn relatives(costs: &[&Cost], base: Option<&Cost>, style: Style) -> String {
    let Some((base, others)) = others(costs, base) else { return String::new() };
    let spent = spent_s(costs);
    let mut text = String::new();
    for other in &others {
        let found = relative(base, other);
        text += &style.headline(&sentence(base, other, &found, spent));
        let is_change = matches!(&found, Relative::Times { found, .. } if found.verdict.is_change());
        if is_change && [base, other].iter().all(|cost| cost.is_command()) {
            text += &style.paragraph("  ", &format!("  {}", parts(base, other)));
            text += &style.paragraph("  ", &format!("  why: {}", bill(base, other)));
        }
    }
    let how = "Runs alternate and are compared with those of the same moment. In brackets: where the ratio lies, 95 times in 100. \
               Slower and faster mean more than 1 %, and err once in 100.";
    text + &style.aside("", how)
}

/// Seconds of all batches of these costs.
fn spent_s(costs: &[&Cost]) -> f64 {
    let rounds = costs.iter().flat_map(|cost| &cost.rounds);
    rounds.map(|round| round.ns.iter().sum::<f64>() * round.times as f64 / 1e9).sum()
}

/// The base, and the other costs, the fastest first.
fn others<'c>(costs: &[&'c Cost], base: Option<&'c Cost>) -> Option<(&'c Cost, Vec<&'c Cost>)> {
    let distinguishable = costs.iter().copied().filter(|cost| cost.quoted().0 > 0.0 && !cost.holds_zero());
    let base = base.or_else(|| distinguishable.min_by(|one, other| by_time(one, other))).filter(|_| costs.len() > 1)?;
    let mut others: Vec<&Cost> = costs.iter().copied().filter(|cost| !std::ptr::eq(*cost, base)).collect();
    others.sort_by(|one, other| by_time(one, other));
    Some((base, others))
}

fn ratio(base: &Cost, other: &Cost, spent: f64) -> TimedRatio {
    let (ratio, pairs, verdict, more, time) = match relative(base, other) {
        Relative::Times { found: Lockstep { ratio, blocks, verdict, more }, time } => {
            (Some(ratio), blocks as u32, verdict, more, time)
        }
        _ => (None, 0, Verdict::Inconclusive, None, ComparedTime::Elapsed),
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
        verdict: Some(verdict.word().into()),
        processor_time: time == ComparedTime::Processor,
        settled_after_s: more.map(|more| (more * spent).ceil()),
    }
}

fn by_time(one: &Cost, other: &Cost) -> std::cmp::Ordering {
    one.quoted().0.total_cmp(&other.quoted().0)
}

/// `'sort -u a' is slower than 'sort a': it takes 1.05 times as long (1.04 - 1.06)`.
fn sentence(base: &Cost, other: &Cost, found: &Relative, spent: f64) -> String {
    /// An interval that spans more than this factor means nothing.
    const NOTHING: f64 = 4.0;
    let [one, two] = [other, base].map(name);
    let Relative::Times { found: Lockstep { ratio, verdict, more, .. }, time } = found else {
        return match found {
            Relative::HoldsZero => {
                format!("{one} and {two} cannot be compared: one of them cannot be told from its baseline")
            }
            _ => format!("{one} and {two} cannot be compared: too few rounds; raise --budget or --rounds"),
        };
    };
    let by = match time {
        ComparedTime::Elapsed => "",
        ComparedTime::Processor => "; by processor time, because other programs took the CPU away",
    };
    let times = times_as_long(ratio);
    let text = match verdict {
        Verdict::Slower => format!("{one} is slower than {two}: it takes {times}"),
        Verdict::Faster => format!("{one} is faster than {two}: it takes {times}"),
        Verdict::Same => format!("{one} and {two} are the same within 1 %: {times}"),
        Verdict::Inconclusive | Verdict::Unknown => {
            let more = match more {
                Some(more) => {
                    format!("about {} of runs would tell (--budget)", Nanoseconds((more * spent).ceil() * 1e9))
                }
                None => "a quieter machine would tell".into(),
            };
            match ratio.high > NOTHING * ratio.low {
                true => {
                    format!("inconclusive: {one} and {two} cannot be told apart, the runs scatter too much; {more}")
                }
                false => format!("inconclusive: {one} takes {times} as {two}; {more}"),
            }
        }
    };
    text + by
}

/// What the difference of a run consists of, by the means of both.
fn parts(base: &Cost, other: &Cost) -> String {
    let elapsed = |cost: &Cost| cost.cpu_ns.user.0 + cost.cpu_ns.system.0 + cost.wait_ns.0;
    format!(
        "{} a run on average: user {}, kernel {}, waiting {}",
        signed(elapsed(other) - elapsed(base)),
        signed(other.cpu_ns.user.0 - base.cpu_ns.user.0),
        signed(other.cpu_ns.system.0 - base.cpu_ns.system.0),
        signed(other.wait_ns.0 - base.wait_ns.0)
    )
}

/// The command that shows what one of two commands requests of the kernel that the other does not.
fn bill(base: &Cost, other: &Cost) -> String {
    let [base, other] = [base, other].map(|cost| printable(cost.operation.strip_prefix(COMMAND).unwrap_or_default()));
    format!("howslow bill --repeat 9 --against '{}' -- {other}", base.replace('\'', r"'\''"))
}

fn name(cost: &Cost) -> String {
    match printable(&cost.operation).strip_prefix(COMMAND) {
        Some(command) => format!("'{command}'"),
        None => format!("'{}'", printable(&cost.typed())),
    }
}

/// `1.052 times as long (1.041 - 1.063)`: as many decimals as the interval carries.
fn times_as_long(ratio: &Interval) -> String {
    const MOST: f64 = 4.0;
    let half = (ratio.high - ratio.value).max(ratio.value - ratio.low);
    let decimals = (1.0 - half.log10().floor()).clamp(0.0, MOST) as usize;
    format!("{:.decimals$} times as long ({:.decimals$} - {:.decimals$})", ratio.value, ratio.low, ratio.high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_has_the_decimals_that_it_carries() {
        let reported = |value: f64, half: f64| times_as_long(&Interval::around(value, half));
        assert_eq!(reported(1.0512, 0.0123), "1.051 times as long (1.039 - 1.063)");
        assert_eq!(reported(1.05126, 0.0021), "1.0513 times as long (1.0492 - 1.0534)");
        assert_eq!(reported(2.44, 0.31), "2.44 times as long (2.13 - 2.75)");
        assert_eq!(reported(25.4, 3.1), "25.4 times as long (22.3 - 28.5)");
        assert_eq!(reported(1254.0, 31.0), "1254 times as long (1223 - 1285)");
    }
}
