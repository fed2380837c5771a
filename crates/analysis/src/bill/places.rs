//! Where in the program the calls of a finding are made, by the stacks that were sampled.

use std::collections::BTreeMap;

use record::{Observation, Stack, StackFrame};

/// The place of a program that made most of some calls, and its share of them.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundPlace {
    /// `flush (copy.c:12)`.
    pub function: String,
    /// The share of the sampled calls, 0 to 1.
    pub share: f64,
}

/// That place; `None` without stacks of these calls.
pub fn place_of(seen: &Observation, calls: &[String]) -> Option<FoundPlace> {
    let mut places: BTreeMap<String, u64> = BTreeMap::new();
    for stack in seen.stacks.iter().filter(|stack| calls.contains(&stack.call)) {
        let Some(frame) = innermost(stack) else { continue };
        *places.entry(frame.shown()).or_default() += stack.calls;
    }
    let all: u64 = places.values().sum();
    let (function, most) = places.into_iter().max_by_key(|(_, calls)| *calls)?;
    Some(FoundPlace { function, share: most as f64 / all.max(1) as f64 })
}

/// The innermost function of the program itself, without what its language puts into its file; of one that has none on the stack,
/// of a library.
fn innermost(stack: &Stack) -> Option<&StackFrame> {
    let own = || stack.frames.iter().rev().filter(|frame| frame.own);
    own().find(|frame| !is_of_a_language(&frame.function)).or(own().next()).or(stack.frames.last())
}

/// True for a function of a standard library that is linked into programs: of Rust, C++, Go, C.
fn is_of_a_language(function: &str) -> bool {
    const BEGIN: [&str; 9] =
        ["std::", "core::", "alloc::", "__", "_start", "runtime.", "syscall.", "internal/", "os.(*File)"];
    let name = function.trim_start_matches(['<', '&']).trim_start_matches("mut ");
    BEGIN.iter().any(|begin| name.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(call: &str, calls: u64, frames: &[(&str, bool)]) -> Stack {
        let frame = |(function, own): &(&str, bool)| StackFrame {
            function: (*function).into(),
            line: own.then(|| "log.c:7".into()),
            own: *own,
        };
        let frames = frames.iter().map(frame).collect();
        Stack { process: "log".into(), call: call.into(), frames, calls, cpu_ns: 1.0 }
    }

    #[test]
    fn the_place_is_the_innermost_function_of_the_program_that_makes_most_of_the_calls() {
        let stacks = vec![
            stack("fsync", 60, &[("main", true), ("flush", true), ("<std::fs::File>::sync", true), ("fsync", false)]),
            stack("fsync", 20, &[("main", true), ("fsync", false)]),
            stack("fsync", 500, &[]),
            stack("read", 900, &[("main", true), ("load", true), ("read", false)]),
        ];
        let seen = Observation { stacks, ..Observation::default() };
        let found = place_of(&seen, &["fsync".into()]).expect("a place");
        assert_eq!((found.function.as_str(), found.share), ("flush (log.c:7)", 0.75));
        assert_eq!(place_of(&seen, &["fdatasync".into()]), None);
        let seen = Observation { stacks: vec![stack("read", 3, &[("read", false)])], ..Observation::default() };
        assert_eq!(place_of(&seen, &["read".into()]).map(|place| place.function).as_deref(), Some("read"));
    }
}
