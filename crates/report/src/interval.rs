//! A figure and its interval in words.

use analysis::statistics::Interval;
use record::Nanoseconds;

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
    match figure.told_half() {
        None => "-".into(),
        Some(_) if figure.holds_zero() => String::new(),
        Some(half) => Nanoseconds(half).to_string(),
    }
}
