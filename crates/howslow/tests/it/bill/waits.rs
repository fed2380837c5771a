//! What programs wait for, and what their calls take, beside what they were written to do.

use serde_json::Value;

use super::{billed, billed_program, counting, programs};

/// Waits in a call for a reason: how often, how long in all, and the median, in ms.
fn waits(bill: &Value, call: &str, reason: &str) -> (u64, f64, f64) {
    let all = bill["seen"]["together"]["waits"].as_array().expect("waits");
    let wanted = all.iter().find(|waits| waits["call"] == call && waits["reason"] == reason);
    let Some(waits) = wanted else { return (0, 0.0, 0.0) };
    let ms = |key: &str| waits[key].as_f64().expect("a time") / 1e6;
    (waits["count"].as_u64().expect("a count"), ms("total_ns"), ms("p50_ns"))
}

/// The only finding that saves waiting.
fn slow(bill: &Value) -> Option<(String, f64, f64)> {
    let findings = bill["findings"].as_array().expect("findings");
    let slow = findings.iter().find(|finding| finding["saves_elapsed_ns"].is_array())?;
    let ends = &slow["saves_elapsed_ns"];
    let text = slow["text"].as_str().expect("a sentence").to_owned();
    Some((text, ends[0].as_f64().expect("ns"), ends[1].as_f64().expect("ns")))
}

#[test]
fn sleeps_are_counted_with_their_length_and_apart_from_waits_for_a_cpu() {
    let text = r#"
        use std::io::{Read, Write};
        fn nap() { std::thread::sleep(std::time::Duration::from_millis(10)); }
        fn main() {
            for _ in 0..23 { nap(); }
            let (mut reader, mut writer) = std::io::pipe().unwrap();
            let slow = std::thread::spawn(move || for _ in 0..7 { nap(); writer.write_all(b"x").unwrap(); });
            for _ in 0..7 { reader.read_exact(&mut [0]).unwrap(); }
            slow.join().unwrap();
        }"#;
    let Some(bill) = billed_program("sleeper", text) else { return };
    // The C library may sleep by either call.
    let naps = ["nanosleep", "clock_nanosleep"].map(|call| waits(&bill, call, "event"));
    let (count, total, median) = if naps[0].0 > 0 { naps[0] } else { naps[1] };
    // A task that is preempted while it sets its timer may find that it has ended, and never sleeps.
    assert!((23 + 7 - 3..=23 + 7).contains(&count), "{naps:?}");
    assert!(total >= 10.0 * count as f64 * 0.9, "no sleep is shorter than it should be: {total} ms");
    assert!((8.9..40.0).contains(&median), "{median} ms");
    let (count, total, _) = waits(&bill, "read", "event");
    assert!((1..=7).contains(&count) && total > 10.0, "{count} reads waited {total} ms");
}

#[test]
fn a_sampled_call_takes_its_processor_time_and_not_the_time_that_it_sleeps() {
    let text = r#"
        fn main() {
            for _ in 0..20 { std::thread::sleep(std::time::Duration::from_millis(10)); }
            let getppid = if cfg!(target_arch = "x86_64") { 110 } else { 173 };
            for _ in 0..20_000 { unsafe { syscall(getppid) }; }
        }"#;
    let Some(bill) = billed_program("sampled", text) else { return };
    let calls = bill["seen"]["together"]["calls"].as_array().expect("calls");
    let measured = |name: &str| {
        let call = calls.iter().find(|call| call["call"] == name).expect("the call");
        let number = |key: &str| call["measured"][key].as_f64().expect("a figure");
        (number("samples"), number("mean_ns"), number("error_ns"))
    };
    let (samples, mean, _) = measured("clock_nanosleep");
    assert_eq!(samples, 20.0, "the first calls of each kind are all timed");
    assert!(mean < 2e6, "a sleep of 10 ms works for {mean} ns");
    let (samples, mean, error) = measured("getppid");
    assert!((256.0..2000.0).contains(&samples), "{samples} of 20,000 calls");
    assert!(error > 0.0 && mean > 0.0 && mean < 20_000.0, "{mean} +- {error} ns");
}

/// A file whose last descriptor is closed by `dup2` is given back after that call, on the way back to the program: here 1 MiB of memory.
#[test]
fn what_the_kernel_does_after_a_call_belongs_to_the_call() {
    let text = r#"
        use std::os::fd::AsRawFd;
        unsafe extern "C" { fn dup2(from: i32, to: i32) -> i32; fn dlsym(of: *const i8, name: *const std::ffi::c_char) -> *const u32; }
        // Processor time of this thread, in ns.
        fn used() -> i64 {
            let mut time = [0_i64; 2];
            unsafe { syscall(if cfg!(target_arch = "x86_64") { 228 } else { 113 }, 3, time.as_mut_ptr()) };
            time[0] * 1_000_000_000 + time[1]
        }
        fn main() {
            let (null, block) = (std::fs::File::open("/dev/null").unwrap(), vec![1_u8; 1 << 20]);
            let (memfd, mut took) = (if cfg!(target_arch = "x86_64") { 319 } else { 279 }, 0);
            for _ in 0..200 {
                let file: std::fs::File = unsafe { std::os::fd::FromRawFd::from_raw_fd(syscall(memfd, c"it".as_ptr(), 0) as i32) };
                std::io::Write::write_all(&mut &file, &block).unwrap();
                let begun = used();
                assert_eq!(unsafe { dup2(null.as_raw_fd(), file.as_raw_fd()) }, file.as_raw_fd());
                took += used() - begun;
            }
            // glibc tells the size of what it registered by rseq(2).
            let size = unsafe { dlsym(std::ptr::null(), c"__rseq_size".as_ptr()) };
            let asks = !size.is_null() && unsafe { *size } > 0;
            std::fs::write("took", format!("{} {asks}", took / 200)).unwrap();
        }"#;
    let Some(data) = counting("ebpf") else { return };
    let program = programs::compiled(data.path(), "closer", text);
    let bill = billed(&data, data.path(), &[program.to_str().expect("a path")]);
    let said = std::fs::read_to_string(data.path().join("took")).expect("its file");
    let (took, asks) = said.split_once(' ').expect("two words");
    if asks != "true" {
        return testing::not_tested!("the C library does not ask the kernel for its CPU; glibc 2.35 does");
    }
    let took: f64 = took.parse().expect("ns");
    let calls = bill["seen"]["together"]["calls"].as_array().expect("calls");
    let mean = |name: &str| {
        let call = calls.iter().find(|call| call["call"] == name).expect("the call");
        call["measured"]["mean_ns"].as_f64().expect("it was sampled")
    };
    // The program's clock also has what counting takes, and interrupts.
    assert!((0.5 * took..1.1 * took).contains(&mean("dup2")), "{} ns, by the program's clock {took}", mean("dup2"));
    assert!(mean("dup2") > 20.0 * mean("close"), "{} and {} ns", mean("dup2"), mean("close"));
}

/// A log that syncs after each line, and one that does so after ten lines.
fn log(lines_together: u32) -> String {
    format!(
        r#"
        use std::io::Write;
        fn main() {{
            let mut log = std::fs::File::create("log").unwrap();
            for line in 1..=200 {{
                log.write_all(b"a line of a log\n").unwrap();
                if line % {lines_together} == 0 {{ log.sync_all().unwrap(); }}
            }}
        }}"#
    )
}

#[test]
fn a_sync_after_each_line_is_found_and_doing_it_once_for_ten_saves_what_was_said() {
    let Some(before) = billed_program("each", &log(1)) else { return };
    let device = |bill: &Value| waits(bill, "fsync", "kernel");
    let (count, total, _) = device(&before);
    if count < 200 || total * 1e6 < before["seen"]["elapsed_ns"].as_f64().expect("a time") * 0.05 {
        return testing::not_tested!("syncing waits {total} ms here; a TMPDIR on a device is needed");
    }
    let (text, least, most) = slow(&before).expect("a finding");
    assert!(text.starts_with("fsync was waited for") && text.contains("lost in a crash"), "{text}");
    // Of what the bill before says is saved at most, the part that the change saves.
    let saved = || {
        let [each, tenth] = [1, 10].map(|lines| billed_program("writer", &log(lines)).expect("a bill"));
        (device(&each).1 - device(&tenth).1) * 1e6 / slow(&each).expect("a finding").2
    };
    // A device that others use takes now more and now less time: the middle of three pairs.
    let mut parts = [saved(), saved(), saved()];
    parts.sort_by(f64::total_cmp);
    assert!(parts[1] > 0.5 * least / most && parts[1] < 1.2, "saves {parts:?} of what was said, {least} to {most} ns");
}

/// A client that sends requests in two parts over TCP, and its server, which answers each.
fn client(no_delay: bool) -> String {
    format!(
        r#"
        use std::io::{{Read, Write}};
        fn main() {{
            let ear = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let mut line = std::net::TcpStream::connect(ear.local_addr().unwrap()).unwrap();
            let server = std::thread::spawn(move || {{
                let (mut peer, _) = ear.accept().unwrap();
                let mut request = [0; 100];
                while peer.read_exact(&mut request).is_ok() {{ peer.write_all(b"an answer.").unwrap(); }}
            }});
            line.set_nodelay({no_delay}).unwrap();
            for _ in 0..30 {{
                for part in 0..2 {{ line.write_all(&[0; 50]).unwrap(); }}
                line.read_exact(&mut [0; 10]).unwrap();
            }}
            drop(line);
            server.join().unwrap();
        }}"#
    )
}

#[test]
fn a_delayed_acknowledgement_is_found_and_tcp_nodelay_saves_what_was_said() {
    let Some(before) = billed_program("two_sends", &client(false)) else { return };
    let elapsed = |bill: &Value| bill["seen"]["elapsed_ns"].as_f64().expect("a time");
    let (text, least, most) = slow(&before).expect("a finding");
    assert!(text.contains("TCP_NODELAY") && text.contains("acknowledgement"), "{text}");
    let after = billed_program("no_delay", &client(true)).expect("a bill");
    let saved = elapsed(&before) - elapsed(&after);
    assert!(least <= saved && saved <= most, "saves {saved} ns, said {least} to {most}");
    assert!(slow(&after).is_none_or(|(text, ..)| !text.contains("TCP_NODELAY")));
}
