//! What other harnesses print, as times of their benchmarks in ns.

use std::collections::BTreeMap;

use super::harness::Harness;

/// The time of each benchmark in this output.
pub(super) fn times(harness: Harness, text: &str) -> BTreeMap<String, f64> {
    match harness {
        Harness::Own => BTreeMap::new(),
        Harness::Criterion => criterion(text),
        Harness::Divan => divan(text),
        Harness::Google => google(text),
        Harness::Go => go(text),
    }
}

/// `name  time:   [1.0 ns 1.1 ns 1.2 ns]`; a long name stands on the line before. Taken is the estimate in the middle.
fn criterion(text: &str) -> BTreeMap<String, f64> {
    let (mut times, mut before) = (BTreeMap::new(), "");
    for line in text.lines() {
        if let Some((name, rest)) = line.split_once("time:") {
            let name = if name.trim().is_empty() { before } else { name.trim() };
            let words: Vec<&str> = rest.trim().trim_matches(['[', ']']).split_whitespace().collect();
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

/// JSON of its own. Aggregates are left out.
fn google(text: &str) -> BTreeMap<String, f64> {
    let document: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let of = |one: &serde_json::Value| {
        let is_run = one["run_type"].as_str().is_none_or(|kind| kind == "iteration");
        let ns = time(&one["real_time"].as_f64()?.to_string(), one["time_unit"].as_str()?)?;
        is_run.then_some((one["name"].as_str()?.to_owned(), ns))
    };
    document["benchmarks"].as_array().into_iter().flatten().filter_map(of).collect()
}

/// `BenchmarkName-2   1000   61.2 ns/op   ...`.
fn go(text: &str) -> BTreeMap<String, f64> {
    let of = |line: &str| {
        let mut words = line.split_whitespace();
        let name = words.next().filter(|name| name.starts_with("Benchmark"))?;
        let words: Vec<&str> = words.collect();
        let at = words.iter().position(|word| *word == "ns/op")?;
        Some((name.to_owned(), words.get(at.checked_sub(1)?)?.parse().ok()?))
    };
    text.lines().filter_map(of).collect()
}

fn time(value: &str, unit: &str) -> Option<f64> {
    let scale = match unit {
        "ps" => 1e-3,
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    value.parse::<f64>().ok().map(|value| value * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(harness: Harness, text: &str) -> Vec<(String, f64)> {
        times(harness, text).into_iter().collect()
    }

    #[test]
    fn each_harness_prints_its_times_in_its_own_way() {
        let criterion = "\
Benchmarking fib 20: Collecting 10 samples in estimated 0.1 s (1000 iterations)
fib 20                  time:   [10.812 µs 10.839 µs 10.870 µs]
                        change: [-1.2% -0.5% +0.1%] (p = 0.2 > 0.05)
a group of benchmarks/with a long name/1024
                        time:   [1.5000 ms 1.6000 ms 1.7000 ms]
Found 1 outliers among 10 measurements (10.00%)
";
        let long = "a group of benchmarks/with a long name/1024".to_owned();
        assert_eq!(of(Harness::Criterion, criterion), [(long, 1.6e6), ("fib 20".into(), 10839.0)]);
        let divan = "\
Timer precision: 20 ns
sums           fastest       │ slowest       │ median        │ mean          │ samples │ iters
├─ fibonacci                 │               │               │               │         │
│  ├─ 10       52.5 ns       │ 60.1 ns       │ 53.1 ns       │ 54 ns         │ 100     │ 1600
│  ╰─ 20       6.5 µs        │ 7.1 µs        │ 6.6 µs        │ 6.7 µs        │ 100     │ 100
╰─ plain       1.2 ns        │ 1.9 ns        │ 1.25 ns       │ 1.3 ns        │ 100     │ 409600
";
        let names = ["fibonacci/10", "fibonacci/20", "plain"].map(String::from);
        let expected: Vec<(String, f64)> = names.into_iter().zip([53.1, 6600.0, 1.25]).collect();
        assert_eq!(of(Harness::Divan, divan), expected);
        let google = r#"{"benchmarks":[{"name":"BM_a/8","run_type":"iteration","real_time":2.5,"time_unit":"us"},
            {"name":"BM_a/8_mean","run_type":"aggregate","real_time":9.0,"time_unit":"us"}]}"#;
        assert_eq!(of(Harness::Google, google), [("BM_a/8".into(), 2500.0)]);
        let go = "goos: linux\nBenchmarkSum/n=10-2   \t 1000\t  61.25 ns/op\t  8 B/op\nPASS\n";
        assert_eq!(of(Harness::Go, go), [("BenchmarkSum/n=10-2".into(), 61.25)]);
    }
}
