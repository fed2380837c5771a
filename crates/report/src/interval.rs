//! A figure and its interval in words.

use analysis::statistics::Interval;
use record::units::percent;
use record::{Figures, Nanoseconds};

/// A figure in a suitable unit. If it cannot be distinguished from zero, its upper end.
pub(crate) fn value_or_bound(figure: &Interval) -> String {
    if figure.is_at_most() && figure.low < figure.high {
        format!("at most {}", Nanoseconds(figure.high))
    } else {
        Nanoseconds(figure.value).to_string()
    }
}

/// Half the interval, if the figure itself is shown; `-` if there is none.
pub(crate) fn half_width(figure: &Interval) -> String {
    match figure.bounded_half() {
        None => "-".into(),
        Some(_) if figure.holds_zero() => String::new(),
        Some(half) => Nanoseconds(half).to_string(),
    }
}

/// `38.0 to 90.1 µs`: the interval itself, if it is wider than a factor of two, so that the digits of the figure mean nothing.
pub(crate) fn range_of_wide(figures: &Figures) -> Option<String> {
    const WIDE: f64 = 2.0;
    let (low, high) = (figures.low, figures.high);
    if !(low.0 > 0.0 && high.0.is_finite() && high.0 > WIDE * low.0) {
        return None;
    }
    Some(ends(&low.to_string(), &high.to_string()))
}

/// `1.20 (1.10 to 1.30)`.
pub(crate) fn with_ends(of: &Interval, text: fn(f64) -> String) -> String {
    let [value, low, high] = [of.value, of.low, of.high].map(text);
    format!("{value} ({low} to {high})")
}

/// Half an interval as a share of its figure; `-` if there is none.
pub(crate) fn half_share(of: &Interval) -> String {
    of.bounded_half().map_or_else(|| "-".into(), |half| percent(half / of.value))
}

/// A change of a time in ns, with its sign.
pub(crate) fn signed(ns: f64) -> String {
    if ns > 0.0 { format!("+{}", Nanoseconds(ns)) } else { Nanoseconds(ns).to_string() }
}

/// A time in ns; `-` if it is not known.
pub(crate) fn time(ns: Option<f64>) -> String {
    ns.map_or_else(|| "-".into(), |ns| Nanoseconds(ns).to_string())
}

/// `low to high`; a unit that both have stands once.
pub(crate) fn ends(low: &str, high: &str) -> String {
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((number, one)), Some((_, other))) if one == other => format!("{number} to {high}"),
        _ => format!("{low} to {high}"),
    }
}

/// How much more or less than 1 a ratio with its ends is: `+5.1 % (4.2 to 6.0)`. Ends that are not known are left out.
pub(crate) fn added([value, low, high]: [f64; 3]) -> String {
    let [value, low, high] = [value, low, high].map(|ratio| (ratio - 1.0) * 100.0);
    match low.is_finite() && high.is_finite() {
        true => format!("{value:+.1} % ({low:.1} to {high:.1})"),
        false => format!("{value:+.1} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_wider_than_a_factor_of_two_is_shown_by_its_ends() {
        let range = |low: f64, high: f64| range_of_wide(&Figures::given(low * 1.2, low, high));
        assert_eq!(range(38_000.0, 90_100.0).as_deref(), Some("38.0 to 90.1 µs"));
        assert_eq!(range(800.0, 3_000.0).as_deref(), Some("800 ns to 3.00 µs"));
        assert_eq!(range(4e8, 1.2e9).as_deref(), Some("400 ms to 1.20 s"));
        assert_eq!(range(100.0, 199.0), None);
        assert_eq!(range(-1.0, 199.0), None);
        assert_eq!(range(100.0, f64::INFINITY), None);
    }
}
