//! How long a store takes in and shows the runs of many machines, and with how much memory:
//! `cargo bench --manifest-path lab/Cargo.toml --bench store -- NODES RUNS COSTS FOLDER`, with `HOWSLOW_STORE` for PostgreSQL.
//! The documents stay in `FOLDER/documents`, for `howslow history --take-in` and `howslow fleet show`. `FOLDER/planted` names
//! the nodes that were made slow.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use store::{Address, Filter, Store};
use testing::fleet::{Fleet, FleetRow};

const EXAMPLE: &str = include_str!("../../crates/record/tests/data/example-run.json");
const SHARES: [f64; 3] = [0.03, 0.05, 0.10];

/// The text of a document, in pieces between which the costs come.
struct Pieces {
    run: serde_json::Value,
    costs: Vec<String>,
}

impl Pieces {
    fn new(fleet: &Fleet) -> Pieces {
        let mut run: serde_json::Value = serde_json::from_str(EXAMPLE).expect("JSON");
        let mut cost = run["costs"][1].take();
        run["costs"] = serde_json::json!([]);
        cost["rounds"] = serde_json::json!([]);
        for figures in ["net_ns", "gross_ns"] {
            for figure in ["best", "quiet", "typical"] {
                cost[figures][figure] = "VALUE".into();
            }
            (cost[figures]["low"], cost[figures]["high"]) = ("LOW".into(), "HIGH".into());
        }
        let of = |number: usize| {
            let (operation, at) = fleet.cost(number);
            cost["operation"] = operation.into();
            let axes = at.trim_start_matches('@').split(',').filter_map(|axis| axis.split_once('='));
            let value = |text: &str| {
                text.parse::<u64>().map_or_else(|_| serde_json::Value::from(text), serde_json::Value::from)
            };
            cost["at"] = axes.map(|(axis, text)| (axis.to_owned(), value(text))).collect();
            cost.to_string()
        };
        Pieces { costs: (0..fleet.costs).map(of).collect(), run }
    }

    fn document(&mut self, node: &str, run: usize, rows: &[FleetRow]) -> String {
        self.run["id"] = format!("20261122-0000{run:02}-{node}").into();
        self.run["started"] = format!("2026-11-22T00:00:{run:02}Z").into();
        self.run["machine"]["host"] = node.into();
        let around = self.run.to_string();
        let (begin, end) = around.split_once(r#""costs":[]"#).expect("costs");
        let mut text = format!(r#"{begin}"costs":["#);
        for (place, row) in rows.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            let own = self.costs[row.cost]
                .replace(r#""VALUE""#, &row.value.to_string())
                .replace(r#""LOW""#, &row.low.to_string())
                .replace(r#""HIGH""#, &row.high.to_string());
            write!(text, "{comma}{own}").expect("text");
        }
        text + "]" + end
    }
}

/// Documents without samples, as those of a fleet; a node in fifty is slow.
fn documents(folder: &Path, mut fleet: Fleet) -> Vec<PathBuf> {
    std::fs::create_dir_all(folder).expect("a folder");
    fleet.plant(fleet.nodes / 50, &SHARES);
    let planted: String = fleet.planted.iter().map(|it| format!("{} {it:?}\n", fleet.node(it.node))).collect();
    std::fs::write(folder.with_file_name("planted"), planted).expect("written");
    let mut pieces = Pieces::new(&fleet);
    let mut paths = Vec::new();
    for node in 0..fleet.nodes {
        let name = fleet.node(node);
        let own = (1..=fleet.runs).map(|run| folder.join(format!("{name}.r{run}.json")));
        paths.extend(own);
        let own = &paths[node * fleet.runs..];
        if own.iter().all(|path| path.exists()) {
            continue;
        }
        for ((path, rows), run) in own.iter().zip(fleet.rows(node)).zip(0..) {
            std::fs::write(path, pieces.document(&name, run, &rows)).expect("written");
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
    let fleet = Fleet::new(number(nodes), number(costs), number(runs), 2026);
    let paths = documents(&Path::new(folder).join("documents"), fleet);
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
    let filter = Filter { machine: Some("node0007".into()), ..Filter::default() };
    store
        .costs(&filter, &|_| true, &mut |_, _| {
            rows += 1;
            ControlFlow::Continue(())
        })
        .expect("rows");
    println!("{rows} rows of one machine in {:.3?}", begin.elapsed());
}
