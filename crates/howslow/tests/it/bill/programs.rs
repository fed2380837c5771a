//! Programs that make known calls: written in Rust and compiled by the test, and 32-bit ones written byte by byte.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The programs that are compiled together, by the name that each is executed by.
const PROGRAMS: [(&str, &str); 16] = [
    ("ring", RING),
    ("polled", POLLED_RING),
    ("sandbox", SANDBOX),
    ("threads", THREADS),
    ("calls", CALLS),
    ("executes", EXECUTES),
    ("waker", WAKER),
    ("unawaited", UNAWAITED),
    ("short", SHORT_THREADS),
    ("objects", OBJECTS),
    ("sleeper", SLEEPER),
    ("timed", TIMED),
    ("folders", FOLDERS),
    ("owned", OWNED),
    ("log", LOG),
    ("client", CLIENT),
];

/// The file of one of the programs, which are one file: it does what its name means.
pub fn program(name: &str) -> String {
    static COMPILED: OnceLock<PathBuf> = OnceLock::new();
    let folder = COMPILED.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
        fs::create_dir_all(&folder).expect("a folder");
        let text = |(name, text): &(&str, &str)| {
            format!("mod {name} {{ use super::*; {} }}\n", text.replacen("fn main", "pub fn main", 1))
        };
        let choice = |(name, _): &(&str, &str)| format!("\"{name}\" => {name}::main(),\n");
        let (texts, choices): (String, String) =
            (PROGRAMS.iter().map(text).collect(), PROGRAMS.iter().map(choice).collect());
        let all = format!(
            "{HEAD}{texts}fn main() {{\nlet name = std::env::args().next().unwrap();\n\
             match name.rsplit('/').next().unwrap() {{ {choices} other => panic!(\"{{other}}\") }} }}\n"
        );
        compiled(&folder, "all", &all);
        for (name, _) in PROGRAMS {
            let link = folder.join(name);
            if !link.is_symlink() {
                std::os::unix::fs::symlink("all", link).expect("a link");
            }
        }
        folder
    });
    folder.join(name).display().to_string()
}

/// What the programs share: calls of the C library.
const HEAD: &str = "#![allow(unused)]\nunsafe extern \"C\" { fn syscall(number: i64, ...) -> i64; fn prctl(what: i32, ...) -> i32; }\n";

/// Compiles a program.
pub fn compiled(place: &Path, name: &str, text: &str) -> PathBuf {
    let (source, program) = (place.join(format!("{name}.rs")), place.join(name));
    fs::write(&source, text).expect("its text");
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let mut command = Command::new(rustc);
    command.args(["--edition", "2024", "-C", "debuginfo=0", "-o"]).args([&program, &source]).current_dir(place);
    let output = command.output().expect("rustc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// 23 requests that do nothing, given to an io_uring at once: its queue entries are zero, which is that request. Ends with 77 if
/// the kernel gives no io_uring.
const RING: &str = r#"
    fn main() { unsafe {
        let mut parameters = [0_u32; 30];
        let ring = syscall(425, 32, parameters.as_mut_ptr());
        if ring < 0 { std::process::exit(77); }
        // mmap(2): readable and writable, shared; the rings lie at offset 0. The parameters hold the place of the tail.
        let number = if cfg!(target_arch = "x86_64") { 9 } else { 222 };
        let place = syscall(number, 0_usize, 4096_usize, 3, 1, ring, 0_usize);
        assert!(place > 0);
        let tail = (place as *mut u8).add(parameters[11] as usize).cast::<u32>();
        tail.write_volatile(23);
        assert_eq!(syscall(426, ring, 23, 0, 0, 0_usize, 0_usize), 23);
    } }
"#;

/// The same by a ring whose requests a thread of the kernel takes; then waits until they are done.
const POLLED_RING: &str = r#"
    fn main() { unsafe {
        let mut parameters = [0_u32; 30];
        (parameters[2], parameters[4]) = (2, 2000);
        let ring = syscall(425, 32, parameters.as_mut_ptr());
        if ring < 0 { std::process::exit(77); }
        let number = if cfg!(target_arch = "x86_64") { 9 } else { 222 };
        let place = syscall(number, 0_usize, 4096_usize, 3, 1, ring, 0_usize);
        assert!(place > 0);
        let word = |at: u32| (place as *mut u8).add(at as usize).cast::<u32>();
        word(parameters[11]).write_volatile(23);
        // The tail of what is done is the second place of the other queue.
        while word(parameters[21]).read_volatile() < 23 {
            // The thread may sleep, and is woken.
            syscall(426, ring, 0, 0, 2, 0_usize, 0_usize);
            std::thread::yield_now();
        }
    } }
"#;

/// Refuses the calls with the numbers of its first argument by EPERM, as a sandbox does, and executes the rest.
const SANDBOX: &str = r#"
    use std::os::unix::process::CommandExt;
    #[repr(C)] struct Step { code: u16, yes: u8, no: u8, value: u32 }
    #[repr(C)] struct Filter { length: u16, steps: *const Step }
    fn main() {
        let words: Vec<String> = std::env::args().skip(1).collect();
        // Loads the number; for each refused one: if it is equal, the answer EPERM; then allows.
        let mut steps = vec![Step { code: 0x20, yes: 0, no: 0, value: 0 }];
        for number in words[0].split(',') {
            steps.push(Step { code: 0x15, yes: 0, no: 1, value: number.parse().unwrap() });
            steps.push(Step { code: 0x06, yes: 0, no: 0, value: 0x0005_0001 });
        }
        steps.push(Step { code: 0x06, yes: 0, no: 0, value: 0x7fff_0000 });
        let filter = Filter { length: steps.len() as u16, steps: steps.as_ptr() };
        unsafe {
            assert_eq!(prctl(38, 1_usize, 0_usize, 0_usize, 0_usize), 0);
            assert_eq!(prctl(22, 2_usize, &raw const filter, 0_usize, 0_usize), 0);
        }
        panic!("{}", std::process::Command::new(&words[1]).args(&words[2..]).exec());
    }
"#;

/// Makes a call (its number is the first argument) in 1,100 threads that live at once, three times in each.
const THREADS: &str = r#"
    fn main() {
        let number: i64 = std::env::args().nth(1).unwrap().parse().unwrap();
        let barrier = std::sync::Arc::new(std::sync::Barrier::new(1100));
        let work = |barrier: std::sync::Arc<std::sync::Barrier>| move || {
            barrier.wait();
            for _ in 0..3 { unsafe { syscall(number); } }
            barrier.wait();
        };
        let build = || std::thread::Builder::new().stack_size(65536).spawn(work(barrier.clone())).unwrap();
        let threads: Vec<_> = (0..1100).map(|_| build()).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
"#;

/// Makes a call (its number is the first argument) 23 times.
const CALLS: &str = r#"
    fn main() {
        let number: i64 = std::env::args().nth(1).unwrap().parse().unwrap();
        for _ in 0..23 { unsafe { syscall(number); } }
    }
"#;

/// Executes a program from a thread that is not the first.
const EXECUTES: &str = r#"
    use std::os::unix::process::CommandExt;
    fn main() {
        std::thread::spawn(|| panic!("{}", std::process::Command::new("/bin/true").exec())).join().unwrap();
    }
"#;

/// 64-bit code that makes 23 calls by the gate of 32-bit programs: getpid, which is number 20 there.
#[cfg(target_arch = "x86_64")]
pub const OLD_GATE: &str = r#"
    fn main() {
        for _ in 0..23 { unsafe { std::arch::asm!("int 0x80", inout("eax") 20_u32 => _); } }
    }
"#;

/// A 32-bit program for x86: 23 times getpid, once kill of itself with a handler, once close of a descriptor that there is not, exit with 5.
#[cfg(target_arch = "x86_64")]
pub fn narrow(place: &Path) -> PathBuf {
    const START: u32 = 0x0804_8000;
    const HEADERS: u32 = 52 + 32;
    // The action: handler, `SA_RESTORER | SA_SIGINFO`, where the handler returns to, no other signals (rt_sigaction(2)). It is at 0x8048054.
    let begin = START + HEADERS;
    let action = [begin + 20, 0x0400_0004, begin + 21, 0, 0].map(u32::to_le_bytes).concat();
    let code: &[u8] = &[
        0xc3, // the handler: ret
        0xb8, 173, 0, 0, 0, 0xcd, 0x80, // mov eax, 173; int 0x80
        0xbb, 23, 0, 0, 0, // mov ebx, 23
        0xb8, 20, 0, 0, 0, 0xcd, 0x80, // again: mov eax, 20; int 0x80
        0x4b, 0x75, 0xf6, // dec ebx; jnz again
        0x89, 0xc7, // mov edi, eax
        0xb8, 174, 0, 0, 0, 0xbb, 10, 0, 0, 0, // mov eax, 174; mov ebx, 10
        0xb9, 0x54, 0x80, 0x04, 0x08, // mov ecx, the action
        0x31, 0xd2, 0xbe, 8, 0, 0, 0, 0xcd, 0x80, // xor edx, edx; mov esi, 8; int 0x80
        0xb8, 37, 0, 0, 0, 0x89, 0xfb, 0xb9, 10, 0, 0, 0, 0xcd,
        0x80, // mov eax, 37; mov ebx, edi; mov ecx, 10; int 0x80
        0xb8, 6, 0, 0, 0, 0xbb, 0xff, 0xff, 0xff, 0xff, 0xcd, 0x80, // mov eax, 6; mov ebx, -1; int 0x80
        0xb8, 1, 0, 0, 0, 0xbb, 5, 0, 0, 0, 0xcd, 0x80, // mov eax, 1; mov ebx, 5; int 0x80
    ];
    // The header of the file: 32 bits, little endian; an executable for the 80386 with one segment (elf(5)).
    let mut file = vec![0x7f, b'E', b'L', b'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    file.extend([2_u16, 3].iter().flat_map(|number| number.to_le_bytes()));
    file.extend([1, begin + 28, 52, 0, 0].iter().flat_map(|number: &u32| number.to_le_bytes()));
    file.extend([52_u16, 32, 1, 0, 0, 0].iter().flat_map(|number| number.to_le_bytes()));
    // The segment: the whole file, readable and executable.
    let size = HEADERS + (action.len() + code.len()) as u32;
    file.extend([1, 0, START, START, size, size, 5, 0x1000].iter().flat_map(|number: &u32| number.to_le_bytes()));
    file.extend(action);
    file.extend(code);
    let program = place.join("narrow");
    testing::executable(&program, &file[..]);
    program
}

/// Writes 23 lines to a program that sleeps until each comes.
const WAKER: &str = r#"
    use std::io::Write;
    use std::process::{Command, Stdio};
    fn main() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut line = child.stdin.take().unwrap();
        let state = format!("/proc/{}/stat", child.id());
        for _ in 0..23 {
            // Its name is in brackets; its state follows. Before it executed cat, it has another name.
            while !std::fs::read_to_string(&state).unwrap().contains("(cat) S") {}
            line.write_all(b"x\n").unwrap();
        }
        drop(line);
        child.wait().unwrap();
    }
"#;

/// A child that works while its end is reported to nobody, because the signal is ignored.
const UNAWAITED: &str = r#"
    unsafe extern "C" { fn signal(number: i32, action: usize) -> usize; }
    fn main() {
        // SIGCHLD, SIG_IGN.
        unsafe { signal(17, 1) };
        let work = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
        let mut child = std::process::Command::new("sh").args(["-c", work]).spawn().unwrap();
        assert!(child.wait().is_err());
    }
"#;

/// 230 threads, one after the other, each of a fraction of a millisecond.
const SHORT_THREADS: &str = r#"
    fn main() {
        for turn in 0..230_u64 {
            std::thread::spawn(move || std::hint::black_box((0..10_000).fold(turn, |a, b| a.rotate_left(1) ^ b))).join().unwrap();
        }
    }
"#;

/// Reads, writes, connects and creates: 23 reads of /proc, 9 of random numbers, 3 of zeros, 17 bytes through a pipe, 5 connections, 11 times one file and 13 times `/dev/null` emptied.
const OBJECTS: &str = r#"
    use std::io::{Read, Write};
    fn main() {
        let mut room = [0; 4096];
        for _ in 0..23 { std::fs::File::open("/proc/self/stat").unwrap().read(&mut room).unwrap(); }
        let [mut random, mut zeros] = ["/dev/urandom", "/dev/zero"].map(|device| std::fs::File::open(device).unwrap());
        for _ in 0..9 { random.read_exact(&mut room[..32]).unwrap(); }
        for _ in 0..3 { zeros.read_exact(&mut room).unwrap(); }
        let (mut reader, mut writer) = std::io::pipe().unwrap();
        for _ in 0..17 { writer.write_all(b"x").unwrap(); }
        for _ in 0..17 { reader.read_exact(&mut room[..1]).unwrap(); }
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        for _ in 0..5 { std::net::TcpStream::connect(server.local_addr().unwrap()).unwrap(); }
        for _ in 0..11 { std::fs::File::create("created").unwrap(); }
        for _ in 0..13 { std::fs::File::create("/dev/null").unwrap(); }
        std::fs::remove_file("created").unwrap();
        distant();
    }
    /// Descriptors that differ by 256, and one that becomes another by dup2(2).
    fn distant() {
        use std::{fs::File, mem::ManuallyDrop, os::fd::{AsRawFd, FromRawFd}};
        unsafe extern "C" { fn dup2(from: i32, to: i32) -> i32; }
        let (zero, random) = (File::open("/dev/zero").unwrap(), File::open("/dev/urandom").unwrap());
        let at = |from: &File, number: i32| unsafe { assert_eq!(dup2(from.as_raw_fd(), number), number); File::from_raw_fd(number) };
        let (mut near, mut far) = (at(&zero, 90), at(&random, 90 + 256));
        for _ in 0..500 { near.read_exact(&mut [0; 8]).unwrap(); far.read_exact(&mut [0; 8]).unwrap(); }
        let mut again = ManuallyDrop::new(at(&random, 90));
        for _ in 0..31 { again.read_exact(&mut [0; 8]).unwrap(); }
    }
"#;

/// Sleeps 23 times for 10 ms, and 7 times in a thread that the other waits for.
const SLEEPER: &str = r#"
    use std::io::{Read, Write};
    fn nap() { std::thread::sleep(std::time::Duration::from_millis(10)); }
    fn main() {
        for _ in 0..23 { nap(); }
        let (mut reader, mut writer) = std::io::pipe().unwrap();
        let slow = std::thread::spawn(move || for _ in 0..7 { nap(); writer.write_all(b"x").unwrap(); });
        for _ in 0..7 { reader.read_exact(&mut [0]).unwrap(); }
        slow.join().unwrap();
    }
"#;

/// 20 sleeps, 20,000 short calls, and 200 files of 1 MiB in memory whose last descriptor is closed by dup2(2): they are given back
/// after that call, on the way back to the program. Writes down what such a call took by its own clock, in ns, and whether the C library
/// has registered with the kernel where it keeps the CPU (rseq(2)).
const TIMED: &str = r#"
    use std::os::fd::AsRawFd;
    unsafe extern "C" { fn dup2(from: i32, to: i32) -> i32; fn dlsym(of: *const i8, name: *const std::ffi::c_char) -> *const u32; }
    fn used() -> i64 {
        let mut time = [0_i64; 2];
        unsafe { syscall(if cfg!(target_arch = "x86_64") { 228 } else { 113 }, 3, time.as_mut_ptr()) };
        time[0] * 1_000_000_000 + time[1]
    }
    fn main() {
        for _ in 0..20 { std::thread::sleep(std::time::Duration::from_millis(10)); }
        let getppid = if cfg!(target_arch = "x86_64") { 110 } else { 173 };
        for _ in 0..20_000 { unsafe { syscall(getppid) }; }
        let (null, block) = (std::fs::File::open("/dev/null").unwrap(), vec![1_u8; 1 << 20]);
        let (memfd, mut took) = (if cfg!(target_arch = "x86_64") { 319 } else { 279 }, 0);
        for _ in 0..200 {
            let file: std::fs::File = unsafe { std::os::fd::FromRawFd::from_raw_fd(syscall(memfd, c"it".as_ptr(), 0) as i32) };
            std::io::Write::write_all(&mut &file, &block).unwrap();
            let begun = used();
            assert_eq!(unsafe { dup2(null.as_raw_fd(), file.as_raw_fd()) }, file.as_raw_fd());
            took += used() - begun;
        }
        let size = unsafe { dlsym(std::ptr::null(), c"__rseq_size".as_ptr()) };
        let is_registered = !size.is_null() && unsafe { *size } > 0;
        std::fs::write("took", format!("{} {is_registered}", took / 200)).unwrap();
    }
"#;

/// Opens so many folders by one thread, and looks a file up in each by another thread and by a child.
const FOLDERS: &str = r#"
    use std::os::fd::AsRawFd;
    fn main() { unsafe {
        let many: u32 = std::env::args().nth(1).unwrap().parse().unwrap();
        let open: Vec<std::fs::File> = (0..many).map(|n| std::fs::File::open(format!("d{n}")).unwrap()).collect();
        let number = if cfg!(target_arch = "x86_64") { 269 } else { 48 };
        let look = || open.iter().for_each(|folder| drop(syscall(number, folder.as_raw_fd(), c"f".as_ptr(), 0)));
        std::thread::scope(|scope| { scope.spawn(look); });
        let fork = if cfg!(target_arch = "x86_64") { 56 } else { 220 };
        let child = syscall(fork, 17, 0_usize, 0_usize, 0_usize, 0_usize);
        if child == 0 { look(); }
        let wait = if cfg!(target_arch = "x86_64") { 61 } else { 260 };
        if child > 0 { syscall(wait, child, 0_usize, 0, 0_usize); }
    } }
"#;

/// Prints the user that it works as, makes 23 known calls, and ends with 5.
const OWNED: &str = r#"
    unsafe extern "C" { fn geteuid() -> u32; }
    fn main() {
        println!("{}", unsafe { geteuid() });
        let getppid = if cfg!(target_arch = "x86_64") { 110 } else { 173 };
        for _ in 0..23 { unsafe { syscall(getppid) }; }
        std::process::exit(5);
    }
"#;

/// A log of 200 lines that syncs after so many lines.
const LOG: &str = r#"
    use std::io::Write;
    fn main() {
        let together: usize = std::env::args().nth(1).unwrap().parse().unwrap();
        let mut log = std::fs::File::create("log").unwrap();
        for line in 1..=200 {
            log.write_all(b"a line of a log\n").unwrap();
            if line % together == 0 { log.sync_all().unwrap(); }
        }
    }
"#;

/// A client that sends requests in two parts over TCP, and its server, which answers each.
const CLIENT: &str = r#"
    use std::io::{Read, Write};
    fn main() {
        let ear = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut line = std::net::TcpStream::connect(ear.local_addr().unwrap()).unwrap();
        let server = std::thread::spawn(move || {
            let (mut peer, _) = ear.accept().unwrap();
            let mut request = [0; 100];
            while peer.read_exact(&mut request).is_ok() { peer.write_all(b"an answer.").unwrap(); }
        });
        line.set_nodelay(std::env::args().nth(1).unwrap() == "no-delay").unwrap();
        for _ in 0..30 {
            for part in 0..2 { line.write_all(&[0; 50]).unwrap(); }
            line.read_exact(&mut [0; 10]).unwrap();
        }
        drop(line);
        server.join().unwrap();
    }
"#;
