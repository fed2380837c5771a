//! One way of making a system call: inline, in the loop that is timed. A call through a function that returns costs up to 500 cycles
//! more on some processors (`syscall.called`), so that costs of both kinds could neither be added nor compared.

use std::path::Path;

/// Routines of the C library that are themselves what is measured, or that keep state of the library.
const ROUTINES: &str = "_exit aio_error aio_read aio_return aio_suspend clock_gettime clone dlerror dlopen dlsym execv execve fclose \
    fdopen fflush fork fputc fread fseek fwrite getauxval posix_spawn pthread_create pthread_join qsort sem_init sem_post sem_wait \
    setvbuf snprintf strtod strtoll";

/// Calls that are made outside what is timed, or once for a whole file or command.
const UNTIMED: &str = "close dup2 fcntl ioctl kill mincore open pause prctl sigaction signal sync_file_range \
    syscall wait4";

#[test]
fn timed_calls_are_made_inline() {
    let allowed: Vec<&str> = ROUTINES.split(' ').chain(UNTIMED.split(' ')).filter(|name| !name.is_empty()).collect();
    let (mut wrong, mut used) = (Vec::new(), Vec::new());
    each_source(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut |file, text| {
        for routine in text.split("libc::").skip(1).filter_map(|rest| rest.split_once('(')).map(|(name, _)| name) {
            let is_routine = routine.chars().all(|c| c == '_' || c.is_ascii_lowercase() || c.is_ascii_digit());
            match allowed.iter().find(|name| **name == routine) {
                Some(name) => used.push(*name),
                None if is_routine => wrong.push(format!("{}: {routine}", file.display())),
                None => {}
            }
        }
    });
    assert!(wrong.is_empty(), "make these calls by `kit::call` or `invoke!`: {wrong:#?}");
    let unused: Vec<_> = allowed.iter().filter(|name| !used.contains(name)).collect();
    assert!(unused.is_empty(), "allowed without need: {unused:?}");
}

fn each_source(folder: &Path, see: &mut impl FnMut(&Path, &str)) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            each_source(&entry, see);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            see(&entry, &std::fs::read_to_string(&entry).expect("a text"));
        }
    }
}
