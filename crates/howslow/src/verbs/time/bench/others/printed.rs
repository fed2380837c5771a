//! What other harnesses print, as times of their benchmarks in ns.

use std::collections::BTreeMap;

use store::exchange::google_json;

use super::harness::Harness;

/// The time of each benchmark in this output; `None` for one that is printed without a time, as what failed is.
pub(super) fn times(harness: Harness, text: &str) -> BTreeMap<String, Option<f64>> {
    let times = match harness {
        Harness::Own => BTreeMap::new(),
        Harness::Criterion => criterion(text),
        Harness::Divan => divan(text),
        Harness::Google => return google(text),
        Harness::Go => go(text),
    };
    times.into_iter().map(|(name, ns)| (name, Some(ns))).collect()
}

/// `name  time:   [1.0 ns 1.1 ns 1.2 ns]`; a long name stands on the line before. Taken is the estimate in the middle.
fn criterion(text: &str) -> BTreeMap<String, f64> {
    let (mut times, mut before) = (BTreeMap::new(), "");
    for line in text.lines() {
        if let Some((name, rest)) = line.rsplit_once("time:   [") {
            let name = if name.trim().is_empty() { before } else { name.trim() };
            let words: Vec<&str> = rest.trim().trim_end_matches(']').split_whitespace().collect();
            if let [_, _, value, unit, _, _] = words.as_slice()
                && let Some(ns) = time(value, unit)
            {
                times.insert(name.to_owned(), ns);
            }
        } else if !line.starts_with(' ') && !line.trim().is_empty() && !line.starts_with("Benchmarking") {
            before = line.trim();
        }
    }
    times
}

/// A tree whose columns are fastest, slowest, median, mean. Taken is the median.
fn divan(text: &str) -> BTreeMap<String, f64> {
    let (mut times, mut path) = (BTreeMap::new(), Vec::<String>::new());
    for line in text.lines() {
        let Some(place) = line.find("├─ ").or_else(|| line.find("╰─ ")) else { continue };
        let depth = line[..place].chars().count() / 3;
        let mut cells = line[place + "├─ ".len()..].split('│');
        let first = cells.next().unwrap_or_default().trim_end();
        let name = first.split("  ").next().unwrap_or_default().trim();
        path.truncate(depth);
        path.push(name.to_owned());
        let median = cells.nth(1).map(|cell| cell.split_whitespace().collect::<Vec<_>>()).unwrap_or_default();
        if let [value, unit] = median.as_slice()
            && let Some(ns) = time(value, unit)
        {
            times.insert(path.join("/"), ns);
        }
    }
    times
}

/// JSON of its own. Aggregates are left out; what failed has the time 0, or none.
fn google(text: &str) -> BTreeMap<String, Option<f64>> {
    let document: serde_json::Value = serde_json::from_str(&google_json(text)).unwrap_or_default();
    let mut times = BTreeMap::<String, Option<f64>>::new();
    for one in document["benchmarks"].as_array().into_iter().flatten() {
        let is_run = one["run_type"].as_str().is_none_or(|kind| kind == "iteration");
        let (Some(name), true) = (one["name"].as_str(), is_run) else { continue };
        let ns = || Some(one["real_time"].as_f64()? * scale(one["time_unit"].as_str()?)?);
        let known = times.entry(name.to_owned()).or_default();
        *known = ns().filter(|ns| *ns > 0.0).or(*known);
    }
    times
}

/// `BenchmarkName-2   1000   61.2 ns/op   ...`.
fn go(text: &str) -> BTreeMap<String, f64> {
    let named_time = |line: &str| {
        let mut words = line.split_whitespace();
        let name = words.next().filter(|name| name.starts_with("Benchmark"))?;
        let words: Vec<&str> = words.collect();
        let at = words.iter().position(|word| *word == "ns/op")?;
        Some((name.to_owned(), words.get(at.checked_sub(1)?)?.parse().ok()?))
    };
    text.lines().filter_map(named_time).collect()
}

fn time(value: &str, unit: &str) -> Option<f64> {
    Some(value.parse::<f64>().ok()? * scale(unit)?)
}

/// The nanoseconds of a unit.
fn scale(unit: &str) -> Option<f64> {
    match unit {
        "ps" => Some(1e-3),
        "ns" => Some(1.0),
        "us" | "µs" | "μs" => Some(1e3),
        "ms" => Some(1e6),
        "s" => Some(1e9),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(harness: Harness, text: &str) -> Vec<(String, f64)> {
        times(harness, text).into_iter().filter_map(|(name, ns)| Some((name, ns?))).collect()
    }

    /// Each text was printed by programs of criterion 0.5.1, divan 0.1.21, Google Benchmark 1.7.1 and Go 1.26.8, run as howslow does.
    #[test]
    fn each_harness_prints_its_times_in_its_own_way() {
        let named = |expected: &[(&str, f64)]| -> Vec<(String, f64)> {
            expected.iter().map(|(name, ns)| ((*name).to_owned(), *ns)).collect()
        };
        let criterion = [
            ("a group of benchmarks/with a long name/1024", 54.657),
            ("a group of benchmarks/with a long name/16", 40.55),
            ("fib 20", 7.7446),
            ("slow: time: [ms]", 2.0848 * 1e6),
        ];
        assert_eq!(read(Harness::Criterion, include_str!("printed/criterion.txt")), named(&criterion));
        let divan = [
            ("fibonacci/10", 2.818),
            ("fibonacci/1000", 532.9),
            ("nested/counted/t=1", 12.75),
            ("nested/counted/t=2", 13.86),
            ("nested/makes/String", 0.314),
            ("nested/makes/Vec<u8>", 0.314),
            ("slow", 2.086 * 1e6),
        ];
        assert_eq!(read(Harness::Divan, include_str!("printed/divan.txt")), named(&divan));
        let google = read(Harness::Google, include_str!("printed/google.json"));
        let names: Vec<&str> = google.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["BM_vector/1024", "BM_vector/8", "repeated/\"quoted\"/64/repeats:2"]);
        assert!((google[1].1 - 82.580_183_640_011_6).abs() < 1e-9, "{google:?}");
        let go = [
            ("BenchmarkAlloc-2", 147.8),
            ("BenchmarkLogs-2", 1.097),
            ("BenchmarkSum/n=10-2", 38.92),
            ("BenchmarkSum/n=1000-2", 3254.0),
        ];
        assert_eq!(read(Harness::Go, include_str!("printed/go.txt")), named(&go));
    }
}
