//! The pages as people read them, with made-up figures.

use analysis::prefetch::{RelativeRate, axis};

use super::*;

fn inputs() -> (PageLatency, Inputs) {
    let latency = PageLatency { median_ns: 2e4, quartiles_ns: [1.8e4, 3e4], mean_ns: 2.5e4, reads: 2000, direct: true };
    let in_order = vec![(16 << 10, 3e4), (256 << 10, 1.7e5), (1 << 20, 6.6e5)];
    (latency, Inputs { latency_ns: 2.5e4, consumption: 5e9, in_order, most: Some(8 << 20), page: 4096 })
}

#[test]
fn the_surface_and_its_verdicts() {
    let (latency, inputs) = inputs();
    let (paper, better) = (inputs.by_the_paper(), inputs.by_saturation());
    let axis = |centre, other| axis(centre, 4, &[other], (4096, 64 << 20));
    let (distances, quantities) = (axis(paper.distance, better.distance), axis(paper.quantity, better.quantity));
    let all =
        distances.iter().flat_map(|&distance| quantities.iter().map(move |&quantity| Window { distance, quantity }));
    let value =
        |window: &Window| (window.distance.min(8 << 20) as f64).sqrt() * 3e5 + window.quantity.min(1 << 20) as f64;
    let windows: Vec<_> = all.map(|of| MeasuredRates { of, rates: vec![value(&of)] }).collect();
    let best = analysis::prefetch::best(&windows).expect("windows").of;
    let verdict = |arithmetic, window, ratio: f64| FormulaVerdict {
        arithmetic,
        window,
        relative_to_best: RelativeRate { ratio, low: ratio - 0.02, high: ratio + 0.01, pairs: 20 },
        found: Some(ratio >= 0.95),
    };
    let verdicts = vec![verdict("paper", paper, 0.41), verdict("saturation", better, 0.98)];
    let plain = vec![MeasuredRates { of: "mmap".into(), rates: vec![1.2e9] }];
    let page = Tuning {
        path: "/data/big".into(),
        file_bytes: 3_000_000_001,
        pass_bytes: 64 << 20,
        recommended: better,
        passes: 500,
        not_cold: 1,
        latency,
        inputs,
        distances,
        quantities,
        windows,
        plain,
        best,
        verdicts,
        notes: vec!["Steps are fourfold to fit the budget; a larger --budget makes them finer.".into()],
    };
    insta::assert_snapshot!(tuning(&page, Style::PLAIN));
}

#[test]
fn advice_for_cold_and_warm() {
    let (latency, inputs) = inputs();
    let candidate = |method: &str, rates: &[f64], skipped: Option<&str>| Candidate {
        method: method.into(),
        rates: rates.to_vec(),
        processor: 0.3,
        skipped: skipped.map(String::from),
    };
    let candidates = vec![
        candidate("pread of 128 KiB", &[1.2e9, 1.3e9, 1.1e9], None),
        candidate("mmap", &[1.5e8, 1.4e8], None),
        candidate("O_DIRECT, pread of 1 MiB", &[], Some("this file's system has no direct reads of 1048576 bytes")),
    ];
    let cold = Recommended {
        state: "cold",
        candidates: candidates.clone(),
        method: Some("pread of 128 KiB".into()),
        reason: "it is the fastest here at 1200 MB/s, 8.3 times mmap (the next); it waits for the device most of the time (processor busy 30 %).".into(),
    };
    let warm = Recommended {
        state: "warm",
        method: None,
        reason: "No method could be measured.".into(),
        candidates: candidates[2..].into(),
    };
    let page = Advice {
        path: "/data/big".into(),
        file_bytes: 1 << 30,
        pass_bytes: 64 << 20,
        order: "sequential",
        latency: Some(latency),
        inputs: Some(inputs),
        states: vec![cold, warm],
        notes: vec![
            "The file was put out of memory for this; its own dirty pages were written, nothing else was changed."
                .into(),
        ],
    };
    insta::assert_snapshot!(advice(&page, Style::PLAIN));
}
