//! The paths that output can take, by their names.

use operation::{Failure, Setting};

use super::pair::{Features, Pty};
use super::path::{Path, login, relay, ssh};
use crate::kit::library;

/// The path of this name: `raw`, `processed`, `tabs` (a terminal), `pipe`, `file`, `script`, `tcp`, `ssh`. All processes in
/// between start on the CPUs of this one. Skips if this system lacks what it takes.
pub fn laid(setting: &Setting, name: &str) -> Result<Path, Failure> {
    let features = match name {
        "processed" => Features { processing: true, ..Features::RAW },
        "tabs" => Features { processing: true, tabs: true, ..Features::RAW },
        _ => Features::RAW,
    };
    let plain = |output, drained| Ok(Path { output, drained, features, helpers: Vec::new() });
    match name {
        "raw" | "processed" | "tabs" => {
            let Pty { master, slave } = Pty::new(features)?;
            plain(slave, Some(master))
        }
        "pipe" => {
            let (reader, writer) = library::pipe()?;
            plain(writer, Some(reader))
        }
        "file" => {
            let file = std::fs::File::create(setting.scratch().join("output"))?;
            plain(file.into(), None)
        }
        "script" => login::script(),
        "tcp" => relay::over_tcp(setting),
        "ssh" => ssh::over_ssh(setting),
        other => Err(Failure::wrong(format!("{other} is no path"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::drained::Drained;
    use crate::terminal::pair::{lines, write_all};
    use operation::pin;
    use system::machine::TaskStat;

    /// Everything that is written comes out, byte by byte as expected, and nothing is left running afterwards.
    fn carries(name: &str) -> Result<(), Failure> {
        let scratch = tempfile::tempdir()?;
        let setting = Setting::new(record::Point::default(), scratch.path().into(), 0, None, 1);
        pin(0)?;
        let path = laid(&setting, name)?;
        let processes = path.processes();
        assert_eq!(processes.is_empty(), !matches!(name, "script" | "tcp" | "ssh"), "{name}: {processes:?}");
        let text = lines(100_000);
        if let Some(drained) = &path.drained {
            let shown = path.shown(&text);
            let writer = path.output.try_clone()?;
            let writing = std::thread::spawn(move || write_all(&writer, &text));
            let mut come = vec![0; shown.len()];
            crate::kit::channel::read_whole(drained, &mut come)?;
            writing.join().expect("the writer")?;
            assert!(come == shown, "{name}");
        }
        drop(path);
        for pid in processes {
            let began = std::time::Instant::now();
            // It may have ended and not yet be reaped by whoever is its parent now.
            let gone = || TaskStat::of_process(pid as u32).is_none_or(|stat| stat.has_ended());
            while !gone() {
                // A process that another test forked meanwhile holds the terminal open for as long as it lives.
                assert!(began.elapsed() < std::time::Duration::from_secs(120), "{name}: {pid} is left");
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
        }
        Ok(())
    }

    #[test]
    fn every_path_carries_all_and_leaves_nothing_behind() {
        for name in ["raw", "processed", "tabs", "pipe", "file", "script", "tcp", "ssh"] {
            match carries(name) {
                Ok(()) => {}
                Err(Failure::Skip { reason, remedy }) => testing::left_out!("{name}: {reason}; {remedy}"),
                Err(failure) => panic!("{name}: {failure}"),
            }
        }
    }

    #[test]
    fn what_comes_through_programs_is_counted() {
        let scratch = tempfile::tempdir().expect("a folder");
        let setting = Setting::new(record::Point::default(), scratch.path().into(), 0, None, 1);
        let path = laid(&setting, "tcp").expect("a path");
        let Path { output, drained, helpers, .. } = path;
        let mut drained = Drained::new(&setting, output, drained.expect("an end")).expect("drained");
        for _ in 0..3 {
            drained.until_come(640, |output| write_all(output, &lines(640))).expect("it comes");
        }
        drop(helpers);
    }
}
