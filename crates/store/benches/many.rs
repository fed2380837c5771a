//! How long a store takes in and shows the runs of many machines, and with how much memory:
//! `cargo bench -p store --features database --bench many -- NODES RUNS COSTS FOLDER`, with `HOWSLOW_STORE` for PostgreSQL.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use store::{Address, Filter, Store};

const EXAMPLE: &str = include_str!("../../record/tests/data/example-run.json");

/// Documents without samples, as those of a fleet, with figures that differ.
fn documents(folder: &Path, nodes: usize, runs: usize, costs: usize) -> Vec<PathBuf> {
    std::fs::create_dir_all(folder).expect("a folder");
    let mut example: serde_json::Value = serde_json::from_str(EXAMPLE).expect("JSON");
    let mut cost = example["costs"][1].take();
    cost["rounds"] = serde_json::json!([]);
    cost["operation"] = "OPERATION".into();
    cost["at"] = serde_json::json!({ "size": "POINT" });
    cost["cycles"] = "CYCLES".into();
    let cost = cost.to_string();
    let mut paths = Vec::new();
    for node in 0..nodes {
        for run in 0..runs {
            let path = folder.join(format!("{node}-{run}.json"));
            paths.push(path.clone());
            if path.exists() {
                continue;
            }
            example["id"] = format!("20261122-0000{run:02}-{node:06}").into();
            example["started"] = format!("2026-11-22T00:00:{run:02}Z").into();
            example["machine"]["host"] = format!("node{node}").into();
            example["costs"] = serde_json::json!([]);
            let (begin, end) = example
                .to_string()
                .split_once(r#""costs":[]"#)
                .map(|(a, b)| (a.to_owned(), b.to_owned()))
                .expect("costs");
            let mut text = begin + r#""costs":["#;
            for place in 0..costs {
                let comma = if place == 0 { "" } else { "," };
                let figure = 100.0 + ((node * 31 + run * 7 + place * 13) % 1000) as f64 / 977.0;
                let own = cost
                    .replacen(r#""OPERATION""#, &format!(r#""family{}.op""#, place % 10), 1)
                    .replacen(r#""POINT""#, &(place / 10).to_string(), 1)
                    .replacen(r#""CYCLES""#, &figure.to_string(), 1);
                write!(text, "{comma}{own}").expect("text");
            }
            std::fs::write(&path, text + "]" + &end).expect("written");
        }
    }
    paths
}

fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("?").trim().to_owned()
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let [nodes, runs, costs, folder] = words.as_slice() else { return };
    let number = |text: &String| text.parse::<usize>().expect("a number");
    let paths = documents(&Path::new(folder).join("documents"), number(nodes), number(runs), number(costs));
    let address = match std::env::var("HOWSLOW_STORE") {
        Ok(text) => Address::parse(&text).expect("an address"),
        Err(_) => Address::Sqlite(Path::new(folder).join("many.sqlite")),
    };
    let store = Store::in_folder(Path::new(folder)).at(address);
    let begin = Instant::now();
    let taken = store.take_in(&paths).expect("taken in");
    println!(
        "{}: {} new, {} known, {:?} refused in {:.1?}, {}",
        store.place(),
        taken.new,
        taken.known,
        taken.refused.first(),
        begin.elapsed(),
        memory()
    );
    let begin = Instant::now();
    let (mut rows, mut sum) = (0_u64, 0.0);
    let table = store.costs(&Filter::default(), &|_| true, &mut |_, row| {
        rows += 1;
        sum += row.cycles.ln();
        ControlFlow::Continue(())
    });
    let table = table.expect("rows");
    println!(
        "{rows} rows of {} runs, {} series in {:.2?} ({sum:.3}), {}",
        table.runs.len(),
        table.series.len(),
        begin.elapsed(),
        memory()
    );
    let begin = Instant::now();
    let mut rows = 0_u64;
    let filter = Filter { machine: Some("node7".into()), ..Filter::default() };
    store
        .costs(&filter, &|_| true, &mut |_, _| {
            rows += 1;
            ControlFlow::Continue(())
        })
        .expect("rows");
    println!("{rows} rows of one machine in {:.3?}", begin.elapsed());
}
