//! What calls are made on, and what became of them, beside what a program was written to do.

use serde_json::Value;

use super::billed_program;

#[test]
fn calls_are_counted_by_what_they_are_made_on() {
    let text = r#"
        use std::io::{Read, Write};
        fn main() {
            let mut room = [0; 4096];
            for _ in 0..23 { std::fs::File::open("/proc/self/stat").unwrap().read(&mut room).unwrap(); }
            let (mut reader, mut writer) = std::io::pipe().unwrap();
            for _ in 0..17 { writer.write_all(b"x").unwrap(); }
            for _ in 0..17 { reader.read_exact(&mut room[..1]).unwrap(); }
            let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            for _ in 0..5 { std::net::TcpStream::connect(server.local_addr().unwrap()).unwrap(); }
            let folder = std::env::temp_dir().join(format!("objects{}", std::process::id()));
            for _ in 0..11 { std::fs::File::create(&folder).unwrap(); }
            std::fs::remove_file(&folder).unwrap();
        }"#;
    let Some(bill) = billed_program("objects", text) else { return };
    if !std::path::Path::new("/sys/kernel/btf/vmlinux").exists() {
        return testing::not_tested!(
            "this kernel does not describe its types; a kernel with CONFIG_DEBUG_INFO_BTF does"
        );
    }
    let calls = bill["seen"]["together"]["calls"].as_array().expect("calls");
    let on = |call: &str, object: &str| -> u64 {
        let objects = calls.iter().filter(|it| it["call"] == call).filter_map(|it| it["objects"].as_array()).flatten();
        objects.filter(|it| it["object"] == object).filter_map(|it| it["count"].as_u64()).sum()
    };
    // The standard library reads some files of /proc and /sys itself.
    assert!((23..40).contains(&on("read", "proc")), "{}", on("read", "proc"));
    assert_eq!((on("write", "pipe"), on("read", "pipe"), on("connect", "tcp")), (17, 17, 5));
    assert!(on("close", "tcp") >= 5 && on("openat", "proc") >= 23);
    assert_eq!(bill["seen"]["together"]["creates"], Value::from(1), "a file that is there is not created");
}
