//! Points of the user's own: every operation with an axis that takes them does its work at them.

use operation::{Axis, Failure, Operation, Step};
use record::{Point, Value};

use crate::support::{apart, did, setting};

/// Larger numbers take long to set up.
const MOST: u64 = 256 << 10;

/// The least number, one in the middle that is no value of the axis, and a large one.
fn numbers(axis: &Axis) -> Vec<u64> {
    let Some(bounds) = axis.bounds else { return Vec::new() };
    let high = bounds.high.min(MOST.max(bounds.low)) as f64;
    let middle = (bounds.low.max(1) as f64 * high).sqrt() * 1.1;
    let mut numbers: Vec<u64> = [bounds.low as f64, middle, high].map(|number| bounds.nearest(number)).into();
    numbers.dedup();
    numbers
}

/// The operation's cheapest point, with one axis set to a number.
fn at(operation: &Operation, axis: &Axis, number: u64) -> Point {
    let others = |point: &Point| -> u64 {
        let number_of =
            |(name, value): (&String, &Value)| if name == axis.name { 0 } else { value.number().unwrap_or(0) };
        point.0.iter().map(number_of).sum()
    };
    let own = operation.points(false).into_iter().min_by_key(others).expect("a point");
    let own = own.with(axis.name, Value::Number(number).in_unit(axis.unit));
    // A file of many small records takes long to read by chance.
    match operation.axis("file").and_then(|file| file.bounds) {
        Some(bounds) if axis.name != "file" => own.with("file", Value::Bytes(bounds.low)),
        _ => own,
    }
}

#[test]
fn bounds_take_the_numeric_values_of_their_axes_or_lie_around_them() {
    for operation in howslow_catalogue::all() {
        for axis in operation.axes {
            let Some(bounds) = axis.bounds else { continue };
            assert!(
                bounds.low < bounds.high && bounds.hold(bounds.low) && bounds.hold(bounds.high),
                "{}",
                operation.id
            );
            let values = axis.values.iter().filter_map(Value::number);
            let (least, most) = (values.clone().min(), values.max());
            // Records of the readers are smaller than the blocks that direct reads need.
            let blocks = bounds.step == Step::Of(4096);
            assert!(blocks || least.is_none_or(|least| bounds.low <= least), "{}: {} below", operation.id, axis.name);
            assert!(most.is_none_or(|most| bounds.high >= most), "{}: {} above {bounds:?}", operation.id, axis.name);
        }
    }
}

#[test]
fn every_operation_does_its_work_at_points_of_the_user_s_own() {
    let mut done = 0;
    for operation in howslow_catalogue::all() {
        for axis in operation.axes {
            for number in numbers(axis) {
                let point = at(operation, axis, number);
                if axis.values.contains(&Value::Number(number)) {
                    continue;
                }
                let end = apart(|scratch| {
                    let setting = setting(point.clone(), scratch);
                    let _ = operation::pin(0);
                    let prepared = operation.set_up(&setting).map_err(Failure::into_skip);
                    prepared.and_then(|mut work| [1, 3].into_iter().try_for_each(|times| work.perform(times)))
                });
                done += u32::from(did(&format!("{}{point}", operation.id), end));
            }
        }
    }
    assert!(done > 100, "only {done} points");
}
