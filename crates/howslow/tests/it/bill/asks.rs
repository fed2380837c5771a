//! Programs that ask one thing of the kernel, again and again: each is priced by what it does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::{counting, unvaried};
use crate::support::folder;

/// A program, how often it asks, its memory in MiB, and lines of its mix: an operation, at any point where there is a star, and how often.
type Asked = (&'static str, u64, u64, &'static [(&'static str, f64)]);

const ASKED: &[Asked] = &[
    ("preadv", 20, 0, &[("called.read@*size=65536", 320.0)]),
    ("status", 50, 0, &[("called.read.proc", 50.0), ("called.lseek", 50.0)]),
    ("connect", 30, 0, &[("called.socket", 30.0), ("called.connect", 30.0), ("called.close.connection", 60.0)]),
    ("fork", 8, 64, &[("process.vfork", 8.0), ("process.fork.resident@resident=1073741824", 0.5)]),
    // A byte through one pipe, and one back through another: half of them is read, half written.
    ("ping-pong", 50, 0, &[("called.pipe@size=1", 100.0)]),
    ("pipe", 50, 0, &[("called.pipe@size=4096", 50.0)]),
    ("eagain", 100, 0, &[("called.receive.none", 100.0)]),
    ("creat", 30, 0, &[("called.create", 1.0), ("called.open.write", 29.0), ("called.close.write", 30.0)]),
];
const HUGE: Asked = ("huge", 3, 64, &[("page.fault.huge@frames=fresh", 96.0)]);

/// The compiled programs; `None` where they cannot be compiled or counted.
fn asks(place: &TempDir) -> Option<(TempDir, PathBuf)> {
    let data = counting("ebpf")?;
    if !Path::new("/sys/kernel/btf/vmlinux").exists() {
        testing::not_tested!("this kernel does not describe its types; a kernel with CONFIG_DEBUG_INFO_BTF does");
        return None;
    }
    let (text, program) =
        (Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/bill/asks.c"), place.path().join("asks"));
    let compiled = Command::new("cc").args(["-O1", "-o"]).args([&program, &text]).status();
    if !compiled.is_ok_and(|status| status.success()) {
        testing::not_tested!("there is no C compiler; gcc or clang is one");
        return None;
    }
    Some((data, program))
}

/// How often the mix of a bill of this program has each operation that is asked for.
fn mix_of(data: &TempDir, place: &TempDir, program: &Path, (name, times, mib, wanted): Asked) -> Vec<f64> {
    let file = place.path().join("mix.toml");
    let mut command = unvaried(data, place.path(), assert_cmd::cargo::cargo_bin!("howslow"));
    command.args(["bill", "--source", "ebpf", "-o"]).arg(&file).arg("--").arg(program);
    command.args([name, &times.to_string(), &mib.to_string()]);
    assert!(command.status().expect("howslow runs").success(), "{name}");
    let mix: toml::Table = fs::read_to_string(&file).expect("the mix").parse().expect("TOML");
    let lines = mix["operation"].as_array().expect("lines");
    let of = |id: &str| -> f64 {
        let (begin, end) = id.split_once('*').unwrap_or((id, ""));
        let is_it =
            |name: &str| if end.is_empty() { name == id } else { name.starts_with(begin) && name.ends_with(end) };
        let mine = lines.iter().filter(|line| line["operation"].as_str().is_some_and(is_it));
        mine.map(|line| line["times"].as_float().or(line["times"].as_integer().map(|it| it as f64)).expect("a number"))
            .sum()
    };
    wanted.iter().map(|(id, _)| of(id)).collect()
}

#[test]
fn what_a_program_asks_for_again_and_again_has_the_price_of_just_that() {
    let place = folder();
    let Some((data, program)) = asks(&place) else { return };
    for asked in ASKED {
        for (found, (id, times)) in mix_of(&data, &place, &program, *asked).into_iter().zip(asked.3) {
            // The start of the program reads and closes a few files, and has some pages.
            let few = (times * 0.02).max(if *id == "called.close.write" { 0.0 } else { 2.0 });
            assert!((found - times).abs() <= few, "{}: {found} times {id}, not {times}", asked.0);
        }
    }
}

#[test]
fn huge_pages_have_the_price_of_huge_pages() {
    let place = folder();
    let Some((data, program)) = asks(&place) else { return };
    let setting = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    if setting.is_empty() || setting.contains("[never]") {
        return testing::not_tested!(
            "this kernel gives no huge pages; /sys/kernel/mm/transparent_hugepage/enabled does"
        );
    }
    let found = mix_of(&data, &place, &program, HUGE)[0];
    // Memory may be in too many pieces for some of them.
    assert!(found > 48.0 && found <= 96.0, "{found} huge pages of 96");
}
