//! Shared by the tests: example runs, and the programs that read exports.

use std::path::{Path, PathBuf};

use record::{Nanoseconds, Point, Run, Value};

/// Where `.ci/run` installs the programs that read exports: `python` with packages, `bin` with promtool and benchstat.
pub fn readers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/readers")
}

pub fn example() -> Run {
    record::run_from_bytes(crate::store::EXAMPLE).expect("the example is a run")
}

/// A run whose texts try to be something else, with another axis, and a cost without an interval.
pub fn hostile() -> Run {
    let mut run = example();
    run.id = "=cmd|' /C calc'!A0".into();
    run.machine.host = Some("n1\"} 1\nroot_total 1 #".into());
    run.machine.cpu.model = "a,\"b\"} 1\nroot_total{x=\"".into();
    run.machine.kernel.release = "@SUM(1)\nBenchmarkX 1 1 ns/op".into();
    run.costs.truncate(3);
    let cost = &mut run.costs[0];
    cost.operation = "odd name\"} 9\\".into();
    cost.at = Point::default().with("2 axes", Value::Word("a/b-7, \"c\"".into())).with("ns", Value::Number(7));
    (cost.net_ns.low, cost.net_ns.high) = (Nanoseconds(f64::NEG_INFINITY), Nanoseconds(f64::INFINITY));
    run
}

pub fn written(format: &str, runs: &[Run]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let exporter = howslow_store::exchange::exporter(format).expect("a format");
    (exporter.write)(runs, &mut bytes).unwrap_or_else(|e| panic!("{format}: {e}"));
    bytes
}

pub fn text(format: &str, runs: &[Run]) -> String {
    String::from_utf8(written(format, runs)).expect("UTF-8")
}
