//! Every way of writing a benchmark, as an example and for the tests of howslow.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use howslow_bench::{AllocProfiler, Bencher, Bytes, Items, bench, black_box};

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    howslow_bench::main();
}

#[bench]
fn nothing() {}

#[bench(args = [100, 1000])]
fn sum(count: u64) -> u64 {
    (0..black_box(count)).fold(0, |sum, number| black_box(sum ^ number))
}

#[bench(types = [Vec<u8>, String], args = ["short", "a longer text"])]
fn convert<T: From<&'static str>>(bencher: Bencher, text: &'static str) {
    bencher.counter(Bytes(text.len() as u64)).bench(|| T::from(black_box(text)));
}

#[bench(consts = [4, 64], name = "array")]
fn filled<const N: usize>() -> [u64; N] {
    [black_box(7); N]
}

#[bench]
fn sort(bencher: Bencher) {
    let numbers = || (0..500_u64).map(|number| number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40).collect::<Vec<_>>();
    bencher
        .with_inputs(numbers)
        .input_counter(|numbers| Items(numbers.len() as u64))
        .bench_refs(|numbers| numbers.sort());
}

#[bench]
fn insert(bencher: Bencher) {
    bencher.with_inputs(BTreeMap::new).bench_values(|mut map| {
        map.insert(black_box(1), "one");
        map
    });
}

#[bench(threads = [1, 2])]
fn add(bencher: Bencher) {
    let shared = AtomicU64::new(0);
    bencher.bench(|| shared.fetch_add(1, Ordering::Relaxed));
}

#[bench(block_on = block_on)]
async fn waits() {
    std::future::ready(black_box(1)).await;
}

#[bench(ignore)]
fn panics(bencher: Bencher) {
    let mut runs = 0;
    bencher.bench_local(|| {
        runs += 1;
        assert!(runs < 3, "the third iteration fails");
    });
}

/// The smallest executor: it polls until the future is ready.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return output;
        }
        std::hint::spin_loop();
    }
}
