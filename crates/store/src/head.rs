//! The head of a run for a listing, read from the beginning of its file. The samples behind it stay unread.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use record::{CpuQuiet, MOST_RUN_BYTES, Machine, Run, printable};
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::label::check_text;

/// How much of a file is read for its head: machine and settings are a few kilobytes. The second number is for the rare larger one,
/// the third for a file of another writer, in which the costs are before them.
const READ_BYTES: [u64; 3] = [64 << 10, 1 << 20, MOST_RUN_BYTES];
/// What precedes the costs: id, start, machine and settings.
const PARTS: usize = 4;

/// The head of a run for a listing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Head {
    /// Its file, or the store that it is in.
    pub path: PathBuf,
    /// Its number in a database.
    pub(crate) key: i64,
    /// The number of its machine in a database.
    pub(crate) machine: i64,
    pub id: String,
    /// When it started, RFC 3339, UTC.
    pub started: String,
    /// What runs are ordered by: when it started, or when it was kept if its machine's clock was ahead.
    pub ordered: String,
    /// The version of howslow that measured.
    pub howslow: String,
    /// The fingerprint of the program that measured.
    pub build: String,
    pub label: Option<String>,
    /// The machine's host name; empty in older runs.
    pub host: String,
    /// What machines of this class have in common.
    pub class: String,
    /// The processor's name, as it reports it.
    pub model: String,
    pub kernel: String,
    /// The patterns requested; empty for the headline operations.
    pub patterns: Vec<String>,
    pub full: bool,
    /// The core cycle that prevailed in the run, in ns; 0 if unknown.
    pub cycle_ns: f64,
    /// The share of its batches in which the core was undisturbed, if it is known.
    pub undisturbed: Option<f64>,
}

/// What a store reads of the settings of a run.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct SettingsPart {
    pub label: Option<String>,
    pub patterns: Vec<String>,
    pub full: bool,
    pub beside: Vec<IgnoredAny>,
}

impl SettingsPart {
    /// The same without what may not be shown.
    pub fn shown(self) -> SettingsPart {
        SettingsPart {
            label: self.label.filter(|label| check_text(label).is_ok()),
            patterns: self.patterns.iter().map(|pattern| printable(pattern)).collect(),
            ..self
        }
    }
}

impl Head {
    /// What tells a run apart: its id, its start and its host. Nodes that begin together can draw the same id.
    pub fn name(&self) -> [&str; 3] {
        [&self.id, &self.started, &self.host]
    }

    /// True if it is the head of this run, or of the first of several in one, which began with the earliest of them.
    pub fn is_of(&self, run: &Run) -> bool {
        let host = run.machine.host.as_deref().unwrap_or_default();
        self.id == run.id && self.host == host && self.started >= run.started
    }

    /// Reads the head of the run in a file. Fails if the file cannot be read or does not begin like a run.
    pub(crate) fn read(path: &Path) -> Result<Head, serde_json::Error> {
        let mut file = record::open_input(path).map_err(serde_json::Error::io)?;
        let mut head = Head { path: path.into(), ..Head::default() };
        let mut text = Vec::new();
        let mut done = Ok(());
        for most in READ_BYTES {
            file.by_ref().take(most - text.len() as u64).read_to_end(&mut text).map_err(serde_json::Error::io)?;
            // The reader stops with an error at the costs if the head is complete by then.
            done = serde_json::Deserializer::from_slice(&text).deserialize_map(HeadVisitor(&mut head));
            if !done.as_ref().is_err_and(serde_json::Error::is_eof) {
                break;
            }
        }
        if head.id.is_empty() || head.started.is_empty() {
            return Err(done.err().unwrap_or_else(|| serde::de::Error::custom("no run")));
        }
        Ok(head)
    }
}

/// What a store reads of the noise of a run.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct NoisePart {
    pub cycle_ns: f64,
    pub cpus: Vec<CpuQuiet>,
}

struct HeadVisitor<'a>(&'a mut Head);

impl<'de> Visitor<'de> for HeadVisitor<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a run")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let head = self.0;
        let mut parts = 0;
        while let Some(key) = map.next_key::<String>()? {
            parts += usize::from(["id", "started", "machine", "settings"].contains(&key.as_str()));
            match key.as_str() {
                "id" => head.id = printable(&map.next_value::<String>()?),
                "started" => {
                    head.started = printable(&map.next_value::<String>()?);
                    head.ordered = head.started.clone();
                }
                "build" => head.build = printable(&map.next_value::<String>()?),
                "howslow" => head.howslow = printable(&map.next_value::<String>()?),
                "machine" => {
                    let machine: Machine = map.next_value()?;
                    head.host = printable(machine.host.as_deref().unwrap_or_default());
                    head.class = printable(&machine.class());
                    head.model = printable(&machine.cpu.model);
                    head.kernel = printable(&machine.kernel.release);
                }
                "noise" => {
                    let noise: NoisePart = map.next_value()?;
                    (head.cycle_ns, head.undisturbed) = (noise.cycle_ns, record::undisturbed(&noise.cpus));
                }
                "settings" => {
                    let settings = map.next_value::<SettingsPart>()?.shown();
                    (head.label, head.patterns, head.full) = (settings.label, settings.patterns, settings.full);
                }
                // howslow writes the costs last.
                "costs" if parts == PARTS => return Err(serde::de::Error::custom("the head ends here")),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}
