//! The system calls that safe code can make, each with what it takes: `call::getpid()?` makes the call of that name. A call may stand
//! here if the kernel reads and writes only the memory of the arguments, whatever the numbers are and whatever that memory contains.
//! All other calls are made by [`invoke!`](super::invoke::invoke), which is unsafe.

use std::os::fd::OwnedFd;

use operation::Failure;
use syscalls::Sysno;

use super::invoke::{
    Argument, BufferList, CountReadsAll, CountWritesAll, Null, Number, OnePage, Reads, ReadsAll, Registers, Text, Word,
    Writes, WritesAll, system_call,
};

/// The kernel's `struct rusage` and `struct sysinfo`. Those of some C libraries have room for more.
type Usage = [u64; 18];
type SystemInfo = [u64; 14];

macro_rules! calls {
    ($($name:ident($($argument:ident: $kind:ty),* $(,)?);)*) => {$(
        #[inline(always)]
        pub(crate) fn $name($($argument: impl Argument<$kind>),*) -> Result<usize, Failure> {
            // SAFETY: the calls listed here access only the memory of their arguments, and each kind makes sure that this
            // memory is large enough and may be read or written.
            unsafe { system_call(Sysno::$name, Registers::default()$(.with::<$kind>($argument))*) }
        }
    )*};
}

calls! {
    openat(folder: Number, path: Text, flags: Number, mode: Number);
    openat2(folder: Number, path: Text, how: ReadsAll<u8>);
    close(file: OwnedFd);
    dup(file: Number);
    dup3(file: Number, copy: Number, flags: Number);
    fcntl(file: Number, command: Number);
    flock(file: Number, operation: Number);
    lseek(file: Number, offset: Number, from: Number);
    read(file: Number, buffer: WritesAll<u8>);
    write(file: Number, buffer: ReadsAll<u8>);
    readv(file: Number, buffers: BufferList);
    writev(file: Number, buffers: BufferList);
    pread64(file: Number, buffer: WritesAll<u8>, offset: Number);
    pwrite64(file: Number, buffer: ReadsAll<u8>, offset: Number);
    preadv(file: Number, buffers: BufferList, low: Number, high: Number);
    pwritev(file: Number, buffers: BufferList, low: Number, high: Number);
    preadv2(file: Number, buffers: BufferList, low: Number, high: Number, flags: Number);
    pwritev2(file: Number, buffers: BufferList, low: Number, high: Number, flags: Number);
    sendfile(target: Number, source: Number, offset: Writes<i64>, count: Number);
    copy_file_range(source: Number, from: Writes<i64>, target: Number, to: Writes<i64>, count: Number, flags: Number);
    splice(source: Number, from: Writes<i64>, target: Number, to: Writes<i64>, count: Number, flags: Number);
    tee(source: Number, target: Number, count: Number, flags: Number);
    vmsplice(pipe: Number, buffers: BufferList, flags: Number);
    readahead(file: Number, offset: Number, count: Number);
    fadvise64(file: Number, offset: Number, count: Number, advice: Number);
    fallocate(file: Number, mode: Number, offset: Number, count: Number);
    ftruncate(file: Number, length: Number);
    truncate(path: Text, length: Number);
    cachestat(file: Number, range: Reads<[u64; 2]>, pages: Writes<[u64; 5]>, flags: Number);
    fsync(file: Number);
    fdatasync(file: Number);
    sync_file_range(file: Number, offset: Number, count: Number, flags: Number);
    syncfs(file: Number);
    sync();
    memfd_create(name: Text, flags: Number);
    memfd_secret(flags: Number);
    pipe2(ends: Writes<[i32; 2]>, flags: Number);

    mkdirat(folder: Number, path: Text, mode: Number);
    mknodat(folder: Number, path: Text, mode: Number, device: Number);
    symlinkat(target: Text, folder: Number, path: Text);
    linkat(folder: Number, old: Text, other: Number, new: Text, flags: Number);
    unlinkat(folder: Number, path: Text, flags: Number);
    renameat(folder: Number, old: Text, other: Number, new: Text);
    renameat2(folder: Number, old: Text, other: Number, new: Text, flags: Number);
    readlinkat(folder: Number, path: Text, buffer: WritesAll<u8>);
    getcwd(buffer: WritesAll<u8>);
    chdir(path: Text);
    fchdir(folder: Number);
    getdents64(folder: Number, buffer: WritesAll<u8>);
    umask(mode: Number);

    fstat(file: Number, about: Writes<libc::stat>);
    statx(folder: Number, path: Text, flags: Number, mask: Number, about: Writes<libc::statx>);
    faccessat(folder: Number, path: Text, mode: Number);
    faccessat2(folder: Number, path: Text, mode: Number, flags: Number);
    fchmod(file: Number, mode: Number);
    fchmodat(folder: Number, path: Text, mode: Number);
    fchmodat2(folder: Number, path: Text, mode: Number, flags: Number);
    fchown(file: Number, user: Number, group: Number);
    fchownat(folder: Number, path: Text, user: Number, group: Number, flags: Number);
    utimensat(folder: Number, path: Text, times: Reads<[libc::timespec; 2]>, flags: Number);
    statfs(path: Text, about: Writes<libc::statfs>);
    fstatfs(file: Number, about: Writes<libc::statfs>);
    file_getattr(folder: Number, path: Text, flags: WritesAll<u8>, how: Number);
    file_setattr(folder: Number, path: Text, flags: ReadsAll<u8>, how: Number);
    setxattr(path: Text, name: Text, value: ReadsAll<u8>, flags: Number);
    lsetxattr(path: Text, name: Text, value: ReadsAll<u8>, flags: Number);
    fsetxattr(file: Number, name: Text, value: ReadsAll<u8>, flags: Number);
    getxattr(path: Text, name: Text, value: WritesAll<u8>);
    lgetxattr(path: Text, name: Text, value: WritesAll<u8>);
    fgetxattr(file: Number, name: Text, value: WritesAll<u8>);
    listxattr(path: Text, names: WritesAll<u8>);
    llistxattr(path: Text, names: WritesAll<u8>);
    flistxattr(file: Number, names: WritesAll<u8>);
    listxattrat(folder: Number, path: Text, flags: Number, names: WritesAll<u8>);
    removexattr(path: Text, name: Text);
    lremovexattr(path: Text, name: Text);
    fremovexattr(file: Number, name: Text);
    removexattrat(folder: Number, path: Text, flags: Number, name: Text);
    inotify_init1(flags: Number);
    inotify_add_watch(watcher: Number, path: Text, events: Number);
    inotify_rm_watch(watcher: Number, watch: Number);
    fanotify_init(flags: Number, mode: Number);
    fanotify_mark(watcher: Number, flags: Number, events: Number, folder: Number, path: Text);

    mount(source: Text, target: Text, kind: Text, flags: Number, options: Text);
    umount2(target: Text, flags: Number);
    chroot(path: Text);
    pivot_root(new: Text, old: Text);
    fsopen(kind: Text, flags: Number);
    fsconfig(context: Number, command: Number, key: Text, value: Text, more: Null);
    fsmount(context: Number, flags: Number, attributes: Number);
    fspick(folder: Number, path: Text, flags: Number);
    move_mount(folder: Number, old: Text, other: Number, new: Text, flags: Number);
    open_tree(folder: Number, path: Text, flags: Number);
    open_tree_attr(folder: Number, path: Text, flags: Number, attributes: ReadsAll<u8>);
    mount_setattr(folder: Number, path: Text, flags: Number, attributes: ReadsAll<u8>);
    swapon(path: Text, flags: Number);
    swapoff(path: Text);
    quotactl(command: Number, device: Text, id: Number, about: Null);
    quotactl_fd(file: Number, command: Number, id: Number, about: Null);

    ppoll(files: WritesAll<libc::pollfd>, time: Writes<libc::timespec>, mask: Reads<u64>, size: Number);
    epoll_create1(flags: Number);
    epoll_ctl(set: Number, operation: Number, file: Number, event: Reads<libc::epoll_event>);
    epoll_pwait(
        set: Number,
        events: WritesAll<libc::epoll_event>,
        milliseconds: Number,
        mask: Reads<u64>,
        size: Number,
    );
    epoll_pwait2(
        set: Number,
        events: WritesAll<libc::epoll_event>,
        time: Reads<libc::timespec>,
        mask: Reads<u64>,
        size: Number,
    );
    eventfd2(count: Number, flags: Number);
    signalfd4(file: Number, mask: Reads<u64>, size: Number, flags: Number);
    timerfd_create(clock: Number, flags: Number);
    timerfd_settime(timer: Number, flags: Number, new: Reads<libc::itimerspec>, old: Writes<libc::itimerspec>);
    timerfd_gettime(timer: Number, left: Writes<libc::itimerspec>);
    userfaultfd(flags: Number);
    futex(word: Word, operation: Number, value: Number, time: Reads<libc::timespec>);
    io_setup(requests: Number, context: Writes<u64>);
    io_destroy(context: Number);
    io_cancel(context: Number, request: Reads<[u64; 8]>, event: Writes<[u64; 4]>);
    io_getevents(context: Number, least: Number, events: CountWritesAll<[u64; 4]>, time: Reads<libc::timespec>);
    io_uring_enter(ring: Number, submit: Number, least: Number, flags: Number, mask: Null, size: Number);

    getuid();
    geteuid();
    getgid();
    getegid();
    setuid(user: Number);
    setgid(group: Number);
    setreuid(real: Number, effective: Number);
    setregid(real: Number, effective: Number);
    getresuid(real: Writes<u32>, effective: Writes<u32>, saved: Writes<u32>);
    setresuid(real: Number, effective: Number, saved: Number);
    setfsuid(user: Number);
    getresgid(real: Writes<u32>, effective: Writes<u32>, saved: Writes<u32>);
    setresgid(real: Number, effective: Number, saved: Number);
    setfsgid(group: Number);
    getgroups(groups: CountWritesAll<u32>);
    setgroups(groups: CountReadsAll<u32>);
    capget(header: Writes<[u32; 2]>, sets: Writes<[u32; 6]>);
    capset(header: Writes<[u32; 2]>, sets: Reads<[u32; 6]>);
    sethostname(name: ReadsAll<u8>);
    setdomainname(name: ReadsAll<u8>);
    getrandom(buffer: WritesAll<u8>, flags: Number);
    request_key(kind: Text, description: Text, more: Text, keyring: Number);
    add_key(kind: Text, description: Text, content: ReadsAll<u8>, keyring: Number);
    landlock_create_ruleset(rights: ReadsAll<u8>, flags: Number);
    landlock_add_rule(rules: Number, kind: Number, rule: Reads<[u64; 2]>, flags: Number);
    landlock_restrict_self(rules: Number, flags: Number);
    lsm_get_self_attr(attribute: Number, context: Null, size: Null, flags: Number);
    lsm_set_self_attr(attribute: Number, context: ReadsAll<u8>, flags: Number);

    msgget(key: Number, flags: Number);
    msgctl(queue: Number, command: Number, about: Writes<libc::msqid_ds>);
    semget(key: Number, count: Number, flags: Number);
    semctl(set: Number, number: Number, command: Number, argument: Null);
    semop(set: Number, changes: ReadsAll<libc::sembuf>);
    semtimedop(set: Number, changes: ReadsAll<libc::sembuf>, time: Reads<libc::timespec>);
    shmget(key: Number, size: Number, flags: Number);
    shmctl(segment: Number, command: Number, about: Writes<libc::shmid_ds>);
    shmat(segment: Number, place: Null, flags: Number);
    mq_open(name: Text, flags: Number, mode: Number, attributes: Reads<[i64; 8]>);
    mq_unlink(name: Text);
    mq_timedsend(queue: Number, message: ReadsAll<u8>, priority: Number, time: Reads<libc::timespec>);
    mq_timedreceive(queue: Number, message: WritesAll<u8>, priority: Writes<u32>, time: Reads<libc::timespec>);
    mq_notify(queue: Number, event: Null);
    mq_getsetattr(queue: Number, new: Reads<[i64; 8]>, old: Writes<[i64; 8]>);
    socket(family: Number, kind: Number, protocol: Number);
    socketpair(family: Number, kind: Number, protocol: Number, ends: Writes<[i32; 2]>);
    bind(socket: Number, name: ReadsAll<u8>);
    listen(socket: Number, waiting: Number);
    accept(socket: Number, name: Null, length: Null);
    accept4(socket: Number, name: Null, length: Null, flags: Number);
    connect(socket: Number, name: ReadsAll<u8>);
    sendto(socket: Number, message: ReadsAll<u8>, flags: Number, name: ReadsAll<u8>);
    recvfrom(socket: Number, message: WritesAll<u8>, flags: Number, name: Null, length: Null);
    shutdown(socket: Number, how: Number);

    getpid();
    gettid();
    getppid();
    getpgid(process: Number);
    getsid(process: Number);
    setpgid(process: Number, group: Number);
    setsid();
    vhangup();
    wait4(process: Number, status: Writes<i32>, flags: Number, usage: Writes<Usage>);
    waitid(kind: Number, process: Number, about: Writes<libc::siginfo_t>, flags: Number, usage: Writes<Usage>);
    personality(persona: Number);
    getrlimit(resource: Number, limit: Writes<libc::rlimit>);
    setrlimit(resource: Number, limit: Reads<libc::rlimit>);
    prlimit64(process: Number, resource: Number, new: Reads<libc::rlimit>, old: Writes<libc::rlimit>);
    getrusage(who: Number, usage: Writes<Usage>);
    times(times: Writes<libc::tms>);
    sysinfo(about: Writes<SystemInfo>);
    uname(names: Writes<libc::utsname>);
    getcpu(cpu: Writes<u32>, node: Writes<u32>, cache: Null);
    getpriority(kind: Number, process: Number);
    setpriority(kind: Number, process: Number, nice: Number);
    ioprio_get(kind: Number, process: Number);
    ioprio_set(kind: Number, process: Number, priority: Number);
    kcmp(process: Number, other: Number, kind: Null, file: Number, compared: Number);
    pidfd_open(process: Number, flags: Number);
    pidfd_getfd(process: Number, file: Number, flags: Number);
    pidfd_send_signal(process: Number, signal: Number, about: Reads<libc::siginfo_t>, flags: Number);
    process_mrelease(process: Number, flags: Number);
    unshare(kinds: Number);
    setns(namespace: Number, kinds: Number);
    acct(path: Text);
    sched_yield();
    sched_getparam(process: Number, priority: Writes<i32>);
    sched_setparam(process: Number, priority: Reads<i32>);
    sched_getscheduler(process: Number);
    sched_setscheduler(process: Number, policy: Number, priority: Reads<i32>);
    sched_get_priority_max(policy: Number);
    sched_get_priority_min(policy: Number);
    sched_rr_get_interval(process: Number, time: Writes<libc::timespec>);
    sched_getaffinity(process: Number, cpus: CountWritesAll<u8>);
    sched_setaffinity(process: Number, cpus: CountReadsAll<u8>);
    sched_getattr(process: Number, attributes: WritesAll<u8>, flags: Number);
    get_robust_list(process: Number, head: Writes<usize>, length: Writes<usize>);
    membarrier(command: Number, flags: Number, cpu: Number);

    kill(process: Number, signal: Number);
    tkill(thread: Number, signal: Number);
    tgkill(process: Number, thread: Number, signal: Number);
    rt_sigqueueinfo(process: Number, signal: Number, about: Reads<libc::siginfo_t>);
    rt_tgsigqueueinfo(process: Number, thread: Number, signal: Number, about: Reads<libc::siginfo_t>);
    rt_sigpending(set: Writes<u64>, size: Number);
    rt_sigaction(signal: Number, new: Null, old: Writes<[u64; 4]>, size: Number);
    rt_sigprocmask(how: Number, new: Reads<u64>, old: Writes<u64>, size: Number);
    rt_sigtimedwait(set: Reads<u64>, about: Writes<libc::siginfo_t>, time: Reads<libc::timespec>, size: Number);
    rt_sigsuspend(mask: Reads<u64>, size: Number);
    restart_syscall();
    gettimeofday(time: Writes<libc::timeval>, zone: Writes<[i32; 2]>);
    settimeofday(time: Reads<libc::timeval>, zone: Reads<[i32; 2]>);
    clock_gettime(clock: Number, time: Writes<libc::timespec>);
    clock_settime(clock: Number, time: Reads<libc::timespec>);
    clock_getres(clock: Number, step: Writes<libc::timespec>);
    nanosleep(time: Reads<libc::timespec>, left: Writes<libc::timespec>);
    clock_nanosleep(clock: Number, flags: Number, time: Reads<libc::timespec>, left: Writes<libc::timespec>);
    adjtimex(state: Writes<libc::timex>);
    clock_adjtime(clock: Number, state: Writes<libc::timex>);
    getitimer(kind: Number, left: Writes<libc::itimerval>);
    setitimer(kind: Number, new: Reads<libc::itimerval>, old: Writes<libc::itimerval>);
    timer_create(clock: Number, event: Reads<libc::sigevent>, timer: Writes<i32>);
    timer_delete(timer: Number);
    timer_settime(timer: Number, flags: Number, new: Reads<libc::itimerspec>, old: Writes<libc::itimerspec>);
    timer_gettime(timer: Number, left: Writes<libc::itimerspec>);
    timer_getoverrun(timer: Number);

    brk(end: Null);
    mprotect(page: OnePage, access: Number);
    madvise(page: OnePage, advice: Number);
    msync(page: OnePage, flags: Number);
    mincore(page: OnePage, present: Writes<u8>);
    mlock(page: OnePage);
    mlock2(page: OnePage, flags: Number);
    munlock(page: OnePage);
    mlockall(flags: Number);
    munlockall();
    mseal(page: OnePage, flags: Number);
    remap_file_pages(page: OnePage, access: Number, first: Number, flags: Number);
    set_mempolicy_home_node(page: OnePage, node: Number, flags: Number);
    pkey_alloc(flags: Number, rights: Number);
    pkey_free(key: Number);
    pkey_mprotect(page: OnePage, access: Number, key: Number);
    map_shadow_stack(place: Null, size: Number, flags: Number);

    syslog(command: Number, buffer: WritesAll<u8>);
    reboot(first: Number, second: Number, command: Number, text: Text);
    init_module(image: ReadsAll<u8>, options: Text);
    finit_module(file: Number, options: Text, flags: Number);
    delete_module(name: Text, flags: Number);
    kexec_load(entry: Number, count: Number, segments: Null, flags: Number);
    kexec_file_load(kernel: Number, initrd: Number, length: Number, options: Null, flags: Number);
}

// Calls that only x86-64 has: most are older forms of the others.
#[cfg(target_arch = "x86_64")]
calls! {
    open(path: Text, flags: Number, mode: Number);
    creat(path: Text, mode: Number);
    dup2(file: Number, copy: Number);
    pipe(ends: Writes<[i32; 2]>);
    mkdir(path: Text, mode: Number);
    rmdir(path: Text);
    mknod(path: Text, mode: Number, device: Number);
    symlink(target: Text, path: Text);
    link(old: Text, new: Text);
    unlink(path: Text);
    rename(old: Text, new: Text);
    readlink(path: Text, buffer: WritesAll<u8>);
    getdents(folder: Number, buffer: WritesAll<u8>);
    stat(path: Text, about: Writes<libc::stat>);
    lstat(path: Text, about: Writes<libc::stat>);
    newfstatat(folder: Number, path: Text, about: Writes<libc::stat>, flags: Number);
    access(path: Text, mode: Number);
    chmod(path: Text, mode: Number);
    chown(path: Text, user: Number, group: Number);
    lchown(path: Text, user: Number, group: Number);
    utime(path: Text, times: Reads<libc::utimbuf>);
    utimes(path: Text, times: Reads<[libc::timeval; 2]>);
    futimesat(folder: Number, path: Text, times: Reads<[libc::timeval; 2]>);
    ustat(device: Number, about: Writes<[u64; 4]>);
    inotify_init();
    poll(files: WritesAll<libc::pollfd>, milliseconds: Number);
    epoll_create(size: Number);
    epoll_wait(set: Number, events: WritesAll<libc::epoll_event>, milliseconds: Number);
    eventfd(count: Number);
    signalfd(file: Number, mask: Reads<u64>, size: Number);
    getpgrp();
    pause();
    alarm(seconds: Number);
    time(seconds: Writes<i64>);
    iopl(level: Number);
    ioperm(port: Number, count: Number, on: Number);
}
