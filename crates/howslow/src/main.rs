//! What every operation of this computer costs: the program. The crate beside it is the command.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    howslow::main()
}
