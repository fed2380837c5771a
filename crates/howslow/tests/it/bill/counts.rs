//! Counts beside those of strace, for commands that make the same calls each time; and each way of counting beside the other.

use super::*;
use crate::support::is_installed;

/// Commands that do the same each time, threads left out: what those wait for differs.
const COMMANDS: [&[&str]; 13] = [
    &["dd", "if=/dev/zero", "of=/dev/null", "bs=512", "count=5000"],
    &["dd", "if=/dev/zero", "of=/dev/null", "bs=7", "count=23", "status=none"],
    &["find", "d"],
    &["tar", "cf", "/dev/null", "d"],
    &["sort", "words"],
    &["grep", "-r", "7", "d"],
    &["gzip", "-c", "words"],
    &["ls", "-lR", "d"],
    &["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done"],
    &["sh", "-c", "/bin/cat words; /bin/cat d/f1; cd d"],
    &["xargs", "-a", "words", "-n", "500", "/bin/echo"],
    &["/usr/bin/python3", "-c", "import json, os; print(len(os.listdir('d')))"],
    &["git", "init", "--bare", "repository"],
];

/// What strace counts. It does not count the calls that never return.
fn straced(data: &TempDir, place: &Path, words: &[&str]) -> Calls {
    let table = place.join("table");
    let mut command = unvaried(data, place, "strace");
    command.args(["-f", "-c", "-o"]).arg(&table).args(words);
    assert!(command.status().expect("strace runs").success(), "{words:?}");
    let text = fs::read_to_string(&table).expect("its table");
    fs::remove_file(&table).expect("its table can be removed");
    let mut found = Calls::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let counts = match fields.as_slice() {
            [share, _, _, count, name] if share.parse::<f64>().is_ok() => Some((name, *count, "0")),
            [share, _, _, count, errors, name] if share.parse::<f64>().is_ok() => Some((name, *count, *errors)),
            _ => None,
        };
        if let Some((name, count, errors)) = counts.filter(|(name, ..)| **name != "total" && !name.starts_with("exit"))
        {
            found.insert((*name).into(), (count.parse().expect("a count"), errors.parse().expect("a count")));
        }
    }
    found
}

#[test]
fn counts_are_those_of_strace_and_the_same_by_each_way_of_counting() {
    let sources = possible();
    if !is_installed("strace") {
        return testing::not_tested!("strace is not installed; apt-get install strace");
    }
    testing::interruptible();
    let data = folder();
    for words in COMMANDS {
        if !is_installed(words[0]) {
            testing::left_out!("{} is not installed", words[0]);
            continue;
        }
        agree(&data, &sources, words);
    }
    let shell = "i=0; while [ $i -lt 23 ]; do /bin/true; i=$((i+1)); done; trap : USR1; kill -USR1 $$; ulimit -c 0; \
        for end in TERM KILL HUP ABRT; do sh -c \"kill -$end \\$\\$\"; done; cd d; find . -size +9; \
        for i in 1 2 3; do cat f1 f2 >> new; test -f s1/$i; done; rm new";
    let place = files();
    let counted = sources.iter().map(|source| {
        let observed = |more: &[&str]| {
            billed_by(&data, place.path(), &[&["--source", source], more].concat(), &["sh", "-c", shell]).seen
        };
        let (seen, alone) = (observed(&[]), observed(&["--counts-only"]));
        numbers_alone_are_the_same(&seen, &alone);
        let count =
            |name: &str| seen.together.signals.iter().find(|signal| signal.name == name).map(|signal| signal.count);
        let ends = ["SIGTERM", "SIGKILL", "SIGHUP", "SIGABRT", "SIGUSR1", "SIGCHLD"].map(count);
        assert_eq!(ends, [1, 1, 1, 1, 1, 32].map(Some), "{source}: {:?}", seen.together.signals);
        assert!(seen.together.distinct_names > Some(80) && seen.together.creates == 1, "later it is there");
        let Requests { forks, execs, creates, distinct_names, .. } = seen.together;
        let signals = sorted(&seen.together.signals, |signal| (signal.name.clone(), signal.count));
        ((forks, execs, creates, signals), distinct_names.expect("names") as f64)
    });
    let counted: Vec<_> = counted.collect();
    assert!(counted.iter().all(|(counts, _)| *counts == counted[0].0), "{counted:?}");
    // A name whose page is not in memory when it is read by eBPF is not counted, and one more or less moves the estimate by several.
    assert!(counted.iter().all(|(_, names)| (names / counted[0].1 - 1.0).abs() < 0.02), "{counted:?}");
}

/// How often a shell waits, and is signalled by a child, depends on which is faster. A call by which a process kills itself counts.
fn numbers_alone_are_the_same(seen: &Observation, alone: &Observation) {
    let numbers = |seen: &Observation| -> BTreeMap<String, u64> {
        let calls = seen.together.calls.iter().filter(|call| !["wait4", "rt_sigreturn"].contains(&call.call.as_str()));
        calls.map(|call| (call.call.clone(), call.count)).collect()
    };
    assert_eq!(numbers(seen), numbers(alone));
    assert_eq!((seen.numbers_alone, alone.numbers_alone, alone.together.pairs.len()), (false, true, 0));
    assert!(alone.together.calls.iter().all(|call| call.bytes.is_none()), "{:?}", alone.together.calls);
}

fn sorted<T, K: Ord>(list: &[T], key: impl Fn(&T) -> K) -> Vec<K> {
    let mut keys: Vec<K> = list.iter().map(key).collect();
    keys.sort();
    keys
}

/// Counts a command by strace and by bills. A program may draw a random number more or less, so that two runs of it differ;
/// of a few, one makes the same calls.
fn agree(data: &TempDir, sources: &[&str], words: &[&str]) {
    const TRIES: u32 = 5;
    for left in (0..TRIES).rev() {
        let expected = straced(data, files().path(), words);
        let bills: Vec<Bill> =
            sources.iter().map(|source| billed_by(data, files().path(), &["--source", source], words)).collect();
        let found = bills.iter().map(|bill| {
            assert_eq!(bill.seen.losses, [], "{words:?}");
            let mut found = bill.calls();
            let ended = found.remove("exit_group").map_or(0, |(count, _)| count);
            let processes = &bill.seen.processes;
            assert_eq!(ended, processes.len() as u64, "every process of {words:?} ends by exit_group: {processes:?}");
            found
        });
        let found: Vec<Calls> = found.collect();
        if found.iter().all(|found| *found == expected) {
            return agree_in_detail(&bills, words);
        }
        assert!(left > 0, "{words:?}: {found:?} instead of {expected:?}");
    }
}

/// After which call a signal comes is chance, so this is for what starts no child; and a dd that prints its rate prints another one.
fn agree_in_detail(bills: &[Bill], words: &[&str]) {
    let details = bills.iter().filter(|_| words[0] == "find" || words.contains(&"status=none")).map(|bill| {
        let requests = &bill.seen.together;
        let moved = sorted(&requests.calls, |call| (call.call.clone(), call.bytes, call.count));
        let pairs = sorted(&requests.pairs, |pair| (pair.first.clone(), pair.then.clone(), pair.count));
        (moved, pairs, requests.forks, requests.execs)
    });
    let details: Vec<_> = details.collect();
    assert!(details.iter().all(|detail| *detail == details[0]), "{words:?}: {details:?}");
}
