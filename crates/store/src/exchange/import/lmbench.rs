//! The text of lmbench: what its programs print, or a results file. Single lines have a unit; blocks begin with a heading and
//! have two numbers a line. Lines of no known form are passed over, as lmbench's own scripts do.

use record::{Machine, Point, Run, Value};

use super::imported::{Found, Repetitions, Source, run};
use super::importer::{ImportError, Importer};
use crate::exchange::export::lmbench::{Line, line_of};

const NAME: &str = "lmbench";
const MB: f64 = 1e6;

pub(super) const LMBENCH: Importer =
    Importer { name: NAME, summary: "a results file of lmbench, or what its programs print", recognises, read };

fn recognises(text: &str) -> bool {
    text.lines().take(2000).any(|line| {
        line.starts_with("[lmbench") || (line_of(name_of(line)).is_some() && Reader::default().single(line).is_some())
    })
}

fn read(text: &str) -> Result<Run, ImportError> {
    let mut reader = Reader::default();
    let mut machine = Machine::default();
    let mut tool = NAME.to_string();
    for line in text.lines() {
        if let Some(header) = line.strip_prefix('[') {
            tool = header_line(header.trim_end_matches(']'), &mut machine).unwrap_or(tool);
        } else {
            reader.line(line);
        }
    }
    Ok(run(Source { name: NAME, tool, machine, ..Source::default() }, reader.found))
}

/// What a line in brackets states. Returns the tool with its version, if it is that line.
fn header_line(text: &str, machine: &mut Machine) -> Option<String> {
    if let Some(rest) = text.strip_prefix("lmbench") {
        let (version, system) = rest.split_once(" results for ")?;
        machine.kernel.name = system.split_whitespace().next().unwrap_or_default().into();
        machine.kernel.release = system.split_whitespace().nth(2).unwrap_or_default().into();
        return Some(format!("{NAME} {version}"));
    }
    let (key, value) = text.split_once(": ")?;
    match key {
        "MACHINE" => machine.architecture = value.trim().into(),
        "RELEASE" => machine.kernel.release = value.trim().into(),
        "SYSNAME" => machine.kernel.name = value.trim().into(),
        "MHZ" => machine.cpu.frequency.nominal_mhz = value.split_whitespace().next().and_then(|mhz| mhz.parse().ok()),
        _ => {}
    }
    None
}

/// What the numbers of a block are.
#[derive(Clone, Debug, PartialEq)]
enum Block {
    /// MB and MB/s.
    Bandwidth(String),
    /// MB and µs.
    Mapping,
    /// MB and ns, at this stride.
    Load { random: bool, stride: u64 },
    /// Processes and µs, each process with a working set of this many bytes.
    Switch { set: u64 },
    /// Size, number, created and deleted per second.
    Files,
}

#[derive(Default)]
struct Reader {
    block: Option<Block>,
    random: bool,
    found: Vec<Found>,
}

impl Reader {
    fn line(&mut self, line: &str) {
        let line = line.trim();
        if line.is_empty() {
            // A working set's block begins with an empty line, and ends with the next one.
            self.block = None;
        } else if let Some(found) = self.single(line) {
            self.add(found);
        } else if let Some(block) = self.heading(line) {
            self.block = Some(block);
        } else if let Some(found) = self.block.as_ref().and_then(|block| block.row(line)) {
            found.into_iter().for_each(|result| self.add(result));
        }
    }

    /// A line that stands there several times is a program that was run several times.
    fn add(&mut self, found: Found) {
        let same = |known: &&mut Found| known.name == found.name && known.at == found.at;
        match self.found.iter_mut().find(same).map(|known| &mut known.repetitions) {
            Some(Repetitions::Processes(figures)) => {
                if let Repetitions::Processes(more) = found.repetitions {
                    figures.extend(more);
                }
            }
            _ => self.found.push(found),
        }
    }

    /// `NAME: 0.0612 microseconds`, `NAME: 1234.56 MB/sec`.
    fn single(&self, line: &str) -> Option<Found> {
        let (name, rest) = line.rsplit_once(':')?;
        let mut words = rest.split_whitespace();
        let value: f64 = words.next()?.parse().ok()?;
        let unit = words.next()?;
        let (ns, bytes) = match unit {
            "nanoseconds" => (value, 0),
            "microseconds" => (value * 1e3, 0),
            "milliseconds" => (value * 1e6, 0),
            // The time that one MB takes.
            "MB/sec" => (1e9 / value, MB as u64),
            "KB/sec" => (1e12 / value, MB as u64),
            _ => return None,
        };
        let (name, at) = named(name.trim());
        let like = line_of(name_of(line)).map(Line::operation);
        let per = if bytes > 0 { "MB" } else { "operation" };
        let result = Found::new(dotted(&name), Repetitions::Processes(vec![ns]));
        Some(Found { summary: name, at, per: per.into(), bytes, like: like.into_iter().collect(), ..result })
    }

    fn heading(&mut self, line: &str) -> Option<Block> {
        let quoted = line.strip_prefix('"');
        let text = quoted.unwrap_or(line);
        if let Some(rest) = quoted.and_then(|text| text.strip_prefix("size=")) {
            let size: u64 = rest.split('k').next()?.parse().ok()?;
            return Some(Block::Switch { set: size.checked_mul(1024)? });
        }
        if let Some(stride) = quoted.and_then(|text| text.strip_prefix("stride=")) {
            return Some(Block::Load { random: self.random, stride: stride.trim().parse().ok()? });
        }
        match text {
            "mappings" => Some(Block::Mapping),
            "File system latency" => Some(Block::Files),
            "Memory load latency" | "Random load latency" => {
                self.random = text.starts_with("Random");
                None
            }
            "Socket bandwidth using localhost" => Some(Block::Bandwidth("Socket bandwidth".into())),
            _ if text.ends_with(" bandwidth") || text.contains(" bcopy ") => Some(Block::Bandwidth(text.into())),
            _ => None,
        }
    }
}

impl Block {
    /// The costs on a line of the block; `None` if it is no line of it.
    fn row(&self, line: &str) -> Option<Vec<Found>> {
        let words: Vec<&str> = line.split_whitespace().collect();
        if *self == Block::Files {
            return files(&words);
        }
        let (first, second): (&str, f64) = (words.first()?, words.get(1)?.parse().ok()?);
        let bytes = |unit: f64| size(first, unit);
        let one = |name: &str, ns: f64, at: Point| Found {
            summary: name.into(),
            at,
            per: "operation".into(),
            ..Found::new(dotted(name), Repetitions::Processes(vec![ns]))
        };
        let axis = |name: &str, number: u64| Point::default().with(name, Value::Number(number));
        Some(vec![match self {
            Block::Bandwidth(name) => {
                let bytes = bytes(MB)?;
                let like = (name == "libc bcopy unaligned").then(|| format!("memory.copy@size={bytes}"));
                let result = one(name, bytes as f64 * 1e3 / second, axis("size", bytes));
                Found { bytes, like: like.into_iter().collect(), ..result }
            }
            Block::Mapping => one("mappings", second * 1e3, axis("size", bytes(MB)?)),
            Block::Load { random, stride } => {
                let name = if *random { "Random load latency" } else { "Memory load latency" };
                let at = axis("set", bytes(1024.0 * 1024.0)?).with("stride", Value::Number(*stride));
                Found { per: "load".into(), ..one(name, second, at) }
            }
            Block::Switch { set } => {
                let processes = first.parse().ok()?;
                let at = axis("set", *set).with("processes", Value::Number(processes));
                Found { per: "switch".into(), ..one("Context switch", second * 1e3, at) }
            }
            Block::Files => return None,
        }])
    }
}

/// The size that a block prints in units of so many bytes. lmbench takes powers of two and steps of an eighth between them: the
/// roundest that prints the same digits is it.
fn size(printed: &str, unit: f64) -> Option<u64> {
    const EIGHTHS: [f64; 9] = [8.0, 16.0, 12.0, 10.0, 14.0, 9.0, 11.0, 13.0, 15.0];
    let number: f64 = printed.parse().ok()?;
    let bytes = (number * unit).round();
    if !(1.0..1e15).contains(&bytes) {
        return None;
    }
    let digits = printed.split_once('.').map_or(0, |(_, digits)| digits.len() as i32);
    let open = unit * 0.5 * 0.1_f64.powi(digits);
    let eighth = bytes.log2().floor().exp2() / 8.0;
    let prints_the_same = |round: &f64| round.fract() == 0.0 && (round - number * unit).abs() <= open;
    let round = EIGHTHS.map(|eighths| eighths * eighth).into_iter().find(prints_the_same);
    Some(round.unwrap_or(bytes) as u64)
}

/// `0k 1234 56789 98765`: the size, how many, created per second, deleted per second.
fn files(words: &[&str]) -> Option<Vec<Found>> {
    let [size, _, created, deleted] = words else { return None };
    let size: u64 = size.strip_suffix('k')?.parse().ok()?;
    let one = |name: &str, rate: &str| {
        let rate: f64 = rate.parse().ok()?;
        let at = Point::default().with("size", Value::Number(size.checked_mul(1024)?));
        let repetitions = Repetitions::Processes(vec![1e9 / rate]);
        Some(Found { summary: name.into(), at, per: "file".into(), ..Found::new(dotted(name), repetitions) })
    };
    Some(vec![one("File create", created)?, one("File delete", deleted)?])
}

fn name_of(line: &str) -> &str {
    line.rsplit_once(':').map_or(line, |(name, _)| name).trim()
}

/// The name without what differs from one place to another, and the point that it states.
fn named(name: &str) -> (String, Point) {
    if let Some(rest) = name.strip_prefix("Select on ")
        && let Some((count, of)) = rest.split_once(' ')
        && let Ok(count) = count.parse()
    {
        let name = if of.starts_with("tcp") { "Select tcp" } else { "Select" };
        return (name.into(), Point::default().with("descriptors", Value::Number(count)));
    }
    // The file is that of one machine: `Pagefaults on /tmp/XXX`, `File /tmp/XXX write bandwidth`.
    let words = name.split_whitespace().filter(|word| !word.starts_with('/'));
    let name = words.collect::<Vec<_>>().join(" ");
    (name.strip_suffix(" on").unwrap_or(&name).into(), Point::default())
}

/// `Process fork+exit` as a part of an id: `process.fork.exit`.
fn dotted(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '.' };
    let dots: String = name.chars().map(plain).collect();
    dots.split('.').filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".")
}
