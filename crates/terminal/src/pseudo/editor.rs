//! A screen editor against a line editor: both make the same edits to the same file, typed one after the other at a terminal of
//! their own, each after the answer to the one before. The file that results must be the same.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use analysis::terminal::pseudo::Edited;
use catalogue::terminal::pair::{Features, Pty, write_all};
use operation::{Failure, Setting, Usage};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::read;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use rustix::termios::{Winsize, tcsetwinsize};

use super::cells::Cells;

/// An editor: how it is started, and how it is made to do the work.
struct Editor {
    name: &'static str,
    screen: bool,
    arguments: &'static [&'static str],
    /// Puts a word before this line.
    edit: fn(usize) -> String,
    /// Writes the file and ends.
    end: &'static str,
}

/// In the order in which they are shown. Settings of the user's are not read, and no backup or swap file is written.
const EDITORS: [Editor; 3] = [
    Editor {
        name: "vim",
        screen: true,
        arguments: &["-u", "NONE", "-i", "NONE", "-n", "-N"],
        edit: |line| format!(":{line}\rI{WORD}\x1b"),
        end: ":wq\r",
    },
    Editor {
        name: "nano",
        screen: true,
        arguments: &["--ignorercfiles", "--nowrap"],
        // Ctrl-_ goes to a line and a column.
        edit: |line| format!("\x1f{line},1\r{WORD}"),
        end: "\x18y\r",
    },
    Editor {
        name: "ed",
        screen: false,
        arguments: &["-s"],
        edit: |line| format!("{line}s/^/{WORD}/p\n"),
        end: "w\nq\n",
    },
];

const WORD: &str = "edited ";
const LINES: usize = 2000;
const EDITS: usize = 20;
/// Lines between two edits: always on another screen.
const APART: usize = 97;

/// An editor that has shown nothing for so long has answered.
const SILENCE: Duration = Duration::from_millis(25);

pub(super) fn all(cells: &mut Cells<'_>) -> Vec<Edited> {
    EDITORS.iter().filter_map(|editor| cells.take(editor.name, |setting| edited(setting, editor))).collect()
}

fn edited(setting: &Setting, editor: &Editor) -> Result<Edited, Failure> {
    let file = setting.scratch().join("text");
    let line = |number| format!("line {number} of a text of many lines that nobody has read before\n");
    let before: Vec<String> = (1..=LINES).map(line).collect();
    fs::write(&file, before.concat())?;
    let edits: Vec<usize> = (0..EDITS).map(|edit| 1 + edit * APART).collect();
    let mut after = before;
    for &number in &edits {
        after[number - 1].insert_str(0, WORD);
    }
    // What a terminal is that a program finds when it starts.
    let pty = Pty::new(Features::ALL)?;
    tcsetwinsize(&pty.slave, Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 })?;
    let used = Usage::of_reaped_children();
    let mut child = started(editor, &file, pty.slave)?;
    let mut screen = Screen { terminal: &pty.master, typed: 0, shown: 0 };
    // What is typed at a screen editor before it shows its screen may be lost. A line editor shows nothing at its start.
    if editor.screen {
        screen.answer()?;
    }
    for &number in &edits {
        screen.type_in(&(editor.edit)(number))?;
        screen.answer()?;
    }
    screen.type_in(editor.end)?;
    let calls = screen.until_ended(&child)?;
    let (typed, shown) = (screen.typed, screen.shown);
    let status = child.wait()?;
    let used = Usage::of_reaped_children().since(used);
    if !status.success() || fs::read_to_string(&file)? != after.concat() {
        return Err(Failure::wrong(format!("{} did not make the edits ({status})", editor.name)));
    }
    let cpu_s = (used.user + used.system) / 1e9;
    Ok(Edited { editor: editor.name.into(), screen: editor.screen, edits: EDITS as u64, typed, shown, calls, cpu_s })
}

fn started(editor: &Editor, file: &Path, terminal: OwnedFd) -> Result<Child, Failure> {
    let mut command = Command::new(editor.name);
    command.args(editor.arguments).arg(file).env("TERM", "xterm").env("LC_ALL", "C").env_remove("EXINIT");
    command.env_remove("VIMINIT").env("HOME", file.parent().unwrap_or(Path::new("/")));
    command.stdin(terminal.try_clone()?).stdout(Stdio::from(terminal.try_clone()?)).stderr(terminal);
    command.spawn().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::skip(
            format!("there is no editor {} here", editor.name),
            format!("install it (Debian: apt install {})", editor.name),
        ),
        _ => error.into(),
    })
}

/// A user in front of a screen.
struct Screen<'a> {
    terminal: &'a OwnedFd,
    typed: u64,
    shown: u64,
}

impl Screen<'_> {
    fn type_in(&mut self, keys: &str) -> Result<(), Failure> {
        self.typed += keys.len() as u64;
        write_all(self.terminal, keys.as_bytes())
    }

    /// Reads until the editor has shown something and is silent.
    fn answer(&mut self) -> Result<(), Failure> {
        const PATIENCE: Duration = Duration::from_secs(5);
        let (begin, mut has_shown) = (Instant::now(), false);
        while begin.elapsed() < PATIENCE {
            let shows = self.look(SILENCE)?;
            if has_shown && !shows {
                return Ok(());
            }
            has_shown |= shows;
        }
        Err(Failure::wrong("the editor does not answer, or shows something without end"))
    }

    /// Whether something came.
    fn look(&mut self, patience: Duration) -> Result<bool, Failure> {
        let mut room = vec![0; 64 << 10];
        let mut polled = [PollFd::new(self.terminal, PollFlags::IN)];
        poll(&mut polled, Timespec::try_from(patience).ok().as_ref())?;
        if !polled[0].revents().contains(PollFlags::IN) {
            return Ok(false);
        }
        self.shown += read(self.terminal, &mut room).unwrap_or(0) as u64;
        Ok(true)
    }

    /// Reads until the editor has ended. Its read and write calls, where the kernel counts those of a process that has ended.
    fn until_ended(&mut self, child: &Child) -> Result<Option<u64>, Failure> {
        let begin = Instant::now();
        let pid = Pid::from_raw(child.id() as i32).ok_or_else(|| Failure::wrong("no process"))?;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        while waitid(WaitId::Pid(pid), options)?.is_none() {
            if begin.elapsed() > Duration::from_secs(10) {
                return Err(Failure::wrong("the editor does not end"));
            }
            self.look(Duration::from_millis(1))?;
        }
        while self.look(Duration::ZERO)? {}
        let text = fs::read_to_string(format!("/proc/{}/io", child.id())).unwrap_or_default();
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
        Ok(field("syscr:").zip(field("syscw:")).map(|(reads, writes)| reads + writes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pseudo::cells;

    #[test]
    fn every_editor_that_is_here_makes_the_same_edits() {
        let mut made = Vec::new();
        for editor in &EDITORS {
            match cells::apart(|setting| edited(setting, editor)) {
                Ok(done) => made.push(done),
                Err(Failure::Skip { reason, remedy }) => testing::left_out!("{reason}; {remedy}"),
                Err(failure) => panic!("{}: {failure}", editor.name),
            }
        }
        if made.is_empty() {
            testing::not_tested!("there is no editor here; apt-get install ed vim-tiny nano");
            return;
        }
        for done in &made {
            assert!(done.cpu_s > 0.0 && done.typed > 0 && done.shown > 0, "{done:?}");
            assert!(done.calls.is_none_or(|calls| calls >= done.edits), "{done:?}");
        }
        if let (Some(screen), Some(line)) =
            (made.iter().find(|editor| editor.screen), made.iter().find(|editor| !editor.screen))
        {
            assert!(screen.shown > line.shown, "a screen takes more: {screen:?} {line:?}");
        }
    }
}
