use std::time::Duration;

fn main() {
    let mut criterion = criterion::Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
        .configure_from_args();
    for (name, kind) in kinds::KINDS {
        criterion.bench_function(name, |bencher| bencher.iter(|| unsafe { kind() }));
    }
}
