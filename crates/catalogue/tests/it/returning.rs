//! One way of making a system call: by a function that returns, as programs make them through a C library. On some processors a call that
//! stands in the timed loop itself costs 0.7 times as much or the same, by where the loop lies (`syscall.called`), so that costs of
//! both kinds could neither be added nor compared, and two builds would differ.

use std::path::Path;

/// Routines of the C library that are themselves what is measured, or that keep state of the library.
const ROUTINES: &str = "_exit aio_error aio_read aio_return aio_suspend clock_gettime clone dlerror dlopen dlsym execv execve fclose \
    fdopen fflush fork fputc fread fseek fwrite getauxval posix_spawn pthread_create pthread_join qsort sem_init sem_post sem_wait \
    setvbuf snprintf strtod strtoll";

/// Calls that are made outside what is timed, or once for a whole file or command.
const UNTIMED: &str = "close dup2 fcntl ioctl mincore open pause prctl sigaction signal sync_file_range \
    syscall wait4";

/// Functions of `rustix`, which are inlined, that make no call or are used outside what is timed alone; and those of `syscall.called`.
const INLINED: &str = "accessat clock_gettime epoll eventfd fchdir fcntl_getfl fcntl_getpipe_size fcntl_setfd \
    fcntl_setfl fcntl_setpipe_size fd_set_insert fd_set_num_elements fstatfs getgroups getppid getrlimit gettid getuid \
    ioctl_fionbio ioctl_getflags ioctl_setflags ioctl_tiocgptpeer kill_process_group linux_hwcap mkdirat mkfifoat \
    mknodat openpt page_size pipe_with retry_on_intr sched_getaffinity sched_getcpu sched_setaffinity \
    set_current_timer_slack set_no_new_privs set_parent_process_death_signal set_socket_linger set_tcp_nodelay \
    setrlimit setsid socketpair stat statx tcflush tcgetattr tcsetattr unlink unlockpt waitid";

#[test]
fn timed_calls_are_made_by_functions_that_return() {
    let allowed = |list: &'static str| list.split_whitespace().collect::<Vec<_>>();
    only("libc::", &[allowed(ROUTINES), allowed(UNTIMED)].concat(), |rest| {
        rest.split_once('(').map(|(name, _)| vec![name])
    });
    only("rustix::", &allowed(INLINED), functions_of_rustix);
}

/// The functions that a path in `rustix` names: one that is called, or those that are imported.
fn functions_of_rustix(path: &str) -> Option<Vec<&str>> {
    let end = path.find(|c: char| !(c.is_alphanumeric() || "_:".contains(c)))?;
    let (path, rest) = path.split_at(end);
    let last = path.rsplit("::").next().filter(|_| !path.contains(char::is_uppercase))?;
    match rest.chars().next()? {
        '{' => Some(rest[1..rest.find('}')?].split(',').map(|name| name.trim()).collect()),
        '(' | ';' => Some(vec![last]),
        _ => None,
    }
}

/// No source but the one that makes calls uses a function behind `prefix` that is not in the list, and each in it is used.
fn only(prefix: &str, allowed: &[&str], functions: impl Fn(&str) -> Option<Vec<&str>>) {
    let (mut wrong, mut used) = (Vec::new(), Vec::new());
    each_source(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut |file, text| {
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
        for name in text.split(prefix).skip(1).filter_map(&functions).flatten() {
            let is_function =
                !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_lowercase() || c.is_ascii_digit());
            match allowed.iter().find(|allowed| **allowed == name) {
                Some(name) => used.push(*name),
                None if is_function => wrong.push(format!("{}: {prefix}{name}", file.display())),
                None => {}
            }
        }
    });
    assert!(wrong.is_empty(), "make these calls by `kit::call`, `kit::library` or `invoke!`: {wrong:#?}");
    let unused: Vec<_> = allowed.iter().filter(|name| !used.contains(name)).collect();
    assert!(unused.is_empty(), "allowed without need: {unused:?}");
}

fn each_source(folder: &Path, see: &mut impl FnMut(&Path, &str)) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            each_source(&entry, see);
        } else if entry.extension().is_some_and(|extension| extension == "rs")
            && !entry.ends_with("kit/library.rs")
            && !entry.ends_with("tests.rs")
        {
            see(&entry, &std::fs::read_to_string(&entry).expect("a text"));
        }
    }
}
