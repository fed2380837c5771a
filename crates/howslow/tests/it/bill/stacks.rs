//! `--stacks`: which functions of the program made its calls.

use predicates::prelude::*;
use predicates::str::contains;

use super::programs::compiled;
use super::{billed_by, counting};
use crate::support::{folder, howslow};

/// One function writes bytes, another one reads them, one at a time; nothing of the kernel's is called elsewhere so often.
const BYTES: &str = r#"
    use std::io::{Read, Write};
    #[inline(never)]
    fn writes_single_bytes(file: &mut std::fs::File) {
        for byte in 0..3000_u32 { std::hint::black_box(file.write(&[byte as u8])).expect("written"); }
        std::hint::black_box(&file);
    }
    #[inline(never)]
    fn reads_single_bytes(file: &mut std::fs::File) {
        let mut byte = [0];
        for _ in 0..3000 { std::hint::black_box(file.read(&mut byte)).expect("read"); }
        std::hint::black_box(&file);
    }
    fn main() {
        let mut file = std::fs::File::create("bytes").expect("a file");
        writes_single_bytes(&mut file);
        let mut file = std::fs::File::open("bytes").expect("a file");
        reads_single_bytes(&mut file);
        // Its memory can be looked at as long as it runs.
        std::thread::sleep(std::time::Duration::from_millis(100));
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
    let document = billed_by(&data, place.path(), &outputs, &[&program.display().to_string()]);
    let stacks = document["seen"]["stacks"].as_array().expect("stacks");
    for (call, function) in [("write", "writes_single_bytes"), ("read", "reads_single_bytes")] {
        let of = |stack: &&serde_json::Value| stack["call"] == call;
        let calls = |stack: &serde_json::Value| stack["calls"].as_u64().unwrap_or(0);
        let all: u64 = stacks.iter().filter(of).map(calls).sum();
        let is_own = |frame: &serde_json::Value| {
            frame["own"] == true && frame["function"].as_str().is_some_and(|name| name.contains(function))
        };
        let has =
            |stack: &&serde_json::Value| stack["frames"].as_array().is_some_and(|frames| frames.iter().any(is_own));
        let own: u64 = stacks.iter().filter(of).filter(has).map(calls).sum();
        assert!(all > 500 && 10 * own >= 9 * all, "{call}: {own} of {all} calls by {function}");
    }
    let findings = document["findings"].as_array().expect("findings");
    let small = findings.iter().find(|it| it["text"].as_str().is_some_and(|text| text.starts_with("read moved")));
    let named = small.expect("a finding of small reads")["place"].as_str().expect("a place");
    assert!(named.contains("reads_single_bytes"), "{named}");
    let lines = std::fs::read_to_string(&folded).expect("stacks");
    let of_writes = lines.lines().find(|line| line.contains("writes_single_bytes")).expect("a stack");
    assert!(of_writes.starts_with("bytes-program;") && of_writes.contains(";write "), "{of_writes}");
    let svg = std::fs::read_to_string(&picture).expect("a picture");
    assert!(svg.starts_with("<svg") && svg.contains("reads_single_bytes") && svg.ends_with("</svg>\n"));
}

#[test]
fn stacks_that_cannot_be_had_are_told_and_what_contradicts_them_is_misuse() {
    let data = folder();
    let bill = |words: &[&str]| howslow(&data).arg("bill").args(words).args(["--", "true"]).assert();
    let told = "--stacks: no stack was found; that takes eBPF (as root)";
    bill(&["--stacks", "--source", "accounts"]).code(0).stderr(contains(told));
    bill(&["--stacks", "--counts-only"]).code(2).stderr(contains("cannot be used with"));
    bill(&["-o", "x.png"]).code(2).stderr(contains("FILE.svg for the graph").and(contains("x.png")));
}
