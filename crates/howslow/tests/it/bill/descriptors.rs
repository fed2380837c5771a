//! Descriptors that stand for one thing after another: each call is counted with what it was made on.

use super::programs::compiled;
use super::*;

/// Reads one byte at a time: by two threads, of which the other one closes and opens; after close_range(2); and after programs are executed.
const REUSES: &str = r#"
    use std::fs::File;
    use std::io::Write;
    use std::os::fd::{FromRawFd, IntoRawFd};
    use std::os::unix::{net::UnixStream, process::CommandExt};
    use std::sync::{Barrier, atomic::{AtomicI32, Ordering}};
    unsafe extern "C" { fn syscall(number: i64, ...) -> i64; }
    const READ: i64 = if cfg!(target_arch = "x86_64") { 0 } else { 63 };
    fn read(from: i32, times: u32) { for _ in 0..times { assert!(unsafe { syscall(READ, from, [0_u8; 8].as_mut_ptr(), 8_usize) } > 0); } }
    fn event() -> i32 {
        // As a semaphore, it can be read ten times.
        let event = unsafe { syscall(if cfg!(target_arch = "x86_64") { 290 } else { 19 }, 10, 1 | 0o2000000) } as i32;
        let mut file = std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(event) });
        file.write_all(&10_u64.to_ne_bytes()).unwrap();
        event
    }
    fn socket() -> i32 {
        let (reader, mut writer) = UnixStream::pair().unwrap();
        writer.write_all(&[0; 80]).unwrap();
        reader.into_raw_fd()
    }
    fn two_threads() {
        let (turn, shared) = (Barrier::new(2), AtomicI32::new(-1));
        std::thread::scope(|scope| {
            scope.spawn(|| for time in 0..2000 {
                turn.wait();
                let old = shared.load(Ordering::SeqCst);
                if old >= 0 { drop(unsafe { File::from_raw_fd(old) }); }
                shared.store(if time % 2 == 0 { socket() } else { File::open("/dev/zero").unwrap().into_raw_fd() }, Ordering::SeqCst);
                turn.wait();
            });
            for _ in 0..2000 { turn.wait(); turn.wait(); read(shared.load(Ordering::SeqCst), 4); }
        });
    }
    fn close_range() { unsafe { assert_eq!(syscall(436, 3, u32::MAX, 0), 0); } }
    fn main() {
        let words: Vec<String> = std::env::args().collect();
        let left: u32 = words[2].parse().unwrap();
        match words[1].as_str() {
            "threads" => two_threads(),
            "ranges" => for _ in 0..left {
                read(socket(), 3); close_range();
                read(event(), 10); close_range();
                read(File::open("/dev/zero").unwrap().into_raw_fd(), 6); close_range();
            },
            _ => {
                // The first free descriptor is used by the loader of programs, the next one is not.
                event();
                if left % 2 == 0 { read(event(), 5) } else { read(socket(), 5) }
                if left > 1 { panic!("{}", std::process::Command::new(&words[0]).args(["executed", &(left - 1).to_string()]).exec()); }
            }
        }
    }
"#;

#[test]
fn a_descriptor_that_stands_for_something_else_is_counted_as_that() {
    let Some(data) = counting("ebpf") else { return };
    if !Path::new("/sys/kernel/btf/vmlinux").exists() {
        return testing::not_tested!(
            "this kernel does not describe its types; a kernel with CONFIG_DEBUG_INFO_BTF does"
        );
    }
    let program = compiled(data.path(), "reuses", REUSES).display().to_string();
    for (what, times, expected) in [
        ("threads", "0", [("null", 4000), ("unix", 4000), ("eventfd", 0)]),
        ("ranges", "300", [("null", 1800), ("unix", 900), ("eventfd", 3000)]),
        ("executed", "800", [("null", 0), ("unix", 2000), ("eventfd", 2000)]),
    ] {
        let bill = billed(&data, data.path(), &[&program, what, times]);
        let objects = &call(&bill.seen.together, "read").objects;
        let on = |kind: &str| objects.iter().find(|object| object.object == kind).map_or(0, |object| object.count);
        assert_eq!(expected.map(|(kind, _)| (kind, on(kind))), expected, "{what}: {objects:?}");
    }
}
