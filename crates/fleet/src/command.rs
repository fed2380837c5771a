//! Runs a tool and waits for its answer, for a limited time.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// No answer is longer: squeue's about a hundred thousand jobs.
const MOST_BYTES: u64 = 64 << 20;

#[derive(Debug)]
pub(crate) struct Answer {
    /// Its exit status; `None` if a signal ended it.
    pub status: Option<i32>,
    pub out: Vec<u8>,
    /// What it complained about, on one line.
    pub complaint: String,
}

impl Answer {
    pub(crate) fn is_good(&self) -> bool {
        self.status == Some(0)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }
}

/// Runs a command in a process group of its own, so that Ctrl-C does not reach it, and waits for its end.
///
/// Output goes through files: what a tool leaves running in the background may hold a pipe open for ever. Fails if it
/// cannot be started, takes longer than `patience` or answers without end; then it is killed.
pub(crate) fn run_command(command: &mut Command, input: &[u8], patience: Duration) -> Result<Answer, String> {
    const PAUSE: Duration = Duration::from_millis(5);
    let name = command.get_program().to_string_lossy().into_owned();
    let io = |error: std::io::Error| format!("{name}: {error}");
    let (mut out, mut err, mut sent) =
        (tempfile::tempfile().map_err(io)?, tempfile::tempfile().map_err(io)?, tempfile::tempfile().map_err(io)?);
    sent.write_all(input).and_then(|()| sent.rewind()).map_err(io)?;
    command.process_group(0).stdin(sent);
    command.stdout(out.try_clone().map(Stdio::from).map_err(io)?);
    command.stderr(err.try_clone().map(Stdio::from).map_err(io)?);
    let mut child = command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("there is no command {name} here"),
        _ => io(error),
    })?;
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(io)? {
            break status;
        }
        let written = [&out, &err].map(|file| file.metadata().map_or(0, |metadata| metadata.len()));
        let why = match begin.elapsed() > patience {
            true => format!("{name} did not answer within {:.0} s", patience.as_secs_f64()),
            // A host that writes without end must not fill this one's disk.
            false if written.iter().any(|length| *length > MOST_BYTES) => {
                format!("{name} answered with more than {}, and was stopped", record::Bytes(MOST_BYTES))
            }
            false => {
                std::thread::sleep(PAUSE);
                continue;
            }
        };
        let _ = child.kill();
        let _ = child.wait();
        return Err(why);
    };
    let complaint = String::from_utf8_lossy(&read(&mut err).map_err(io)?).into_owned();
    let lines: Vec<&str> = complaint.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    Ok(Answer {
        status: status.code(),
        out: read(&mut out).map_err(io)?,
        complaint: record::printable(&lines.join("; ")),
    })
}

fn read(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, patience: u64) -> Result<Answer, String> {
        run_command(Command::new("sh").args(["-c", script]), b"in\n", Duration::from_millis(patience))
    }

    #[test]
    fn a_tool_answers_complains_or_is_ended() {
        let answer = shell("cat; echo one >&2; echo two >&2; exit 4", 60_000).expect("an answer");
        assert_eq!((answer.is_good(), answer.status, answer.text().as_str()), (false, Some(4), "in\n"));
        assert_eq!(answer.complaint, "one; two");
        assert!(shell("exec sleep 100", 50).is_err_and(|why| why.contains("did not answer")));
        let missing = run_command(&mut Command::new("howslow-no-such-tool"), b"", Duration::from_secs(9));
        assert!(missing.is_err_and(|why| why == "there is no command howslow-no-such-tool here"));
    }

    #[test]
    fn a_tool_that_writes_without_end_is_stopped() {
        let endless = shell("exec yes", 60_000);
        assert!(endless.is_err_and(|why| why.contains("more than 64 MiB")));
    }

    #[test]
    fn what_stays_in_the_background_delays_nothing() {
        let answer = shell("sleep 3 & echo done", 2_000).expect("an answer");
        assert_eq!(answer.text(), "done\n");
    }
}
