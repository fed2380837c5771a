//! Every system call is accounted for: an operation times it, or a reason says why none does.

use std::collections::{BTreeMap, BTreeSet};

use howslow_catalogue::{Call, every_call};

fn names(calls: impl IntoIterator<Item = Call>) -> Vec<&'static str> {
    calls.into_iter().map(|call| call.name).collect()
}

#[test]
fn every_call_has_an_operation_or_a_reason() {
    let neither = names(every_call().into_iter().filter(|call| call.operation.is_none() && call.reason.is_none()));
    assert!(neither.is_empty(), "{} calls have neither operation nor reason: {}", neither.len(), neither.join(" "));
}

#[test]
fn no_call_has_both_an_operation_and_a_reason() {
    let both = names(every_call().into_iter().filter(|call| call.operation.is_some() && call.reason.is_some()));
    assert!(both.is_empty(), "these calls are timed, so the reasons why not are wrong: {}", both.join(" "));
}

#[test]
fn operations_name_only_calls_of_this_architecture() {
    let table: BTreeSet<&str> = names(every_call()).into_iter().collect();
    for operation in howslow_catalogue::all() {
        for call in operation.system_calls() {
            assert!(table.contains(call), "{} times '{call}', which is no call here", operation.id);
        }
        assert!(
            !operation.refused || operation.system_calls().next().is_some(),
            "{} is refused what call?",
            operation.id
        );
    }
}

#[test]
fn numbers_and_names_are_each_there_once() {
    let calls = every_call();
    assert!(calls.windows(2).all(|pair| pair[0].number < pair[1].number));
    assert_eq!(names(every_call()).into_iter().collect::<BTreeSet<_>>().len(), calls.len());
}

/// The numbers of the C library are independent of those in the table.
#[test]
fn the_table_agrees_with_the_c_library() {
    let table: BTreeMap<&str, i32> = every_call().into_iter().map(|call| (call.name, call.number)).collect();
    let known = [
        ("read", libc::SYS_read),
        ("newfstatat", libc::SYS_newfstatat),
        ("clone", libc::SYS_clone),
        ("futex", libc::SYS_futex),
        ("openat2", libc::SYS_openat2),
        ("mseal", libc::SYS_mseal),
    ];
    for (name, number) in known {
        assert_eq!(table.get(name).copied().map(i64::from), Some(number), "{name}");
    }
    assert_eq!(table.get("file_setattr"), Some(&469), "the last call of Linux 6.18");
}
