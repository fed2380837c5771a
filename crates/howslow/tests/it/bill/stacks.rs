//! `--stacks`: which functions of the program made its calls.

use record::StackFrame;

use super::programs::compiled;
use super::{billed_by, counting};
use crate::support::folder;

/// One function writes bytes, another one reads them, one at a time; nothing of the kernel's is called elsewhere so often.
const BYTES: &str = r#"
    use std::io::{Read, Write};
    #[inline(never)]
    fn writes_single_bytes(file: &mut std::fs::File) {
        for byte in 0..100_u32 { std::hint::black_box(file.write(&[byte as u8])).expect("written"); }
        std::hint::black_box(&file);
    }
    #[inline(never)]
    fn reads_single_bytes(file: &mut std::fs::File) {
        let mut byte = [0];
        for _ in 0..100 { std::hint::black_box(file.read(&mut byte)).expect("read"); }
        std::hint::black_box(&file);
    }
    fn main() {
        // For a second: not every moment is sampled, and its memory can be looked at as long as it runs.
        for _ in 0..50 {
            let mut file = std::fs::File::create("bytes").expect("a file");
            writes_single_bytes(&mut file);
            let mut file = std::fs::File::open("bytes").expect("a file");
            reads_single_bytes(&mut file);
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
"#;

#[test]
fn stacks_and_findings_name_the_functions_of_the_program() {
    let Some(data) = counting("ebpf") else { return };
    let place = folder();
    let program = compiled(place.path(), "bytes-program", BYTES);
    let (folded, picture) = (data.path().join("x.folded"), data.path().join("x.svg"));
    let outputs =
        ["--source", "ebpf", "--stacks", "-o", &folded.display().to_string(), "-o", &picture.display().to_string()];
    let bill = billed_by(&data, place.path(), &outputs, &[&program.display().to_string()]);
    for (call, function) in [("write", "writes_single_bytes"), ("read", "reads_single_bytes")] {
        let stacks = bill.seen.stacks.iter().filter(|stack| stack.call == call);
        let all: u64 = stacks.clone().map(|stack| stack.calls).sum();
        let is_own = |frame: &StackFrame| frame.own && frame.function.contains(function);
        let own: u64 = stacks.clone().filter(|stack| stack.frames.iter().any(is_own)).map(|stack| stack.calls).sum();
        assert!(all > 500 && 10 * own >= 9 * all, "{call}: {own} of {all} by {function}; {:?}", bill.seen.losses);
        let cpu_ns: f64 = stacks.map(|stack| stack.cpu_ns).sum();
        let counted = bill.seen.together.calls.iter().find(|counted| counted.call == call).expect(call);
        let mean_ns = counted.measured.expect("samples").mean_ns;
        let each_ns = cpu_ns / all as f64;
        assert!(each_ns > mean_ns / 5.0 && each_ns < 2.0 * mean_ns, "{call}: {each_ns} of {mean_ns} ns");
    }
    let findings = bill.document["findings"].as_array().expect("findings");
    let small =
        findings.iter().find(|finding| finding["text"].as_str().is_some_and(|text| text.starts_with("read moved")));
    let named = small.expect("a finding of small reads")["place"].as_str().expect("a place");
    assert!(named.contains("reads_single_bytes"), "{named}");
    let lines = std::fs::read_to_string(&folded).expect("stacks");
    let of_writes = lines.lines().find(|line| line.contains("writes_single_bytes")).expect("a stack");
    assert!(of_writes.starts_with("bytes-program;") && of_writes.contains(";write "), "{of_writes}");
    let svg = std::fs::read_to_string(&picture).expect("a picture");
    assert!(svg.starts_with("<svg") && svg.contains("reads_single_bytes") && svg.ends_with("</svg>\n"));
}
