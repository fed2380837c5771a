//! What the kernel counts on one CPU: interrupts by line, softirqs, stolen time; and how long this task waited for its CPU.
//! The files stay open and are read outside of the spinning.

use std::fs::File;
use std::os::unix::fs::FileExt;

use rustix::param::clock_ticks_per_second;

pub(crate) struct Counters {
    cpu: u32,
    interrupts: Option<File>,
    softirqs: Option<File>,
    stat: Option<File>,
    schedule: Option<File>,
    text: Vec<u8>,
}

impl Counters {
    /// Opens what there is. Call it in the spinning thread: the scheduler's statistics are those of the caller.
    pub(crate) fn open(cpu: u32) -> Counters {
        let open = |name: &str| File::open(format!("/proc/{name}")).ok();
        Counters {
            cpu,
            interrupts: open("interrupts"),
            softirqs: open("softirqs"),
            stat: open("stat"),
            schedule: open("thread-self/schedstat"),
            text: Vec::with_capacity(1 << 16),
        }
    }

    /// The counts of this CPU by line: the name and how often.
    pub(crate) fn lines(&mut self) -> Vec<(String, u64)> {
        let mut lines = Vec::new();
        for (file, what) in [(&self.interrupts, Lines::Interrupts), (&self.softirqs, Lines::Softirqs)] {
            let text = file.as_ref().and_then(|file| whole(file, &mut self.text));
            lines.extend(text.map(|text| counts(text, self.cpu, what)).unwrap_or_default());
        }
        lines
    }

    /// Time that the hypervisor ran something else on this CPU, since the start of the system, in ns. The kernel reports it
    /// in hundredths of a second.
    pub(crate) fn steal(&mut self) -> Option<f64> {
        let text = whole(self.stat.as_ref()?, &mut self.text)?;
        steal(text, self.cpu).map(|ticks| ticks * 1e9 / clock_ticks_per_second() as f64)
    }

    /// Time that this task wanted to run and did not have its CPU, in ns.
    pub(crate) fn waited(&mut self) -> Option<f64> {
        let text = whole(self.schedule.as_ref()?, &mut self.text)?;
        text.split_whitespace().nth(1)?.parse().ok()
    }
}

/// All of a file of /proc from its begin.
fn whole<'a>(file: &File, text: &'a mut Vec<u8>) -> Option<&'a str> {
    const PIECE: usize = 1 << 16;
    let mut length = 0;
    loop {
        text.resize(length + PIECE, 0);
        match file.read_at(&mut text[length..], length as u64).ok()? {
            0 => break,
            read => length += read,
        }
    }
    text.truncate(length);
    std::str::from_utf8(text).ok()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    Interrupts,
    Softirqs,
}

/// The lines of a table that has one column for each CPU that is online.
fn counts(text: &str, cpu: u32, what: Lines) -> Vec<(String, u64)> {
    let mut lines = text.lines();
    let own = format!("CPU{cpu}");
    let header: Vec<&str> = lines.next().unwrap_or_default().split_whitespace().collect();
    let Some(column) = header.iter().position(|name| *name == own) else { return Vec::new() };
    let count = |line: &str| {
        let (label, rest) = line.split_once(':')?;
        let mut words = rest.split_whitespace();
        let count = words.nth(column)?.parse().ok()?;
        let reported = words.skip(header.len() - column - 1).collect::<Vec<_>>().join(" ");
        Some((line_name(label.trim(), &reported, what), count))
    };
    lines.filter_map(count).collect()
}

fn line_name(label: &str, reported: &str, what: Lines) -> String {
    let is_number = label.chars().all(|c| c.is_ascii_digit());
    match what {
        Lines::Softirqs => format!("softirq {label}"),
        // The words before the last name the controller and the kind of its line.
        Lines::Interrupts if is_number => {
            format!("interrupt {label} ({})", reported.split_whitespace().last().unwrap_or("no handler"))
        }
        Lines::Interrupts if reported.is_empty() => format!("interrupt {label}"),
        Lines::Interrupts => format!("interrupt {label} ({})", reported.to_lowercase()),
    }
}

fn steal(text: &str, cpu: u32) -> Option<f64> {
    let own = format!("cpu{cpu}");
    let line = text.lines().find(|line| line.split_whitespace().next() == Some(&own))?;
    line.split_whitespace().nth(8)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERRUPTS: &str = "           CPU0       CPU2       
 26:          0         13  IO-APIC   4-edge      ttyS0
 36:          5    2227241 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0
LOC:    2895259    3003735   Local timer interrupts
ERR:          0
";

    #[test]
    fn a_cpus_column_is_found_by_its_name() {
        let reported = counts(INTERRUPTS, 2, Lines::Interrupts);
        assert_eq!(reported[0], ("interrupt 26 (ttyS0)".into(), 13));
        assert_eq!(reported[1], ("interrupt 36 (virtio1-req.0)".into(), 2_227_241));
        assert_eq!(reported[2], ("interrupt LOC (local timer interrupts)".into(), 3_003_735));
        assert_eq!(reported.len(), 3, "a line with one number for all CPUs is left out");
        assert_eq!(counts(INTERRUPTS, 0, Lines::Interrupts)[1].1, 5);
        assert_eq!(counts(INTERRUPTS, 1, Lines::Interrupts), Vec::new());
        assert_eq!(counts("", 0, Lines::Softirqs), Vec::new());
    }

    #[test]
    fn steal_is_the_eighth_number_of_the_cpus_line() {
        let text = "cpu  1 2 3 4 5 6 7 80 9 10\ncpu1 1 2 3 4 5 6 7 8 9 10\ncpu10 0 0 0 0 0 0 0 11 0 0\n";
        assert_eq!((steal(text, 1), steal(text, 10), steal(text, 0)), (Some(8.0), Some(11.0), None));
    }

    #[test]
    fn this_system_counts() {
        let mut counters = Counters::open(0);
        if counters.interrupts.is_none() {
            return testing::not_tested!("no /proc/interrupts; mount proc");
        }
        let lines = counters.lines();
        assert!(lines.iter().any(|(_, count)| *count > 0), "{lines:?}");
        assert!(lines.iter().any(|(name, _)| name.starts_with("softirq ")), "{lines:?}");
        assert!(counters.steal().is_some_and(|steal| steal >= 0.0));
    }
}
