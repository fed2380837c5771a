fn main() {
    divan::main();
}

#[divan::bench(args = kinds::KINDS.map(|kind| kind.0), max_time = 1)]
fn kind(bencher: divan::Bencher, name: &str) {
    let (_, kind) = kinds::KINDS.into_iter().find(|kind| kind.0 == name).expect("a kind");
    bencher.bench_local(|| unsafe { kind() });
}
