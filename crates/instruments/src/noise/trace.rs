//! The kernel's tracepoints on one CPU, through perf_event_open: which task has the CPU, which interrupt or softirq runs.
//! They are gone with their descriptors, and nobody else sees them.

use analysis::noise::{Event, Mark};
use operation::Clock;
use record::smallest_first;
use system::perf::{PerfEvent, Record, SampledEvent};

use crate::noise::format::Field;
use crate::noise::options::TASK;
use crate::noise::tracefs::{Tracefs, refused};

/// Bytes that hold the samples of one tracepoint during one window.
const BUFFER: usize = 256 << 10;
/// Of the kernel's interface: the kind of event, `PERF_TYPE_TRACEPOINT`; what a sample has, `PERF_SAMPLE_TIME` and `PERF_SAMPLE_RAW`;
/// the kind of record that counts lost ones.
const TRACEPOINT: u32 = 2;
const TIME_AND_RAW: u64 = 1 << 2 | 1 << 10;
const LOST: u32 = 2;

/// What the samples of a tracepoint hold.
enum SampleContent {
    /// The task that gets the CPU.
    Switch { name: Field, pid: Field },
    /// An interrupt line, by its number.
    Line { number: Field, begins: bool },
    /// A softirq, by its number.
    Softirq { number: Field, begins: bool },
    /// An interrupt that has a tracepoint of its own.
    Vector { name: &'static str, begins: bool },
}

/// Interrupts of the processor itself, each with a pair of tracepoints `NAME_entry` and `NAME_exit`.
const VECTORS: [(&str, &str); 8] = [
    ("irq_vectors/local_timer", "interrupt: local timer"),
    ("irq_vectors/reschedule", "interrupt: rescheduling"),
    ("irq_vectors/call_function", "interrupt: function call"),
    ("irq_vectors/call_function_single", "interrupt: function call"),
    ("irq_vectors/irq_work", "interrupt: irq work"),
    ("irq_vectors/x86_platform_ipi", "interrupt: platform"),
    ("irq_vectors/thermal_apic", "interrupt: thermal"),
    ("irq_vectors/threshold_apic", "interrupt: threshold"),
];

/// In the order of the kernel's numbers.
const SOFTIRQS: [&str; 10] =
    ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];

/// The tracepoints of one CPU.
pub(crate) struct Tracer {
    points: Vec<(SampleContent, SampledEvent)>,
    /// It dates them.
    clock: Clock,
    /// The names of interrupt lines by number.
    lines: Vec<(u64, String)>,
    /// Samples that the kernel dropped.
    pub(crate) lost: u64,
}

impl Tracer {
    /// Opens them, switched off. `lines` are the names of interrupt lines by number, `clock` is the one that they
    /// are dated by. Fails with why they cannot be used.
    pub(crate) fn open(cpu: u32, clock: Clock, lines: Vec<(u64, String)>) -> Result<Tracer, String> {
        let folder = Tracefs::open()?;
        let mut tracer = Tracer { points: Vec::new(), clock, lines, lost: 0 };
        let switch = |format: &str| {
            Some(SampleContent::Switch { name: Field::of(format, "next_comm")?, pid: Field::of(format, "next_pid")? })
        };
        // Without this one, interrupts inside of other tasks cannot be distinguished from ours.
        tracer.add(&folder, "sched/sched_switch", cpu, switch)?;
        for begins in [true, false] {
            let end = if begins { "entry" } else { "exit" };
            let line = |format: &str| Some(SampleContent::Line { number: Field::of(format, "irq")?, begins });
            tracer.add(&folder, &format!("irq/irq_handler_{end}"), cpu, line)?;
            let softirq = |format: &str| Some(SampleContent::Softirq { number: Field::of(format, "vec")?, begins });
            tracer.add(&folder, &format!("irq/softirq_{end}"), cpu, softirq)?;
            for (event, name) in VECTORS {
                // Each architecture has some of them, or none.
                let vector = |_: &str| Some(SampleContent::Vector { name, begins });
                let _ = tracer.add(&folder, &format!("{event}_{end}"), cpu, vector);
            }
        }
        Ok(tracer)
    }

    fn add(
        &mut self,
        folder: &Tracefs,
        event: &str,
        cpu: u32,
        content: impl FnOnce(&str) -> Option<SampleContent>,
    ) -> Result<(), String> {
        let id = folder.read(event, "id");
        let id = id.map_err(|error| refused(&format!("the tracepoint {event} cannot be read"), &error))?;
        let id = id.trim().parse().map_err(|_| format!("the tracepoint {event} has no number"))?;
        let format = folder.read(event, "format").unwrap_or_default();
        let content =
            content(&format).ok_or_else(|| format!("the tracepoint {event} has other fields than expected"))?;
        let event = PerfEvent {
            kind: TRACEPOINT,
            config: id,
            sample_period: 1,
            sample_type: TIME_AND_RAW,
            flags: PerfEvent::DISABLED | PerfEvent::USE_CLOCK,
            clock: self.clock.id(),
            ..PerfEvent::default()
        };
        let sampler = event.open(-1, cpu as i32).and_then(|event| SampledEvent::new(event, BUFFER));
        let sampler = sampler.map_err(|error| refused("tracepoints are refused", &error))?;
        self.points.push((content, sampler));
        Ok(())
    }

    /// Switches all of them on. Returns false if one could not be.
    pub(crate) fn enable(&mut self) -> bool {
        self.points.iter_mut().all(|(_, sampler)| sampler.enable(true).is_ok())
    }

    /// Switches all of them off and appends what they reported since `start`, in order of time.
    pub(crate) fn take(&mut self, names: &mut Vec<String>, start: f64, events: &mut Vec<Event>) {
        for (_, sampler) in &mut self.points {
            let _ = sampler.enable(false);
        }
        let from = events.len();
        for (content, sampler) in &mut self.points {
            while let Some(record) = sampler.next_record() {
                match record.kind {
                    Record::SAMPLE => {
                        let found = event(content, &record.bytes, &self.lines, names);
                        events.extend(found.map(|(ns, mark)| Event { at: self.clock.moment(ns), mark }));
                    }
                    LOST => self.lost += number(&record.bytes, 8).unwrap_or(0),
                    _ => (),
                }
            }
        }
        let mut reported = events.split_off(from);
        reported.retain(|event| event.at >= start);
        smallest_first(&mut reported, |one| one.at);
        events.append(&mut reported);
    }
}

fn number(bytes: &[u8], offset: usize) -> Option<u64> {
    bytes.get(offset..offset + 8)?.try_into().ok().map(u64::from_ne_bytes)
}

/// When a sample was taken, in ns of the kernel's reading, and what it reports. It consists of the time, the length of the
/// tracepoint's own record, and that record.
fn event(
    content: &SampleContent,
    sample: &[u8],
    lines: &[(u64, String)],
    names: &mut Vec<String>,
) -> Option<(u64, Mark)> {
    let ns = number(sample, 0)?;
    let record = sample.get(12..)?;
    let inside = |begins: &bool, place| if *begins { Mark::Entered(place) } else { Mark::Left(place) };
    let mark = match content {
        SampleContent::Switch { name, pid } => match (name.text(record)?, pid.number(record)?) {
            (name, _) if name == TASK => Mark::Ours,
            (_, 0) => Mark::Task(place(names, "idle")),
            (name, _) => Mark::Task(place(names, &format!("task: {}", kind(&name)))),
        },
        SampleContent::Line { number, begins } => {
            let number = number.number(record)?;
            let name = lines.iter().find(|(line, _)| *line == number).map_or("", |(_, name)| name);
            inside(begins, place(names, &format!("interrupt: {number} {name}")))
        }
        SampleContent::Softirq { number, begins } => {
            let number = number.number(record)?;
            let name = SOFTIRQS.get(number as usize).copied().unwrap_or("of an unknown number");
            inside(begins, place(names, &format!("softirq: {name}")))
        }
        SampleContent::Vector { name, begins } => inside(begins, place(names, name)),
    };
    Some((ns, mark))
}

/// The place of a name, which is added if it is new.
fn place(names: &mut Vec<String>, name: &str) -> usize {
    names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.into());
        names.len() - 1
    })
}

/// Kernel workers are many, and named by their number and what they just do: `kworker/0:2-events`.
fn kind(name: &str) -> &str {
    if name.starts_with("kworker/") { "kworker" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sample of a switch as perf lays it out.
    fn sample(name: &str, pid: u32) -> (SampleContent, Vec<u8>) {
        let format = "\tfield:char next_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
            \tfield:pid_t next_pid;\toffset:24;\tsize:4;\tsigned:1;\n";
        let field = |name| Field::of(format, name).expect(name);
        let mut bytes = 5_000_u64.to_ne_bytes().to_vec();
        bytes.extend(28_u32.to_ne_bytes());
        bytes.extend([0; 8]);
        bytes.extend(name.bytes().chain(std::iter::repeat(0)).take(16));
        bytes.extend(pid.to_ne_bytes());
        (SampleContent::Switch { name: field("next_comm"), pid: field("next_pid") }, bytes)
    }

    #[test]
    fn a_switch_shows_whose_cpu_it_is() {
        let mut names = Vec::new();
        let mut mark = |name: &str, pid| {
            let (content, bytes) = sample(name, pid);
            event(&content, &bytes, &[], &mut names).expect("an event")
        };
        assert_eq!(mark("cc1", 7), (5_000, Mark::Task(0)));
        assert_eq!(mark(TASK, 8).1, Mark::Ours);
        assert_eq!(mark("swapper/1", 0).1, Mark::Task(1));
        assert_eq!(mark("kworker/1:2-events", 9).1, Mark::Task(2));
        assert_eq!(mark("kworker/u4:0-flush", 9).1, Mark::Task(2));
        assert_eq!(names, ["task: cc1", "idle", "task: kworker"]);
    }

    #[test]
    fn a_sample_that_is_cut_off_shows_nothing() {
        let (content, bytes) = sample("cc1", 7);
        for length in [0, 7, 12, 20, 30] {
            assert_eq!(event(&content, &bytes[..length], &[], &mut Vec::new()), None, "{length}");
        }
    }
}
