//! The completion of bash. Bash breaks a word at `@`, `=`, `:` and `,`, which points and labels contain: its script puts
//! such a word together again before it asks, and takes off what bash has kept from each answer.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use clap_complete::env::{Bash as Plain, EnvCompleter};

/// The script that a user sources.
const SCRIPT: &str = include_str!("bash.sh");

/// The completion of bash, for words with points.
pub(super) struct Bash;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        Plain.name()
    }

    fn is(&self, name: &str) -> bool {
        Plain.is(name)
    }

    fn write_registration(
        &self,
        var: &str,
        name: &str,
        bin: &str,
        completer: &str,
        buf: &mut dyn io::Write,
    ) -> io::Result<()> {
        let function = name.replace('-', "_");
        let completer = completer.replace(['"', '$', '`', '\\'], "");
        let script = SCRIPT.replace("NAME", &function).replace("BIN", bin);
        write!(buf, "{}", script.replace("COMPLETER", &completer).replace("VAR", var))
    }

    fn write_complete(
        &self,
        cmd: &mut clap::Command,
        args: Vec<OsString>,
        current_dir: Option<&Path>,
        buf: &mut dyn io::Write,
    ) -> io::Result<()> {
        Plain.write_complete(cmd, args, current_dir, buf)
    }
}
