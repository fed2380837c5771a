//! Plans of experiments, and what a fleet does on each node.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some(text) = howslow_fuzz::text(data) else { return };
    match load::Plan::from_toml(text) {
        Ok(plan) => {
            let count = plan.axes.count();
            if count <= 1e5 {
                assert_eq!(plan.axes.configurations().len() as f64, count);
            }
            assert!(plan.takes(count as usize) > 0.0);
            plan.flushed(1 << 20).check().expect("what is measured is a plan too");
        }
        Err(error) => howslow_fuzz::is_plain(&error.to_string()),
    }
    if let Ok(plan) = serde_json::from_str::<fleet::Plan>(text) {
        let arguments = plan.arguments();
        assert!(plan.limit_s() >= 1.0 && !arguments.is_empty(), "{arguments:?}");
    }
    let words: Vec<String> = text.split_whitespace().map(String::from).collect();
    if let Ok(fleet::Suite::Patterns(patterns)) = fleet::Suite::of(&words) {
        assert!(patterns.iter().all(|word| !word.starts_with('-')), "{patterns:?}");
    }
});
