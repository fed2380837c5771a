//! Ways of counting beside eBPF: what they count, what they leave unchanged, and why they are not possible.

use super::*;

#[test]
fn both_ways_of_counting_find_the_same() {
    let data = folder();
    if !can_count(&data) || !can_count_by(&data, "ptrace") {
        return;
    }
    let place = files();
    let counts = |together: &Value, list: &str, key: [&str; 2]| -> BTreeMap<String, u64> {
        let list = together[list].as_array().expect("a list");
        let entry = |it: &Value| (format!("{} {}", it[key[0]], it[key[1]]), it["count"].as_u64().expect("a count"));
        list.iter().map(entry).collect()
    };
    let signals = "i=0; while [ $i -lt 23 ]; do /bin/true; i=$((i+1)); done; trap : USR1; kill -USR1 $$; :";
    for words in
        [&["find", "d"][..], &["dd", "if=/dev/zero", "of=/dev/null", "bs=7", "count=23"], &["sh", "-c", signals]]
    {
        let of =
            |source: &str| billed_by(&data, place.path(), &["--source", source], words)["seen"]["together"].clone();
        let (kernel, tracer) = (of("ebpf"), of("ptrace"));
        for what in ["forks", "execs", "signals"] {
            assert_eq!(kernel[what], tracer[what], "{what} of {words:?}");
        }
        // What was moved is part of the key.
        assert_eq!(counts(&kernel, "calls", ["call", "bytes"]), counts(&tracer, "calls", ["call", "bytes"]));
        // After which call a signal comes is chance.
        if words[0] != "sh" {
            assert_eq!(counts(&kernel, "pairs", ["first", "then"]), counts(&tracer, "pairs", ["first", "then"]));
        }
    }
}
