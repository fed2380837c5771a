//! The static programs that run native and under emulators, built once by the profile that the workspace has for them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Rust's name for static programs of this architecture.
pub(crate) fn target(architecture: &str) -> String {
    format!("{architecture}-unknown-linux-musl")
}

/// The static program for this architecture, built once with the profile that the workspace has for it; `None` if there is no Rust
/// standard library for it.
pub(crate) fn program(architecture: &'static str) -> Option<&'static Path> {
    static BUILT: [OnceLock<Option<PathBuf>>; 2] = [const { OnceLock::new() }; 2];
    let place = usize::from(architecture != "x86_64");
    BUILT[place].get_or_init(|| build(&target(architecture))).as_deref()
}

fn build(target: &str) -> Option<PathBuf> {
    // The laboratory also contains this file.
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let root = folders.find(|folder| folder.join("crates").is_dir()).expect("the workspace");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let words = ["--print", "target-libdir", "--target", target];
    let libraries = Command::new(rustc).current_dir(root).args(words).output().expect("a compiler");
    let libraries = PathBuf::from(String::from_utf8_lossy(&libraries.stdout).trim());
    if !libraries.is_dir() {
        return None;
    }
    let mut build = Command::new(env!("CARGO"));
    // The variables that cargo sets for tests would change this build.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR" {
            build.env_remove(name);
        }
    }
    build.args(["build", "--locked", "--package", "howslow", "--no-default-features", "--profile", "systems"]);
    build.args(["--target", target, "--message-format", "json-render-diagnostics"]).current_dir(root);
    let output = build.output().expect("cargo");
    assert!(output.status.success(), "{target}: {}", String::from_utf8_lossy(&output.stderr));
    // Only cargo knows its folder.
    let messages = String::from_utf8_lossy(&output.stdout);
    let mut executables = messages.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        message.get("executable")?.as_str().map(PathBuf::from)
    });
    Some(executables.next_back().expect("cargo has built a program"))
}
