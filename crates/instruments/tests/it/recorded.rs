//! Every recording keeps what it promises, on any machine.

use std::time::Duration;

use howslow_instruments::noise::{Options, Order, Tracing, record};

#[test]
fn windows_and_gaps_are_in_order_and_within_each_other() {
    for tracing in [Tracing::Never, Tracing::IfAllowed] {
        let options =
            Options { time: Duration::from_millis(300), tracing, order: Order::OneByOne, ..Options::default() };
        let recording = record(&[0], &options).expect("CPU 0 may be used").remove(0);
        assert!(recording.windows.len() >= 2, "{}", recording.windows.len());
        assert!(recording.windows.windows(2).all(|pair| pair[0].end <= pair[1].start));
        assert!(recording.windows.iter().all(|window| window.start < window.end && window.chain > 0.0));
        let inside = |start: f64| recording.windows.iter().any(|window| window.start <= start && start <= window.end);
        for pair in recording.gaps.windows(2) {
            assert!(pair[0].end() <= pair[1].start, "{pair:?}");
        }
        for gap in &recording.gaps {
            assert!(gap.length > recording.threshold && inside(gap.start), "{gap:?}");
        }
        assert!(recording.events.windows(2).all(|pair| pair[0].at <= pair[1].at));
        if tracing == Tracing::Never {
            assert!(recording.untraced.is_some() && recording.events.is_empty());
        }
    }
}

#[test]
fn a_cpu_that_is_not_there_is_refused() {
    let error = record(&[4095], &Options::default()).expect_err("no such CPU");
    assert!(error.to_string().contains("4095"), "{error}");
}
