//! Printed figures as numbers. Their digits show how exact they are.

/// Nanoseconds in a millisecond.
pub(super) const MS: f64 = 1e6;

/// A figure and the uncertainty of its digits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PrintedFigure {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl PrintedFigure {
    /// `1.36`: half a unit of the last digit to either side.
    ///
    /// `4-5`: several alternatives or a range, from one to the other. It is quoted at the geometric mean, because
    /// books are compared by ratios and both ends have the same ratio to this mean.
    pub(super) fn of(text: &str) -> Option<PrintedFigure> {
        if let Some((low, high)) = text.split_once('-') {
            let (low, high) = (number(low)?, number(high)?);
            return (0.0 < low && low <= high).then(|| PrintedFigure { value: (low * high).sqrt(), low, high });
        }
        let (value, open) = (positive(text).ok()?, rounding(text));
        Some(PrintedFigure { value, low: value - open, high: value + open })
    }

    /// A whole number of cycles is exact, because a pipeline has no others.
    pub(super) fn cycles(text: &str) -> Option<PrintedFigure> {
        let figure = PrintedFigure::of(text)?;
        let whole = !text.contains(['.', '-']);
        Some(if whole { PrintedFigure { low: figure.value, high: figure.value, ..figure } } else { figure })
    }

    pub(super) fn times(self, factor: f64) -> PrintedFigure {
        PrintedFigure { value: self.value * factor, low: self.low * factor, high: self.high * factor }
    }

    /// The uncertainty, as a share of the figure.
    pub(super) fn open(self) -> f64 {
        (self.high - self.low) / self.value
    }

    /// `over` divided by the figure.
    pub(super) fn under(self, over: f64) -> PrintedFigure {
        PrintedFigure { value: over / self.value, low: over / self.high, high: over / self.low }
    }
}

/// Digits with at most one point among them: `832`, `.77`.
pub(crate) fn number(text: &str) -> Option<f64> {
    let plain = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    text.parse().ok().filter(|_| plain)
}

/// A number above 0. Fails with a sentence if it is none.
pub(super) fn positive(text: &str) -> Result<f64, String> {
    number(text).filter(|figure| *figure > 0.0).ok_or_else(|| format!("{text} is not a positive number"))
}

/// Digits after the point.
pub(crate) fn decimals(text: &str) -> usize {
    text.split_once('.').map_or(0, |(_, digits)| digits.len())
}

/// Half a unit of the last digit.
fn rounding(text: &str) -> f64 {
    0.5 * 0.1_f64.powi(decimals(text) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_whole_cycles() {
        assert_eq!(PrintedFigure::of("4-9"), Some(PrintedFigure { value: 6.0, low: 4.0, high: 9.0 }));
        assert_eq!(PrintedFigure::of("0.5"), Some(PrintedFigure { value: 0.5, low: 0.45, high: 0.55 }));
        assert_eq!(PrintedFigure::cycles("4"), Some(PrintedFigure { value: 4.0, low: 4.0, high: 4.0 }));
        assert_eq!(PrintedFigure::cycles("4-9"), PrintedFigure::of("4-9"));
        assert_eq!(PrintedFigure::cycles("0.5"), PrintedFigure::of("0.5"));
        for wrong in ["", "-", "4-", "-4", "9-4", "0", "0-4", "4-5-6", "<4", "1e3", "inf", "1.2.3"] {
            assert_eq!(PrintedFigure::of(wrong), None, "{wrong}");
        }
        assert_eq!((number(".77"), decimals(".77")), (Some(0.77), 2));
    }
}
