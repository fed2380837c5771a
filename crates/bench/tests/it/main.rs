//! A bench program that tests itself: it starts itself as howslow and cargo do. Its own `main`, because that is what is tested.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use howslow_bench::{AllocProfiler, Bencher, Bytes, bench};

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

#[bench(args = ["a", "b c"], consts = [1 << 1, 4 >> 1], types = [u8, Vec<u8>])]
fn every<T: Default, const N: usize>(text: &str) -> (T, usize) {
    (T::default(), text.len() * N)
}

#[bench(name = "one vector")]
fn vector(bencher: Bencher) {
    bencher.counter(Bytes(64)).with_inputs(|| vec![0_u8; 1000]).bench_refs(|_| vec![1_u8; 64]);
}

#[bench(args = [String::from("text")])]
fn owns(text: String) -> usize {
    text.len()
}

#[bench(types = [fn() -> u8])]
fn bounded<T: Fn() -> u8>(bencher: Bencher) {
    bencher.bench(size_of::<T>);
}

#[bench(threads = 2, ignore)]
fn local(bencher: Bencher) {
    bencher.bench_local(|| 1);
}

#[bench]
fn leaks() {
    std::mem::forget(vec![1_u8; 100]);
}

#[bench(threads = [1, 3])]
fn threaded(bencher: Bencher) {
    bencher.bench(|| 1);
}

#[bench(threads = 0, ignore)]
fn on_all_cpus(bencher: Bencher) {
    bencher.bench(|| 1);
}

/// Its `Debug` is long and has a line break.
#[derive(Clone)]
struct Odd;

impl std::fmt::Debug for Odd {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "a\nb{}", "c".repeat(5000))
    }
}

#[bench(args = [Odd, Odd])]
fn odd(_: Odd) {}

#[bench(block_on = run, args = [1])]
async fn later(number: u64) -> u64 {
    std::future::ready(number).await
}

/// Dropping it allocates.
struct Copying(Vec<u8>);

impl Drop for Copying {
    fn drop(&mut self) {
        std::hint::black_box(self.0.clone());
    }
}

#[bench(block_on = run)]
async fn copying() -> Copying {
    Copying(vec![1])
}

#[bench(ignore)]
fn panics() {
    panic!("on\npurpose");
}

#[bench(ignore)]
fn forgets(_: Bencher) {}

fn run<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}

fn main() {
    // The test runner of cargo gives no arguments of this kind.
    if std::env::var_os("HOWSLOW_BENCH").is_some() || std::env::var_os("AS_BENCH").is_some() {
        howslow_bench::main();
        return;
    }
    by_hand();
    #[cfg(unix)]
    over_pipes();
    println!("test the_bench_program ... ok");
}

fn own(words: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(words).env("AS_BENCH", "1").env("HOWSLOW", "");
    command
}

/// What `cargo bench -- ...` prints without howslow.
fn by_hand() {
    let printed = |words: &[&str]| {
        let output = own(words).output().expect("it runs");
        (
            output.status.code(),
            String::from_utf8(output.stdout).expect("UTF-8"),
            String::from_utf8(output.stderr).expect("UTF-8"),
        )
    };
    let (_, listed, _) = printed(&["--bench", "--list", "every"]);
    let name = |kind: &str, number: &str, text: &str| format!("every/{kind}/{number}/{text}: benchmark\n");
    let all =
        ["u8", "Vec<u8>"].map(|kind| ["1<<1", "4>>1"].map(|number| ["a", "b c"].map(|text| name(kind, number, text))));
    assert_eq!(listed, all.concat().concat().concat());
    for words in [&[][..], &["--bench", "--test"]] {
        let (status, tested, _) = printed(words);
        assert!(status == Some(0) && tested.contains("test later/1 ... ok") && !tested.contains("panics"), "{tested}");
    }
    let (status, tested, _) = printed(&["--test", "panics", "forgets"]);
    assert!(status == Some(101) && tested.matches("FAILED").count() == 2, "{tested}");
    let (_, plain, _) = printed(&["--bench", "vector"]);
    assert!(plain.contains("one vector: ") && plain.contains("MB/s  1 allocations, 64 B\n"), "{plain}");
    let (status, _, error) = printed(&["--bench", "--against", "main"]);
    assert!(status == Some(2) && error.contains("--against is an option of howslow"), "{error}");
}

/// What howslow requests.
#[cfg(unix)]
fn over_pipes() {
    // A shell hands its standard input and output over as the descriptors 3 and 4.
    let program = std::env::current_exe().expect("this program");
    let mut child = Command::new("/bin/sh")
        .args(["-c", "exec \"$0\" 3<&0 4>&1 </dev/null >/dev/null"])
        .arg(program)
        .env("HOWSLOW_BENCH", "3,4")
        .env("HOWSLOW_BENCH_SHIFT", "xxx")
        .env("HOWSLOW_BENCH_CPUS", "3")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell");
    let mut requests = child.stdin.take().expect("a pipe");
    let mut answers = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut next = || answers.next().expect("an answer").expect("a line");
    assert!(next().starts_with("howslow-bench 1 rust "));
    let mut answer_to = |request: &str| {
        writeln!(requests, "{request}").expect("it reads");
        next()
    };
    assert_eq!(answer_to("prepare one vector"), "ready threads=1 bytes=64");
    let ran = answer_to("run 100");
    assert!(
        ran.strip_prefix("ran ").and_then(|rest| rest.split(' ').next()?.parse().ok()).is_some_and(|ns: u64| ns > 0),
        "{ran}"
    );
    assert_eq!(answer_to("count 10"), "counted allocations=10 allocated=640 kept=0");
    assert_eq!(answer_to("nonsense"), "failed no such request");
    assert_eq!(answer_to("drop"), "dropped");
    let odd = format!("odd/a?b{}", "c".repeat(197));
    for (name, threads, counted) in [
        ("leaks", 1, "counted allocations=10 allocated=1000 kept=1000"),
        ("owns/text", 1, "counted allocations=0 allocated=0 kept=0"),
        ("copying", 1, "counted allocations=10 allocated=10 kept=0"),
        ("on_all_cpus", 3, "counted"),
        ("-", 1, "counted allocations=0 allocated=0 kept=0"),
        (&odd, 1, "counted allocations=0 allocated=0 kept=0"),
        (&format!("{odd}#2"), 1, "counted allocations=0 allocated=0 kept=0"),
    ] {
        assert_eq!(answer_to(&format!("prepare {name}")), format!("ready threads={threads}"));
        assert_eq!(answer_to("count 10"), counted, "{name}");
        assert_eq!(answer_to("drop"), "dropped", "{name}");
    }
    assert_eq!(answer_to("prepare threaded/threads=3"), "ready threads=3");
    let ran = answer_to("run 10");
    assert!(ran.starts_with("ran ") && !ran.contains("cpu="), "{ran}");
    assert_eq!(answer_to("drop"), "dropped");
    let refused = answer_to("prepare local");
    assert!(refused.contains("with threads = ..., call bench, bench_values or bench_refs"), "{refused}");
    assert_eq!(answer_to("prepare panics"), "ready threads=1");
    assert_eq!(answer_to("run 1"), "failed it panicked: on purpose");
    assert_eq!(answer_to("prepare forgets"), "failed it returned without calling a method of its Bencher");
    assert_eq!(answer_to("prepare nothing at all"), "failed there is no such benchmark");
    drop(requests);
    assert!(child.wait().expect("it ends").success());
}
