//! howslow with every engine.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    howslow_lab::install();
    howslow::main()
}
