//! Distinct names that a command looks up.

use super::programs::program;
use super::*;

#[test]
fn names_are_counted_once_and_apart_in_each_folder_thread_and_child() {
    let Some(data) = counting("ebpf") else { return };
    let place = folder();
    // The same names in each folder.
    for home in 0..150 {
        let home = place.path().join(format!("d{home}"));
        fs::create_dir(&home).expect("a folder");
        (0..10).for_each(|file| fs::write(home.join(format!("f{file}")), "").expect("a file"));
    }
    let distinct = |source: &str, words: &[&str]| {
        let bill = billed_by(&data, place.path(), &["--source", source], words);
        bill.seen.together.distinct_names.expect("names were looked up")
    };
    let found = distinct("ebpf", &["find", ".", "-size", "+9"]);
    assert!((1485..1950).contains(&found), "1651 and some of the C library: {found}");
    let shell = |script: &str| distinct("ebpf", &["sh", "-c", script]);
    let once = shell("test -f d0/f0; /bin/ls d0 d1 > /dev/null; :");
    let again = "i=0; while [ $i -lt 500 ]; do test -f d0/f0; i=$((i+1)); done;";
    let often = shell(&format!("{again} for i in 1 2 3 4 5 6 7 8; do /bin/ls d0 d1 > /dev/null; done"));
    assert!(often.abs_diff(once) <= 4, "{once} names, and {often} of one look-up 500 times and of eight children");
    // They differ behind what is read of a name at a time.
    let long = format!("/{}", "x".repeat(200));
    for source in possible() {
        let one_of_all = |last: u32| format!("i=0; while [ $i -lt {last} ]; do test -e {long}$i; i=$((i+1)); done; :");
        let [one, all] = [1, 60].map(|last| distinct(source, &["sh", "-c", &one_of_all(last)]));
        assert!((50..70).contains(&(all - one)), "{source}: 59 names more than {one}: {all}");
        let [one, all] = ["1", "150"].map(|folders| distinct(source, &[&program("folders"), folders]));
        assert!((268..328).contains(&(all - one)), "{source}: 298 names more than {one}: {all}");
    }
}
