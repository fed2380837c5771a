//! Distinct names, created files, and what counting costs a command.

use super::*;

/// The number of distinct names that a command looks up.
fn distinct(data: &TempDir, place: &Path, words: &[&str]) -> u64 {
    let document = billed(data, place, words);
    document["seen"]["together"]["distinct_names"].as_u64().expect("names were looked up")
}

#[test]
fn names_are_counted_once_and_apart_in_each_folder() {
    let Some(data) = counting("ebpf") else { return };
    let place = folder();
    // The same names in each folder.
    for home in 0..20 {
        let home = place.path().join(format!("d{home}"));
        fs::create_dir(&home).expect("a folder");
        (0..50).for_each(|file| fs::write(home.join(format!("f{file}")), "").expect("a file"));
    }
    let found = distinct(&data, place.path(), &["find", ".", "-size", "+9"]);
    assert!((900..1300).contains(&found), "1021 and some of the C library: {found}");
    let once = distinct(&data, place.path(), &["sh", "-c", "test -f d0/f0"]);
    let again = "i=0; while [ $i -lt 500 ]; do test -f d0/f0; i=$((i+1)); done";
    let often = distinct(&data, place.path(), &["sh", "-c", again]);
    assert!(often.abs_diff(once) <= 1, "{once} names, and {often} if one is looked up 500 times");
    let children = "for i in 1 2 3 4 5 6 7 8; do /bin/ls d0 d1 > /dev/null; done";
    let one = distinct(&data, place.path(), &["sh", "-c", "/bin/ls d0 d1 > /dev/null; :"]);
    let eight = distinct(&data, place.path(), &["sh", "-c", children]);
    assert!(eight.abs_diff(one) <= 3, "{one} names of one child, {eight} of eight that do the same");
}

/// Opens so many folders by one thread, and looks a file up in each by another thread and by a child.
const FOLDERS: &str = r#"
    use std::os::fd::AsRawFd;
    fn main() { unsafe {
        let many: u32 = std::env::args().nth(1).unwrap().parse().unwrap();
        let open: Vec<std::fs::File> = (0..many).map(|n| std::fs::File::open(format!("d{n}")).unwrap()).collect();
        let number = if cfg!(target_arch = "x86_64") { 269 } else { 48 };
        let look = || open.iter().for_each(|folder| drop(syscall(number, folder.as_raw_fd(), c"f".as_ptr(), 0)));
        std::thread::scope(|scope| { scope.spawn(look); });
        let fork = if cfg!(target_arch = "x86_64") { 56 } else { 220 };
        let child = syscall(fork, 17, 0_usize, 0_usize, 0_usize, 0_usize);
        if child == 0 { look(); }
        let wait = if cfg!(target_arch = "x86_64") { 61 } else { 260 };
        if child > 0 { syscall(wait, child, 0_usize, 0, 0_usize); }
    } }
"#;

#[test]
fn a_file_in_each_of_many_folders_is_a_name_in_each_thread_and_child() {
    let Some(data) = counting("ebpf") else { return };
    let program = programs::compiled(data.path(), "folders", FOLDERS);
    (0..150).for_each(|n| fs::create_dir(data.path().join(format!("d{n}"))).expect("a folder"));
    let program = program.to_str().expect("a path of text");
    for source in ["ebpf", "ptrace"] {
        let distinct = |folders: &str| {
            let document = billed_by(&data, data.path(), &["--source", source], &[program, folders]);
            document["seen"]["together"]["distinct_names"].as_u64().expect("names")
        };
        let (one, all) = (distinct("1"), distinct("150"));
        assert!((268..328).contains(&(all - one)), "{source}: 298 names more than {one}: {all}");
    }
}

#[test]
fn created_files_are_counted_and_the_mix_says_how_many_names_there_were() {
    let Some(data) = counting("ebpf") else { return };
    let place = folder();
    let script = "i=0; while [ $i -lt 23 ]; do echo $i > f$i; i=$((i+1)); done; : < f0; rm f?";
    let document = billed(&data, place.path(), &["sh", "-c", script]);
    assert_eq!(document["seen"]["together"]["creates"], 23);
    let mix = place.path().join("mix.toml");
    howslow(&data).args(["bill", "--source", "ebpf", "-o"]).arg(&mix).args(["--", "ls", "/"]).assert().success();
    let text = fs::read_to_string(&mix).expect("the mix");
    let names = text.lines().find_map(|line| line.strip_prefix("distinct_names = ")).expect("the names");
    assert!(names.parse::<u64>().is_ok_and(|names| names > 2), "{text}");
}

#[test]
fn a_tracer_counts_the_same_names_and_creations_as_the_kernel() {
    let Some(data) = counting("ebpf").and_then(|_| counting("ptrace")) else { return };
    let place = files();
    let script = "cd d; find . -size +9; for i in 1 2 3; do cat f1 f2 >> new; test -f s1/$i; done; rm new";
    let counted = |source: &str| {
        let document = billed_by(&data, place.path(), &["--source", source], &["sh", "-c", script]);
        let together = &document["seen"]["together"];
        (together["distinct_names"].as_u64(), together["creates"].as_u64())
    };
    let kernel = counted("ebpf");
    assert!(kernel.0.is_some_and(|names| names > 80) && kernel.1 == Some(1), "{kernel:?}: later it is there");
    assert_eq!(counted("ptrace"), kernel);
}

#[test]
fn every_bill_tells_what_calls_took_longer_while_they_were_counted() {
    for source in ["ebpf", "ptrace"] {
        let Some(data) = counting(source) else { continue };
        let options = ["bill", "--source", source, "-o"];
        let file = data.path().join("bill.json");
        let output = howslow(&data).args(options).arg(&file).args(["--", "true"]).assert().success();
        output.stderr(contains("alternately").and(contains("12 times each")));
        let document: Value = serde_json::from_slice(&fs::read(&file).expect("the document")).expect("JSON");
        let counting = &document["seen"]["counting"];
        let figure = |name: &str| counting["probe"][name].as_f64().expect("a figure");
        assert_eq!(figure("pairs"), 12.0);
        assert!(figure("per_call_ns") > 0.0, "{counting}");
        assert!(figure("low_ns") <= figure("per_call_ns") && figure("per_call_ns") <= figure("high_ns"), "{counting}");
        assert_eq!(counting["per_call_ns"], counting["probe"]["per_call_ns"]);
        assert_eq!(counting["in_program_ns"].is_null(), source == "ptrace", "{counting}");
        assert!(!calls(&document).contains_key("getppid"), "what howslow calls itself is not in the bill");
    }
}

#[test]
fn an_alternated_run_tells_what_counting_costs() {
    let Some(data) = counting("ebpf") else { return };
    let place = folder();
    let script = "echo x >> runs; i=0; while [ $i -lt 9 ]; do test -f $i; i=$((i+1)); done; exit 3";
    let file = place.path().join("bill.json");
    howslow(&data)
        .current_dir(place.path())
        .args(["bill", "--alternate", "2", "-o"])
        .arg(&file)
        .args(["--", "sh", "-c", script])
        .assert()
        .code(3)
        .stderr(contains("Alternated,").and(contains("2 times each:")));
    assert_eq!(fs::read_to_string(place.path().join("runs")).expect("its lines"), "x\n".repeat(5));
    let document: Value = serde_json::from_slice(&fs::read(&file).expect("the document")).expect("JSON");
    let told = &document["seen"]["counting"]["alternated"];
    assert_eq!(told["pairs"], 2);
    let figure = |name: &str| told[name].as_f64().expect("a figure");
    assert!(figure("bare_cpu_ns") > 0.0 && figure("counted_cpu_ns") > 0.0, "{told}");
    let cost = (figure("counted_cpu_ns") - figure("bare_cpu_ns")).max(0.0);
    assert_eq!(document["seen"]["counting"]["together_ns"].as_f64(), Some(cost));
    howslow(&data).args(["bill", "--alternate", "2", "--system", "--for", "1s"]).assert().code(2);
}
