//! What people call operations: the names of other benchmarks, and words that no summary uses. One line an operation; the
//! words are searched by `howslow list`.

/// Other names of an operation, or of all whose ids begin with it.
const NAMES: &[(&str, &str)] = &[
    ("loop.empty", "overhead baseline"),
    ("instruction.add.latency", "lat_ops integer add latency alu cpu"),
    ("instruction.branch.missed", "misprediction branch miss predictor"),
    ("instruction.atomic.add", "lock xadd fetch_add atomics"),
    ("memory.copy", "memcpy bw_mem stream copy bandwidth bcopy"),
    ("memory.load", "lat_mem_rd cache miss latency l1 l2 l3 dram ram random access pointer chase"),
    ("memory.load.paged", "tlb miss translation"),
    ("memory.read", "bw_mem bandwidth read stream"),
    ("memory.write", "bw_mem bandwidth write stream memset"),
    ("memory.translate", "tlb miss page walk"),
    ("clock.read", "gettime clock_gettime gettimeofday time now"),
    ("clock.read.counter", "rdtsc tsc"),
    ("syscall.getppid", "lat_syscall system call null syscall basic kernel entry overhead getpid"),
    ("syscall.open.close", "lat_syscall open file"),
    ("syscall.stat", "lat_syscall stat"),
    ("page.map.touch.unmap", "mmap lat_mmap allocate memory"),
    ("page.map.unmap", "mmap lat_mmap munmap"),
    ("page.fault.anonymous", "lat_pagefault minor fault demand zero first touch page-faults"),
    ("page.fault.file", "lat_pagefault minor fault mapped"),
    ("page.fault.around", "fault-around map_pages minor fault mapped library"),
    ("page.unmap.touched", "munmap free zap exit teardown resident"),
    ("page.fault.copy", "cow copy on write"),
    ("page.fault.huge", "thp hugepage transparent huge pages 2m"),
    ("touch.first", "malloc allocation page fault first touch zeroing"),
    ("file.read", "bw_file_rd page cache buffered cached"),
    ("file.read.mapped", "bw_mmap_rd mmap"),
    ("file.fsync", "sync durable commit flush disk latency"),
    ("file.create.delete", "lat_fs create delete small files metadata"),
    ("file.read.direct", "disk latency random read iops ssd nvme"),
    ("read.uring", "io_uring asynchronous"),
    ("async.read.ring", "io_uring uring nop latency"),
    ("call.io_uring_enter", "uring"),
    ("poll.select", "lat_select"),
    ("pipe.roundtrip", "lat_pipe sched pipe perf bench ipc latency ping pong"),
    ("pipe.self", "lat_pipe bw_pipe"),
    ("unix.roundtrip", "lat_unix sched messaging hackbench socket ipc latency"),
    ("tcp.roundtrip", "lat_tcp lat_rpc netperf network loopback socket latency"),
    ("tcp.send", "bw_tcp throughput bandwidth network"),
    ("udp.roundtrip", "lat_udp network loopback socket latency"),
    ("futex.roundtrip", "wake wakeup futex-wake block sleep mutex"),
    ("call.futex", "futex wake"),
    ("semaphore.systemv.roundtrip", "lat_sem"),
    ("signal.install", "lat_sig install handler sigaction"),
    ("signal.deliver", "lat_sig catch handler"),
    ("signal.send.fault", "lat_sig prot segv"),
    ("switch.process", "lat_ctx context switch ctxsw"),
    ("switch.thread", "lat_ctx context switch ctxsw"),
    ("switch.yield", "sched_yield context switch"),
    ("pipe.idle", "wakeup wake idle c-state"),
    ("scheduler.response", "schbench wakeup wake latency run queue delay"),
    ("sleep.late", "cyclictest timer latency jitter nanosleep usleep"),
    ("wakeup.pipe", "wakeup wake latency schbench"),
    ("contention.lock", "mutex spinlock lock contention"),
    ("contention.line", "core to core cache line bounce false sharing"),
    ("contention.counters", "false sharing cache line"),
    ("contention.shootdown.munmap", "tlb shootdown ipi"),
    ("thread.create.join", "pthread create thread creation spawn"),
    ("process.fork", "lat_proc fork process creation"),
    ("process.exec", "lat_proc exec start program process creation"),
    ("process.spawn", "posix_spawn start program subprocess"),
    ("process.shell", "lat_proc shell start bash startup script"),
    ("instruction.divide.latency", "division modulo integer div idiv"),
    ("instruction.vector.add.latency", "simd sse avx neon"),
    ("call.getrandom", "random numbers urandom entropy"),
    ("call.migrate_pages", "numa node migration"),
    ("call.mbind", "numa node policy"),
    ("crossing.vdso", "vdso gettimeofday no kernel entry"),
    ("sort", "qsort order"),
    ("convert", "itoa atoi parse print printf scanf number"),
];

/// What people call the operation with this id; empty if nothing else than its summary does.
pub fn other_names(id: &str) -> &'static str {
    NAMES
        .iter()
        .find(|(known, _)| id == *known)
        .or_else(|| NAMES.iter().find(|(known, _)| is_of(id, known)))
        .map_or("", |(_, names)| names)
}

/// True for the family itself as the first word of an id. Names of an operation are not those of variants of it.
fn is_of(id: &str, family: &str) -> bool {
    !family.contains('.') && id.strip_prefix(family).is_some_and(|rest| rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_of_an_operation_that_exists() {
        for (of, names) in NAMES {
            assert!(crate::all().any(|operation| operation.id == *of || is_of(operation.id, of)), "{of}");
            assert!(!names.is_empty() && NAMES.iter().filter(|(other, _)| other == of).count() == 1, "{of}");
        }
        assert_eq!(other_names("sort.memory"), "qsort order", "those of the family");
        assert_eq!(other_names("file.read.mapped.other"), "", "an operation's names are not those of its variants");
    }
}
