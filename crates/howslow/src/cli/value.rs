//! Parsers of the values of options: numbers, shares, times and sizes, names of formats.

use clap::builder::{PossibleValue, PossibleValuesParser};

pub(crate) trait Count: std::str::FromStr + PartialOrd + From<u8> {}

impl<T: std::str::FromStr + PartialOrd + From<u8>> Count for T {}

pub(crate) fn whole<T: Count>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| "give a whole number from 0 up that is not too large".into())
}

pub(crate) fn at_least_one<T: Count>(text: &str) -> Result<T, String> {
    let number: T = whole(text)?;
    if number < T::from(1) { Err("give a whole number of at least 1".into()) } else { Ok(number) }
}

/// A whole number between two.
pub(crate) fn between<const LOW: u32, const HIGH: u32>(text: &str) -> Result<u32, String> {
    let number = whole(text).ok().filter(|number| (LOW..=HIGH).contains(number));
    number.ok_or_else(|| format!("give a whole number from {LOW} to {HIGH}"))
}

/// `1%`, `0.5 %`, and the bare `2`, which is 2 %, as a share. A bare number below 1 is refused: it may be meant as a share or
/// as a percentage.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let percentage = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let bare = text.parse::<f64>().ok();
    match (percentage, bare) {
        (Some(number), _) if number > 0.0 && number <= 100.0 => Ok(number / 100.0),
        (None, Some(number)) if (1.0..=100.0).contains(&number) => Ok(number / 100.0),
        (None, Some(number)) if number > 0.0 && number < 1.0 => {
            // Rounded, because a hundred times 0.07 is 7.000000000000001.
            let percent = (number * 1e8).round() / 1e6;
            Err(format!("it may mean {percent} % or {text} %: say {percent}% or {text}%"))
        }
        _ => Err("give a percentage above 0% and up to 100%, such as 1%".into()),
    }
}

/// `60s`, `2m`, `1m 30s`, `500ms` as seconds.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.trim().parse::<jiff::SignedDuration>().map(|time| time.as_secs_f64());
    match seconds {
        Ok(seconds) if seconds > 0.0 && seconds <= 7.0 * 86_400.0 => Ok(seconds),
        _ => Err("give a time above 0 and up to a week with its unit, such as 500ms, 60s or 5m".into()),
    }
}

/// `0s`, `12us`, `28.4ms`, `2min` as seconds.
pub(crate) fn time(text: &str) -> Result<f64, String> {
    let time = record::units::time_of(text).map(|(time, _)| time.0 / 1e9);
    time.filter(|time| (0.0..=1e6).contains(time))
        .ok_or_else(|| "give a time from 0 up with its unit, such as 12us, 28.4ms or 10s".into())
}

/// A name for a run.
pub(crate) fn label(text: &str) -> Result<String, String> {
    store::check_label(text).map(|()| text.to_owned())
}

/// `64MiB`, `4 GiB` as bytes.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let bytes = record::units::bytes_of(text.trim()).filter(|&bytes| bytes > 0 && bytes < 1 << 60);
    bytes.ok_or_else(|| "give a size with its unit, such as 64MiB or 4GiB".into())
}

/// `100ns`, `1.5us`, as nanoseconds.
pub(crate) fn nanoseconds(text: &str) -> Result<f64, String> {
    let time = record::units::time_of(text).map(|(time, _)| time.0);
    time.filter(|time| (1.0..=1e9).contains(time))
        .ok_or_else(|| "say a time from 1ns to 1s with its unit, such as 100ns or 5us".into())
}

/// `1000/s`, `2.5k/s,poisson`: how often something arrives.
pub(crate) fn arrivals(text: &str) -> Result<record::Arrivals, String> {
    const EXPECTED: &str = "say how many a second, from 0.1 to 10 million, such as 1000/s or 1000/s,poisson";
    let (rate, poisson) = match text.trim().split_once(',') {
        None => (text.trim(), false),
        Some((rate, kind)) if kind.trim() == "poisson" => (rate.trim(), true),
        Some(_) => return Err(EXPECTED.into()),
    };
    let number = rate.strip_suffix("/s").ok_or(EXPECTED)?.trim();
    let factors = [("k", 1e3), ("M", 1e6)].into_iter();
    let (number, factor) =
        factors.filter_map(|(unit, factor)| Some((number.strip_suffix(unit)?, factor))).next().unwrap_or((number, 1.0));
    let per_second = number.trim().parse::<f64>().ok().map(|number| number * factor);
    let per_second = per_second.filter(|rate| (0.1..=1e7).contains(rate)).ok_or(EXPECTED)?;
    Ok(record::Arrivals { per_second, poisson })
}

/// `4096`, `64KiB`, `1 MiB`: the size of a record, a multiple of a word.
pub(crate) fn record_bytes(text: &str) -> Result<u64, String> {
    match bytes(text) {
        Some(bytes) if (8.0..=(64 << 20) as f64).contains(&bytes) && bytes % 8.0 == 0.0 => Ok(bytes as u64),
        _ => Err("give a multiple of 8 bytes up to 64MiB, such as 4096 or 64KiB".into()),
    }
}

/// `1..64KiB`, `64..4096` as two numbers, the first less than the second.
pub(crate) fn range(text: &str) -> Result<(u64, u64), String> {
    let number = |text: &str| record::units::bytes_of(text.trim()).or_else(|| text.trim().parse().ok());
    let ends = text.split_once("..").and_then(|(low, high)| number(low).zip(number(high)));
    ends.filter(|(low, high)| low < high)
        .ok_or_else(|| "say the least and the greatest number, such as 64..64KiB".into())
}

/// A number above zero, neither so small nor so large that what is divided by it is none.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    let number = text.trim().parse().ok().filter(|number| (1e-9..=1e18).contains(number));
    number.ok_or_else(|| "give a number from 1e-9 to 1e18, such as 709".into())
}

/// `200MB`, `1.5GiB/s`.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    match bytes(text.trim().trim_end_matches("/s")) {
        Some(rate) if (1e3..=1e12).contains(&rate) => Ok(rate),
        _ => Err("give bytes a second from 1kB to 1TB, such as 200MB".into()),
    }
}

/// A number, optionally with a unit of bytes.
fn bytes(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 9] = [
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("kB", 1e3),
        ("KB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("B", 1.0),
    ];
    let text = text.trim();
    let unit = UNITS.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)));
    let (number, factor) = unit.unwrap_or((text, 1.0));
    number.trim().parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| number * factor)
}

/// The names of formats, each with its help.
pub(crate) fn formats(known: impl Iterator<Item = (&'static str, &'static str)>) -> PossibleValuesParser {
    PossibleValuesParser::new(known.map(|(name, summary)| PossibleValue::new(name).help(summary)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_with_their_units() {
        assert_eq!(["1%", " 0.5 %", "2", "100"].map(share), [Ok(0.01), Ok(0.005), Ok(0.02), Ok(1.0)]);
        assert_eq!(["90s", "1m 30s", "500ms"].map(seconds), [Ok(90.0), Ok(90.0), Ok(0.5)]);
        assert_eq!(["0s", "28.4ms"].map(time), [Ok(0.0), Ok(0.0284)]);
        assert_eq!(size("64MiB"), Ok(64 << 20));
        let read = |text| arrivals(text).map(|arrivals| (arrivals.per_second, arrivals.poisson));
        assert_eq!(read("1000/s"), Ok((1000.0, false)));
        assert_eq!(read(" 2.5 k/s , poisson "), Ok((2500.0, true)));
        assert_eq!(nanoseconds("1.5 us"), Ok(1500.0));
        assert_eq!(["4096", " 64 KiB"].map(record_bytes), [Ok(4096), Ok(65_536)]);
        assert_eq!(["200MB", "1.5 GiB/s"].map(rate), [Ok(2e8), Ok(1.5 * 1_073_741_824.0)]);
        assert_eq!(range("1..64KiB"), Ok((1, 65536)));
    }
}
