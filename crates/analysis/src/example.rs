//! For tests: the example run, and costs made from one of its own.

use std::sync::LazyLock;

use record::{Cost, Figures, Point, Run, Value};

static EXAMPLE: LazyLock<Run> = LazyLock::new(|| {
    record::run_from_bytes(include_bytes!("../../record/tests/data/example-run.json")).expect("a run")
});

/// The example run.
pub(crate) fn run() -> Run {
    EXAMPLE.clone()
}

/// The example run with these costs instead of its own.
pub(crate) fn with_costs(costs: impl IntoIterator<Item = Cost>) -> Run {
    Run { costs: costs.into_iter().collect(), ..run() }
}

/// A cost by its name, such as `pipe.self@size=26`, with its figure and half its interval.
pub(crate) fn cost(name: &str, value: f64, half: f64) -> Cost {
    let (operation, at) = name.split_once('@').unwrap_or((name, ""));
    let choices = at.split(',').filter_map(|choice| choice.split_once('='));
    let at = choices.fold(Point::default(), |point, (axis, value)| {
        point.with(axis, value.parse().map_or_else(|_| Value::Word(value.into()), Value::Number))
    });
    Cost {
        operation: operation.into(),
        at,
        net_ns: Figures::given(value, value - half, value + half),
        doubts: Vec::new(),
        explained_by: Vec::new(),
        rounds: Vec::new(),
        ..EXAMPLE.costs[0].clone()
    }
}
