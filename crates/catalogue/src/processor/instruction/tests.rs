//! Every instruction does what its model says, and a wrong model is detected.

use operation::{Failure, Setting};
use record::{Point, Value};

use super::*;
use crate::processor::instruction::lanes::{Case, DIVISOR, OPERAND};

/// Every operation of the instruction families.
fn all() -> impl Iterator<Item = &'static Operation> {
    crate::kit::trial::of_family("instruction")
}

#[test]
fn every_instruction_does_what_it_promises_as_often_as_it_promises() {
    all().for_each(|operation| crate::kit::trial::perform_batches(operation, &[1, 2, 1000, 3]));
}

#[test]
fn a_chain_that_computes_something_else_is_found_out() {
    let one_more = |case: &Case| integer::sum(case) + 1;
    for (turns, lanes) in [(text::ADD.wide.latency, 1), (text::ADD.wide.throughput, lanes::LANES)] {
        let mut wrong = lanes::chains(turns, lanes, 64, one_more);
        assert!(matches!(wrong.perform(1), Err(Failure::Wrong(_))));
    }
    let mut right = lanes::chains(text::ADD.wide.latency, 1, 64, integer::sum);
    right.perform(5).expect("the sum");
}

#[test]
fn what_repeats_is_not_stepped_through() {
    for count in [0, 1, 5, 1000, 123_457] {
        let case = Case { start: 3, operands: [0; 2], width: 64, count };
        let all = (0..count).fold(3, |value, _| (value * 5 + 1) % 97);
        assert_eq!(case.repeated(|value| (value * 5 + 1) % 97), all, "{count}");
    }
}

#[test]
fn the_dividend_stays_large() {
    for width in [32, 64] {
        let case = Case { start: OPERAND, operands: [0; 2], width, count: 8 };
        let (refill, divisor) = (case.narrowed(OPERAND), DIVISOR);
        let case = Case { start: refill, operands: [refill, divisor], ..case };
        let settled = integer::quotient(&case);
        assert_eq!((settled / divisor) | refill, settled);
        assert!(settled / divisor > 1 << (width - 22), "{width}: {settled:#x}");
    }
}

/// It is large, so that a few instructions do not decide a machine's speed. On aarch64 there are fewer vector widths and
/// instruction lengths.
#[test]
fn there_are_a_hundred_points_and_on_x86_64_twenty_more() {
    let points: usize = all().map(|operation| operation.points(false).len()).sum();
    assert!(points >= if cfg!(target_arch = "x86_64") { 120 } else { 100 }, "{points} points");
}

/// Only those that were always in it: a headline run must not grow with the catalogue.
#[test]
fn six_points_are_headline() {
    let points: usize =
        all().filter(|operation| operation.headline).map(|operation| operation.points(true).len()).sum();
    assert_eq!(points, 6);
}

#[test]
fn a_feature_no_processor_has_is_no_instruction() {
    assert!(matches!(feature::require("a feature of none"), Err(Failure::Wrong(_))));
    assert_eq!(feature::require(""), Ok(()));
}

#[test]
fn a_vector_that_holds_something_else_is_found_out() {
    use crate::processor::instruction::vectors::{self, Lanes, Packed};
    const WRONG: Packed = Packed {
        vectors: text::PACKED_ADD,
        operands: [1, 1, 0],
        model: |start, _, count| start.wrapping_add(count + 1),
    };
    let point = Point::default().with("vector", Value::Word("128").value());
    let setting = Setting::new(point, std::env::temp_dir(), 0, None, 7);
    for lanes in [Lanes::One, Lanes::All] {
        let mut wrong = vectors::packed(&setting, &WRONG, lanes).expect("every processor adds vectors of 128 bits");
        assert!(matches!(wrong.perform(1), Err(Failure::Wrong(_))));
    }
}
