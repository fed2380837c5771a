//! What holds for every operation of the registry.

use std::collections::{BTreeMap, BTreeSet};

use operation::{Operation, TermOf};
use record::Point;

#[test]
fn ids_are_unique_and_well_formed() {
    let mut seen = BTreeSet::new();
    for operation in howslow_catalogue::all() {
        assert!(seen.insert(operation.id), "{} stands twice", operation.id);
        let parts: Vec<&str> = operation.id.split('.').collect();
        assert!(parts.len() >= 2, "{} has no family", operation.id);
        let plain = |part: &&str| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        };
        assert!(parts.iter().all(plain), "{} is not made of lower-case words and dots", operation.id);
    }
}

#[test]
fn every_operation_has_a_summary_of_what_it_does() {
    for operation in howslow_catalogue::all() {
        let summary = operation.summary;
        assert!(!summary.is_empty(), "{} says nothing", operation.id);
        assert!(!summary.ends_with('.'), "{}: the summary ends with a full stop", operation.id);
        assert!(operation.version >= 1 && !operation.per.is_empty(), "{}", operation.id);
    }
}

#[test]
fn axes_are_sound() {
    for operation in howslow_catalogue::all() {
        for axis in operation.axes {
            let id = operation.id;
            assert!(!axis.values.is_empty(), "{id}: the axis {} is empty", axis.name);
            assert!(
                axis.headline.iter().all(|value| axis.values.contains(value)),
                "{id}: a headline value of {} is none",
                axis.name
            );
        }
        let all: BTreeSet<Point> = operation.points(false).into_iter().collect();
        assert_eq!(all.len(), operation.points(false).len(), "{}: a point stands twice", operation.id);
        assert!(operation.points(true).iter().all(|point| all.contains(point)), "{}", operation.id);
    }
}

#[test]
fn terms_name_points_that_exist() {
    for operation in howslow_catalogue::all() {
        for point in operation.points(false) {
            for of in operation.terms.iter().chain(operation.explained_by) {
                let term = of.resolve(&point);
                let named = howslow_catalogue::find(&term.operation)
                    .unwrap_or_else(|| panic!("{} names {}, which is no operation", operation.id, term.operation));
                assert!(term.times > 0.0, "{}: {} so many times {}", operation.id, term.times, term.operation);
                assert!(
                    named.points(false).contains(&term.at),
                    "{}{point} names {}{}, which is no point of it",
                    operation.id,
                    term.operation,
                    term.at
                );
            }
        }
    }
}

#[test]
fn terms_form_no_cycle() {
    type Needs = fn(&'static Operation) -> &'static [TermOf];
    for needs_of in [(|operation| operation.terms) as Needs, |operation| operation.explained_by] {
        let mut left: BTreeMap<&str, BTreeSet<&str>> = howslow_catalogue::all()
            .map(|operation| (operation.id, needs_of(operation).iter().map(|need| need.term.operation).collect()))
            .collect();
        while let Some(free) =
            left.iter().find(|(_, needs)| needs.iter().all(|id| !left.contains_key(id))).map(|(id, _)| *id)
        {
            left.remove(free);
        }
        assert!(left.is_empty(), "these need each other: {:?}", left.keys());
    }
}

#[test]
fn rules_of_plausibility_name_operations_and_axes() {
    for operation in howslow_catalogue::all() {
        for cheaper in operation.at_least {
            assert!(
                howslow_catalogue::find(cheaper).is_some(),
                "{} exceeds {cheaper}, which is no operation",
                operation.id
            );
        }
        for axis in operation.monotonic_in {
            assert!(operation.axes.iter().any(|own| own.name == *axis), "{} has no axis {axis}", operation.id);
        }
    }
}

/// Books, mixes and older runs do not name their units: these axes hold bytes there.
#[test]
fn axes_that_held_bytes_before_runs_named_units_still_do() {
    const BYTES: [&str; 8] = ["size", "resident", "set", "file", "filled", "record", "ahead", "quantity"];
    for axis in howslow_catalogue::all().flat_map(|operation| operation.axes) {
        if BYTES.contains(&axis.name) {
            assert_eq!(axis.unit, record::Unit::Bytes, "{}", axis.name);
        }
    }
}

#[test]
fn the_headline_is_about_fifty_operations() {
    let headline: Vec<&Operation> = howslow_catalogue::all().filter(|operation| operation.headline).collect();
    let count: usize = headline.iter().map(|operation| operation.points(true).len()).sum();
    assert!((45..=70).contains(&headline.len()), "{} operations", headline.len());
    assert!(count <= 100, "{count} points do not fit the headline's time");
}

#[test]
fn every_distance_but_the_same_keeps_two_cpus_busy() {
    let mut words = BTreeSet::new();
    for operation in howslow_catalogue::all() {
        for point in operation.points(false) {
            let Some(word) = point.word("distance") else { continue };
            let apart = word != "same";
            assert_eq!(operation.uses_other_cpu(&point), apart, "{}{point}", operation.id);
            assert_eq!(operation.cpus(&point), if apart { 2 } else { 1 }, "{}{point}", operation.id);
            words.insert(word.to_owned());
        }
    }
    let known = ["awake", "cache", "core", "other", "same", "sibling", "socket"];
    assert_eq!(words.iter().map(String::as_str).collect::<Vec<_>>(), known);
}

#[test]
fn what_the_private_caches_do_not_hold_does_not_follow_the_clock() {
    for (id, axis, near) in [
        ("called.read", "size", "0 1 512 4096 65536"),
        ("switch.work", "set", "0 16384 262144 half-l1 most-l1 half-l2 most-l2"),
        ("switch.process", "set", "0 16384 262144 half-l1 most-l1 half-l2"),
        ("switch.thread", "set", "0 16384 262144 half-l1 most-l1 half-l2"),
        ("process.fork.resident", "resident", "1048576 16777216"),
    ] {
        let operation = howslow_catalogue::find(id).expect(id);
        let value = |point: &Point| match point.number(axis) {
            Some(number) => number.to_string(),
            None => point.word(axis).unwrap_or_default().to_owned(),
        };
        let follow = operation.points(false).into_iter().filter(operation.follows_clock);
        let found: Vec<String> = follow.map(|point| value(&point)).collect();
        assert_eq!(found.join(" "), near, "{id}");
    }
    let onwards = howslow_catalogue::find("call.readv").expect("it is an operation");
    assert!(!(onwards.follows_clock)(&Point::default()), "each batch reads 1 MiB");
}
