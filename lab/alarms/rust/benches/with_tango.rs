use tango_bench::{benchmark_fn, tango_benchmarks, tango_main, IntoBenchmarks};

fn all() -> impl IntoBenchmarks {
    kinds::KINDS.map(|(name, kind)| benchmark_fn(name, move |bencher| bencher.iter(move || unsafe { kind() })))
}

tango_benchmarks!(all());
tango_main!();
