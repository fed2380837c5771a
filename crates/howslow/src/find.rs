//! Finds operations by words: their ids, other names, summaries, headings and system calls are searched.

use operation::Operation;

/// Words that say nothing about what is looked for.
const EMPTY: [&str; 22] = [
    "a", "an", "the", "of", "to", "and", "in", "on", "how", "long", "does", "do", "is", "what", "cost", "costs",
    "take", "takes", "time", "my", "for", "with",
];

/// The operations that these words mean, best first. If none has all words, those that have most of them.
pub(crate) fn find(text: &str) -> Vec<&'static Operation> {
    found(text).1
}

/// True if they have all words, and the operations.
fn found(text: &str) -> (bool, Vec<&'static Operation>) {
    let text = text.to_lowercase();
    let all: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || "-./,:+()".contains(c)).filter(|it| !it.is_empty()).collect();
    let telling: Vec<&str> = all.iter().copied().filter(|word| !EMPTY.contains(word)).collect();
    let words = if telling.is_empty() { all } else { telling };
    let mut found: Vec<(usize, u32, &'static Operation)> = catalogue::all()
        .map(|operation| {
            let scores: Vec<u32> = words.iter().map(|word| score(operation, word)).filter(|score| *score > 0).collect();
            let usual = if operation.headline { 8 } else { 0 };
            (scores.len(), scores.iter().sum::<u32>() + usual, operation)
        })
        .filter(|(count, ..)| *count > 0)
        .collect();
    let most = found.iter().map(|(count, ..)| *count).max().unwrap_or(0);
    found.retain(|(count, ..)| *count == most);
    // Among equals the order is that of the registry.
    found.sort_by_key(|(_, score, _)| std::cmp::Reverse(*score));
    (most == words.len(), found.into_iter().map(|(.., operation)| operation).collect())
}

/// `howslow list huge` finds page.fault.huge and 5 more; `, or nothing if no operation has all words.
pub(crate) fn hint(text: &str) -> String {
    let (true, found) = found(text) else { return String::new() };
    let Some(first) = found.first() else { return String::new() };
    let more = match found.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("`howslow list {}` finds {}{more}; ", record::printable(text), first.id)
}

/// How well a word fits an operation: by where it is found, and whether as a whole. 0 if it is not found.
fn score(operation: &Operation, word: &str) -> u32 {
    let fields = [
        (10, operation.id.to_string()),
        (9, catalogue::other_names(operation.id).to_string()),
        (9, operation.aliases.join(" ")),
        (6, operation.system_calls().collect::<Vec<_>>().join(" ")),
        (5, operation.summary.to_string()),
        (4, catalogue::heading(operation.id).to_string()),
    ];
    fields.into_iter().map(|(weight, text)| fit(&text.to_lowercase(), word) * weight).max().unwrap_or(0)
}

/// 4 for a word of the text, 2 for the beginning of one, 1 for a part of one.
fn fit(text: &str, word: &str) -> u32 {
    /// Shorter parts of words are found everywhere.
    const SHORTEST: usize = 3;
    let stem = stem(word);
    let fits = |other: &str| match () {
        () if other == word || self::stem(other) == stem => 4,
        () if word.len() >= SHORTEST && other.starts_with(stem) => 2,
        () if word.len() > SHORTEST && other.contains(stem) => 1,
        () => 0,
    };
    text.split(|c: char| !c.is_alphanumeric() && c != '_').map(fits).max().unwrap_or(0)
}

/// A word without the ending of a plural or of an activity.
fn stem(word: &str) -> &str {
    const LEAST: usize = 3;
    let ends = ["ches", "shes", "sses"].iter().find(|end| word.ends_with(**end)).map(|_| &word[..word.len() - 2]);
    let stem = ends.or_else(|| word.strip_suffix("ing")).or_else(|| word.strip_suffix('s')).unwrap_or(word);
    if stem.chars().count() < LEAST || word.ends_with("ss") { word } else { stem }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What people look for, by the names of lmbench, perf bench and stress-ng and in their own words, and what is meant.
    const QUESTIONS: [(&str, &str); 69] = [
        ("lat_ctx", "switch.process"),
        ("lat_syscall", "syscall.getppid"),
        ("lat_pagefault", "page.fault.anonymous"),
        ("lat_mem_rd", "memory.load"),
        ("lat_pipe", "pipe.roundtrip"),
        ("lat_unix", "unix.roundtrip"),
        ("lat_tcp", "tcp.roundtrip"),
        ("lat_udp", "udp.roundtrip"),
        ("lat_proc", "process.fork"),
        ("lat_sig", "signal.deliver"),
        ("lat_select", "poll.select"),
        ("lat_fs", "file.create.delete"),
        ("lat_mmap", "page.map.touch.unmap"),
        ("bw_mem", "memory.copy"),
        ("bw_pipe", "pipe.self"),
        ("bw_tcp", "tcp.send"),
        ("bw_file_rd", "file.read"),
        ("bw_mmap_rd", "file.read.mapped"),
        ("sched pipe", "pipe.roundtrip"),
        ("sched messaging", "unix.roundtrip"),
        ("syscall basic", "syscall.getppid"),
        ("futex wake", "futex.roundtrip"),
        ("memcpy", "memory.copy"),
        ("cyclictest", "sleep.late"),
        ("schbench", "scheduler.response"),
        ("context switch", "switch.process"),
        ("fork", "process.fork"),
        ("exec", "process.exec"),
        ("page fault", "page.fault.anonymous"),
        ("mmap", "page.map.touch.unmap"),
        ("copy memory", "memory.copy"),
        ("huge pages", "page.fault.huge"),
        ("huge", "page.fault.huge"),
        ("io_uring", "async.read.ring"),
        ("uring", "read.uring"),
        ("tcp latency", "tcp.roundtrip"),
        ("wake", "futex.roundtrip"),
        ("thread creation", "thread.create.join"),
        ("cache latency", "memory.load"),
        ("tlb miss", "memory.load.paged"),
        ("false sharing", "contention.counters"),
        ("mutex contention", "contention.lock"),
        ("how long does a system call take", "syscall.getppid"),
        ("disk latency", "file.fsync"),
        ("sleep accuracy", "sleep.late"),
        ("branch misprediction", "instruction.branch.missed"),
        ("division", "instruction.divide.latency"),
        ("avx", "instruction.vector.add.latency"),
        ("random numbers", "call.getrandom"),
        ("bash startup", "process.shell"),
        ("hackbench", "unix.roundtrip"),
        ("lat_rpc", "tcp.roundtrip"),
        ("printf", "convert.integer.text"),
        ("copy on write", "page.fault.copy"),
        ("numa", "call.migrate_pages"),
        ("gettimeofday", "clock.read"),
        ("spinlock", "contention.lock"),
        ("direct io", "file.read.direct"),
        ("ssd latency", "file.read.direct"),
        ("directory listing", "called.list"),
        ("stat a file", "syscall.stat"),
        ("epoll", "poll.epoll"),
        ("semaphore", "semaphore.posix.roundtrip"),
        ("system call overhead", "syscall.getppid"),
        ("dram latency", "memory.load"),
        ("memory bandwidth", "memory.copy"),
        ("atomic increment", "instruction.atomic.add"),
        ("write a file", "file.write"),
        ("container start", "process.exec"),
    ];

    #[test]
    fn everyday_questions_find_what_is_meant_in_the_first_lines() {
        let missed: Vec<String> = QUESTIONS
            .iter()
            .filter_map(|(question, meant)| {
                let ids: Vec<&str> = find(question).into_iter().take(4).map(|operation| operation.id).collect();
                (!ids.contains(meant)).then(|| format!("{question}: {meant} is not among {ids:?}"))
            })
            .collect();
        assert!(missed.is_empty(), "{}", missed.join("\n"));
    }

    #[test]
    fn nonsense_finds_nothing() {
        assert!(find("zzzz").is_empty() && find("").is_empty() && find("...").is_empty());
        assert_eq!(hint("zzzz"), "");
        assert!(hint("huge").contains("page.fault.huge and "));
    }
}
