//! What the tests share: the example run.

use record::Run;

pub fn example() -> Run {
    let bytes = include_bytes!("../../../record/tests/data/example-run.json");
    record::run_from_bytes(bytes).expect("a run")
}
