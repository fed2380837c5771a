//! Programs that request one thing of the kernel, again and again: each is priced by what it does.

use std::path::PathBuf;

use super::*;
use crate::support::EXAMPLE;

/// A program, how often it requests that, its memory in MiB, and lines of its mix: an operation, at any point where there is a star, and
/// how often.
type RequestedMix = (&'static str, u64, u64, &'static [(&'static str, f64)]);

const CONNECTED: [(&str, f64); 4] =
    [("called.socket", 30.0), ("called.connect", 30.0), ("called.close.connection", 30.0), ("called.close.last", 30.0)];
const FORKED: [(&str, f64); 4] = [
    ("process.vfork", 8.0),
    ("process.fork.resident@resident=1073741824", 0.5),
    ("page.fault.anonymous@frames=fresh", 16384.0),
    ("page.unmap.touched@pages=base,size=67108864", 1.0),
];
const REQUESTED: &[RequestedMix] = &[
    ("preadv", 20, 0, &[("called.read@*size=1048576", 20.0)]),
    ("status", 50, 0, &[("called.read.proc", 50.0), ("called.lseek", 50.0)]),
    ("connect", 30, 0, &CONNECTED),
    // 64 MiB are touched for the first time, copied eight times, and given back at the end.
    ("fork", 8, 64, &FORKED),
    // A byte through one pipe, and one back through another: half of them is read, half written.
    ("ping-pong", 50, 0, &[("called.pipe@size=1", 100.0)]),
    ("pipe", 50, 0, &[("called.pipe@size=4096", 50.0)]),
    ("eagain", 100, 0, &[("called.receive.none", 100.0)]),
    ("creat", 30, 0, &[("called.create", 1.0), ("called.open.write", 29.0), ("called.close.write", 30.0)]),
    // 64 MiB are unmapped three times.
    ("huge", 3, 64, &[("page.fault.huge@frames=fresh", 96.0), ("page.unmap.touched@pages=huge,size=67108864", 3.0)]),
];

/// How often the mix of a bill of this program has each operation that is requested.
fn mix_of(data: &TempDir, place: &TempDir, program: &Path, (name, times, mib, wanted): RequestedMix) -> Vec<f64> {
    let file = place.path().join("mix.toml");
    let words = [&program.display().to_string(), name, &times.to_string(), &mib.to_string()];
    billed_by(data, place.path(), &["--source", "ebpf", "-o", &file.display().to_string()], &words);
    let mix: toml::Table = fs::read_to_string(&file).expect("the mix").parse().expect("TOML");
    let lines = mix["operation"].as_array().expect("lines");
    let times_of = |id: &str| -> f64 {
        let (begin, end) = id.split_once('*').unwrap_or((id, ""));
        let is_it =
            |name: &str| if end.is_empty() { name == id } else { name.starts_with(begin) && name.ends_with(end) };
        let mine = lines.iter().filter(|line| line["operation"].as_str().is_some_and(is_it));
        let times = mine.map(|line| line["times"].as_float().or(line["times"].as_integer().map(|times| times as f64)));
        times.map(|times| times.expect("a number")).sum()
    };
    wanted.iter().map(|(id, _)| times_of(id)).collect()
}

#[test]
fn what_a_program_requests_has_the_price_of_just_that() {
    each_request_is_in_the_mix();
    look_ups_of_many_names_are_priced_by_many_files();
}

fn each_request_is_in_the_mix() {
    let (Some(data), place) = (counting("ebpf"), folder()) else { return };
    if !Path::new("/sys/kernel/btf/vmlinux").exists() {
        return testing::not_tested!("this kernel does not describe its types; CONFIG_DEBUG_INFO_BTF");
    }
    let Some(program) = savings::compiled(&place, "asks") else { return };
    let has_huge = savings::has_huge_pages();
    for requested in REQUESTED.iter().filter(|requested| requested.0 != "huge" || has_huge) {
        for (found, (id, times)) in mix_of(&data, &place, &program, *requested).into_iter().zip(requested.3) {
            // The start of the program reads and closes a few files, and has some pages.
            let some = if *id == "called.close.write" { 0.0 } else { 2.0 };
            let few = if *times >= 5.0 { (times * 0.02).max(some) } else { times * 0.1 };
            // Memory may be in too many pieces for some huge pages.
            let least = if requested.0 == "huge" { times / 2.0 } else { times - few };
            assert!(found >= least && found <= times + few, "{}: {found} times {id}, not {times}", requested.0);
        }
    }
}

/// A run whose prices are written by hand: each look-up costs 1 µs on one file and 3 µs on many.
fn written_prices(place: &Path) -> PathBuf {
    let mut run = record::run_from_bytes(EXAMPLE.as_bytes()).expect("a run");
    run.machine = system::machine::describe();
    let ns = record::Nanoseconds;
    let base = &run.costs[0];
    let costs = catalogue::find("called.stat").expect("it is there").points(true).into_iter().map(|at| {
        let price = if at.number("files") == Some(1) { 1e3 } else { 3e3 };
        let mut cost = record::Cost { operation: "called.stat".into(), at, terms: Vec::new(), ..base.clone() };
        for figures in [&mut cost.net_ns, &mut cost.gross_ns] {
            (figures.best, figures.quiet, figures.typical) = (ns(price), ns(price), ns(price));
            (figures.low, figures.high) = (ns(price), ns(price));
        }
        cost
    });
    run.costs = costs.collect();
    let file = place.join("prices.json");
    fs::write(&file, serde_json::to_vec(&run).expect("JSON")).expect("written");
    file
}

fn look_ups_of_many_names_are_priced_by_many_files() {
    let Some(data) = counting("ebpf") else { return };
    let place = folder();
    let prices = written_prices(place.path()).display().to_string();
    // A few names again and again, or each name once.
    let again = "i=0; while [ $i -lt 200 ]; do for f in few/*; do test -f $f; done; i=$((i+1)); done";
    for (name, files, words) in [("few", 10, ["sh", "-c", again]), ("many", 1500, ["find", "many", "-empty"])] {
        let home = place.path().join(name);
        fs::create_dir(&home).expect("a folder");
        (0..files).for_each(|file| fs::write(home.join(format!("f{file}")), "").expect("a file"));
        let bill = billed_by(&data, place.path(), &["--source", "ebpf", "--on", &prices], &words).document;
        let range = bill["explained_range_ns"].as_array().expect("a range");
        let [one, many] = [0, 1].map(|place| range[place].as_f64().expect("a figure"));
        let explained = bill["explained"]["ns"].as_f64().expect("a figure");
        let expected = format!("{files} files, 2 µs more each: {one} to {many}; {}", bill["rows"]);
        assert!(many - one > 1e3 * f64::from(files), "{expected}");
        if name == "many" {
            assert_eq!(explained, many, "{one} to {many}");
        } else {
            assert!(explained - one < 0.2 * (many - one), "{one} to {many}: {explained}; {}", bill["rows"]);
        }
    }
}
