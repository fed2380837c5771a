//! Real commands on two systems, the machine and the same machine under an emulator. The work of each is counted on the first
//! system, priced by howslow's runs on both, and compared with the processor time that the kernel's scheduler reports on both.

mod counts;
#[path = "../../../crates/howslow/tests/it/systems/program.rs"]
mod program;
mod spent;
mod subject;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use record::{Cost, Figures, Point, Run};
use serde_json::Value;
use tempfile::TempDir;

use counts::{Counts, Line, counted};
use spent::{Spent, spent};
use subject::{IDLE, Subject, subjects};

const EMULATOR: &str = "qemu-x86_64";
const BUSYBOX: &str = "busybox";
/// Starting a program that does nothing, as measured on either system.
const NOTHING: &str = "command: nothing";
/// What programs that do nothing cost beyond all that is priced, per line of code that they execute.
const CODE: &str = "command: code";

/// The size of the experiment.
pub(crate) struct Extent {
    /// The commands beside those that do nothing, out of `sort`, `gzip`, `find`, `tar` of busybox, `git` and `lighttpd`.
    pub names: Vec<&'static str>,
    /// Lines of the file. There are a fifth as many files in the tree, and a tenth as many requests to the server.
    pub size: usize,
    /// How often each command runs.
    pub times: usize,
    /// The options of `howslow run` on each system.
    pub options: Vec<String>,
}

/// One command on both systems, native first.
pub(crate) struct CommandOnBoth {
    pub name: &'static str,
    pub sums: [f64; 2],
    /// The interval that the prediction for the second states, in ns; without a bound where it states none.
    pub interval: [f64; 2],
    pub measured: [Spent; 2],
    /// The result of `howslow compare --mix`.
    pub compared: Value,
    pub mix: String,
    /// The share of the sums that is code executed for the first time.
    pub new_code: [f64; 2],
    /// Counted, but without a price on either system.
    pub unpriced: Vec<String>,
    /// Operations whose cost on the second system has no interval: nor has the prediction.
    pub untold: Vec<String>,
}

/// The whole experiment.
pub(crate) struct Laboratory {
    pub commands: Vec<CommandOnBoth>,
    /// The result of `howslow compare` for the two runs.
    pub compared: Value,
    /// The cost of a line of code that is executed for the first time, in ns, on both systems.
    pub code: [f64; 2],
}

/// What is missing, and what installs it.
pub(crate) fn missing() -> Option<String> {
    let lacks = |program: &&(&str, &str)| Command::new(program.0).arg("--help").output().is_err();
    let tools = [(EMULATOR, "qemu-user"), (BUSYBOX, "busybox-static"), ("valgrind", "valgrind")];
    if std::env::consts::ARCH != "x86_64" {
        return Some("this is no x86-64 machine".into());
    }
    if let Some((tool, package)) = tools.iter().find(lacks) {
        return Some(format!("{tool} is not installed; apt-get install {package}"));
    }
    program::program("x86_64").is_none().then(|| {
        let target = program::target("x86_64");
        format!("there is no Rust library for {target}; rustup target add {target}")
    })
}

/// Measures everything.
pub(crate) fn laboratory(extent: &Extent) -> anyhow::Result<Laboratory> {
    let folder = tempfile::tempdir()?;
    let program = program::program("x86_64").context("no static program")?;
    let subjects = subjects(folder.path(), extent)?;
    let all = spent(&subjects, &[&[], &[EMULATOR]], folder.path(), extent.times)?;
    let (native_spent, emulated_spent) = all.split_at(subjects.len());
    let counted = subjects.iter().map(|subject| counted(subject, folder.path()));
    let mut counts = counted.collect::<anyhow::Result<Vec<_>>>()?;
    for (counts, spent) in counts.iter_mut().zip(native_spent) {
        // The only kind of fault that can be counted one by one under the emulator. Those of the start belong to the start.
        counts.add("page.fault.file", "page faults", (spent.faults - native_spent[0].faults).max(0.0));
    }
    let systems = System::both(program, &folder, &counts, &extent.options)?;
    let wholes = [native_spent, emulated_spent];
    conclude(systems, &subjects, counts, wholes)
}

/// A system's run, which grows, and the path of its document.
struct System {
    run: Run,
    path: PathBuf,
    program: PathBuf,
    data: PathBuf,
}

impl System {
    fn both(program: &Path, folder: &TempDir, counts: &[Counts], options: &[String]) -> anyhow::Result<[System; 2]> {
        let mut patterns: Vec<&str> = Vec::new();
        for line in counts.iter().flat_map(|counts| &counts.lines) {
            if !patterns.contains(&line.name.as_str()) {
                patterns.push(&line.name);
            }
        }
        let measure = |name: &str, emulator: Option<&str>| -> anyhow::Result<System> {
            let mut command = Command::new(emulator.map_or(program.as_os_str(), |emulator| emulator.as_ref()));
            command.args(emulator.map(|_| program)).arg("run").args(&patterns).args(options).arg("--json");
            let data = folder.path().join("data");
            let output = command.env("HOWSLOW_DATA", &data).stdin(Stdio::null()).output()?;
            let errors = String::from_utf8_lossy(&output.stderr);
            ensure!(matches!(output.status.code(), Some(0 | 3)), "howslow failed on {name}: {errors}");
            let mut run = record::run_from_bytes(&output.stdout)?;
            run.id = name.into();
            Ok(System { run, path: folder.path().join(format!("{name}.json")), program: program.into(), data })
        };
        Ok([measure("native", None)?, measure("emulated", Some(EMULATOR))?])
    }

    /// Adds what was timed separately to the run.
    fn add(&mut self, name: &str, ns: f64) -> anyhow::Result<()> {
        let mut cost: Cost = self.run.costs.first().context("an empty run")?.clone();
        (cost.operation, cost.group) = (name.into(), "commands".into());
        cost.at = Point::default();
        (cost.net_ns, cost.gross_ns) = (Figures::given(ns, ns, ns), Figures::given(ns, ns, ns));
        (cost.terms, cost.explained_by, cost.doubts) = (Vec::new(), Vec::new(), Vec::new());
        self.run.costs.push(cost);
        fs::write(&self.path, serde_json::to_vec(&self.run)?)?;
        Ok(())
    }

    fn has(&self, line: &Line) -> bool {
        self.run.costs.iter().any(|cost| cost.name() == line.name || cost.operation == line.name)
    }
}

/// One mix on both systems.
fn measure_command(
    systems: &[System; 2],
    name: &'static str,
    mix: &str,
    measured: [Spent; 2],
) -> anyhow::Result<CommandOnBoth> {
    let file = systems[0].path.with_file_name(format!("{name}.toml"));
    fs::write(&file, mix)?;
    let whole = |place: usize| format!("--measured={}={:.0}ns", systems[place].path.display(), measured[place].ns);
    let file = file.display().to_string();
    let wholes = [whole(0), whole(1)];
    let predicted = howslow(systems, &["predict", &file, "--on"], &wholes)?;
    let compared = howslow(systems, &["compare", "--mix", &file], &wholes)?;
    let sum = |place: usize| predicted["predictions"][place]["total_ns"].as_f64().context("a prediction without a sum");
    // Had it been measured on the first alone, the interval on the second would hold what the mix left out there.
    let left_out = format!("left_out = {}\n{mix}", (measured[0].ns / sum(0)? - 1.0).abs());
    let counted = systems[0].path.with_file_name(format!("{name}-counted.toml"));
    fs::write(&counted, left_out)?;
    let unmeasured = howslow(systems, &["predict", &counted.display().to_string(), "--on"], &[])?;
    let there = &unmeasured["predictions"][1];
    let bound = |end: &str| there[end].as_f64();
    let rows = there["rows"].as_array().into_iter().flatten().filter(|row| row["each"]["high_ns"].is_null());
    Ok(CommandOnBoth {
        name,
        sums: [sum(0)?, sum(1)?],
        interval: [bound("low_ns").unwrap_or(0.0), bound("high_ns").unwrap_or(f64::INFINITY)],
        measured,
        compared,
        mix: mix.into(),
        new_code: [0.0; 2],
        unpriced: Vec::new(),
        untold: rows.filter_map(|row| Some(row["operation"].as_str()?.to_string())).collect(),
    })
}

/// Its JSON results for both systems.
fn howslow(systems: &[System; 2], arguments: &[&str], more: &[String]) -> anyhow::Result<Value> {
    let [native, emulated] = systems;
    let mut command = Command::new(&native.program);
    command.args(arguments).args([&native.path, &emulated.path]).args(more).arg("--json");
    let output = command.env("HOWSLOW_DATA", &native.data).stdin(Stdio::null()).output()?;
    ensure!(output.status.success(), "howslow {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn conclude(
    mut systems: [System; 2],
    subjects: &[Subject],
    counts: Vec<Counts>,
    wholes: [&[Spent]; 2],
) -> anyhow::Result<Laboratory> {
    for (system, wholes) in systems.iter_mut().zip(wholes) {
        system.add(NOTHING, wholes[0].ns)?;
    }
    let mut laboratory = Laboratory { commands: Vec::new(), compared: Value::Null, code: [0.0; 2] };
    laboratory.compared = howslow(&systems, &["compare"], &[])?;
    let (mut rests, mut lines) = ([0.0; 2], 0.0);
    for (place, (&Subject { name, .. }, mut counts)) in subjects.iter().zip(counts).enumerate().skip(1) {
        let (priced, lacking): (Vec<Line>, Vec<Line>) =
            counts.lines.drain(..).partition(|line| systems.iter().all(|system| system.has(line)));
        let of_code = Line { name: CODE.into(), family: "new code", times: counts.code };
        let mix = mix(name, &priced, (place > IDLE.len()).then_some(&of_code));
        let mut command = measure_command(&systems, name, &mix, [wholes[0][place], wholes[1][place]])?;
        let lacking = lacking.into_iter().map(|line| (line.name, line.times));
        command.unpriced = lacking.chain(counts.unpriced).map(|(name, times)| format!("{times} x {name}")).collect();
        if place > IDLE.len() {
            command.new_code = laboratory.code.map(|each| each * counts.code);
        } else {
            lines += counts.code;
            for (side, system) in systems.iter_mut().enumerate() {
                rests[side] += (command.measured[side].ns - command.sums[side]).max(0.0);
                laboratory.code[side] = rests[side] / lines;
                if place == IDLE.len() {
                    system.add(CODE, laboratory.code[side])?;
                }
            }
        }
        laboratory.commands.push(command);
    }
    Ok(laboratory)
}

/// The mix in the form of its file.
fn mix(name: &str, lines: &[Line], code: Option<&Line>) -> String {
    let start = Line { name: NOTHING.into(), family: "start", times: 1.0 };
    let mut text = format!("name = \"{name}\"\nunit = \"command\"\nsource = \"howslow bill, valgrind, /proc\"\n");
    for Line { name, family, times } in [&start].into_iter().chain(lines).chain(code) {
        text += &format!("\n[[operation]]\noperation = \"{name}\"\nfamily = \"{family}\"\ntimes = {times:?}\n");
    }
    text
}
