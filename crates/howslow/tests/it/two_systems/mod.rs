//! Real commands on two systems, the machine and the same machine under an emulator. The work of each is counted on the first
//! system, priced by howslow's runs on both, and compared with the processor time that the kernel's scheduler reports on both.

mod counts;
pub(crate) mod program;
mod spent;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use record::{Cost, Nanoseconds, Point, Run};
use serde_json::Value;
use tempfile::TempDir;

use counts::{Counts, Line, counted};
use spent::{Spent, spent};

const EMULATOR: &str = "qemu-x86_64";
const BUSYBOX: &str = "busybox";
/// Starting a program that does nothing, as measured on either system.
const NOTHING: &str = "command: nothing";
/// The cost of `true` beyond all that is priced, per line of code that it executes.
const CODE: &str = "command: code";

/// The size of the experiment.
pub(crate) struct Extent {
    /// The commands, out of `true`, `sort`, `gzip`, `find`, `tar` of busybox, and `git`.
    pub names: Vec<&'static str>,
    /// Lines of the file and files of the tree.
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
    let words = commands(&folder, extent)?;
    let native: Vec<Vec<String>> = words.iter().map(|(_, words)| words.clone()).collect();
    let emulated: Vec<Vec<String>> =
        native.iter().map(|words| [&[EMULATOR.to_string()], &words[..]].concat()).collect();
    let all = spent(&[native.clone(), emulated].concat(), folder.path(), extent.times)?;
    let (native_spent, emulated_spent) = all.split_at(native.len());
    let mut counts = native.iter().map(|words| counted(words, folder.path())).collect::<anyhow::Result<Vec<_>>>()?;
    for (counts, spent) in counts.iter_mut().zip(native_spent) {
        // The only kind of fault that can be counted one by one under the emulator. Those of the start belong to the start.
        counts.add("page.fault.file", "page faults", (spent.faults - native_spent[0].faults).max(0.0));
    }
    let systems = System::both(program, &folder, &counts, &extent.options)?;
    let wholes = [native_spent, emulated_spent];
    conclude(systems, &words, counts, wholes)
}

/// The names and words of the commands. The first does nothing; the second is `true`, which shows the cost of new code.
fn commands(folder: &TempDir, extent: &Extent) -> anyhow::Result<Vec<(&'static str, Vec<String>)>> {
    let at = |name: &str| folder.path().join(name);
    let nothing = at("nothing");
    testing::executable(&nothing, &operations::program_that_does_nothing()[..]);
    let lines: String = (1..=extent.size).map(|line| format!("{}\n", line * 7919 % 20_011)).collect();
    fs::write(at("lines"), lines)?;
    for place in 0..extent.size / 5 {
        let folder = at("tree").join(format!("folder{}", place / 40));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("file{place}")), "")?;
    }
    let busybox = busybox()?;
    let mut all = vec![("nothing", vec![nothing.display().to_string()])];
    for name in &extent.names {
        if *name == "git" {
            all.push((name, git(&at("tree"))?));
            continue;
        }
        let mut words = vec![busybox.clone(), (*name).to_string()];
        words.extend(match *name {
            "sort" => vec!["lines".into()],
            "gzip" => vec!["-c".into(), "lines".into()],
            "find" => vec!["tree".into()],
            "tar" => vec!["-c".into(), "tree".into()],
            _ => vec![],
        });
        all.push((name, words));
    }
    ensure!(all.get(1).is_some_and(|(name, _)| *name == "true"), "the first command is `true`");
    Ok(all)
}

/// `git status` of a tree that is under its control.
fn git(tree: &Path) -> anyhow::Result<Vec<String>> {
    let program = ["/usr/bin/git", "/bin/git"].into_iter().find(|path| Path::new(path).exists()).context("no git")?;
    let words = |words: &[&str]| {
        let path = tree.display().to_string();
        let all = [program, "-C", &path, "-c", "user.name=x", "-c", "user.email=x@x", "-c", "gc.auto=0"];
        all.iter().chain(words).map(|word| (*word).to_string()).collect::<Vec<String>>()
    };
    for wanted in [&["init", "-q"][..], &["add", "."], &["commit", "-qm", "x"]] {
        let command = words(wanted);
        let output = Command::new(&command[0]).args(&command[1..]).output()?;
        ensure!(output.status.success(), "git {wanted:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    // Without a thread for each CPU, so that its calls are those of one task.
    Ok(words(&["-c", "core.preloadIndex=false", "status", "--short"]))
}

/// Its path, because the emulator does not search PATH.
fn busybox() -> anyhow::Result<String> {
    let path = std::env::var_os("PATH").context("no PATH")?;
    let found = std::env::split_paths(&path).map(|folder| folder.join(BUSYBOX)).find(|file| file.exists());
    Ok(found.context("busybox is not in PATH")?.display().to_string())
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
        for figures in [&mut cost.net_ns, &mut cost.gross_ns] {
            for figure in
                [&mut figures.best, &mut figures.quiet, &mut figures.typical, &mut figures.low, &mut figures.high]
            {
                *figure = Nanoseconds(ns);
            }
        }
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
    let bound = |end: &str| unmeasured["predictions"][1][end].as_f64();
    Ok(CommandOnBoth {
        name,
        sums: [sum(0)?, sum(1)?],
        interval: [bound("low_ns").unwrap_or(0.0), bound("high_ns").unwrap_or(f64::INFINITY)],
        measured,
        compared,
        mix: mix.into(),
        new_code: [0.0; 2],
        unpriced: Vec::new(),
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
    words: &[(&'static str, Vec<String>)],
    counts: Vec<Counts>,
    wholes: [&[Spent]; 2],
) -> anyhow::Result<Laboratory> {
    for (system, wholes) in systems.iter_mut().zip(wholes) {
        system.add(NOTHING, wholes[0].ns)?;
    }
    let mut laboratory = Laboratory { commands: Vec::new(), compared: Value::Null, code: [0.0; 2] };
    laboratory.compared = howslow(&systems, &["compare"], &[])?;
    for (place, ((name, _), mut counts)) in words.iter().zip(counts).enumerate().skip(1) {
        let (priced, lacking): (Vec<Line>, Vec<Line>) =
            counts.lines.drain(..).partition(|line| systems.iter().all(|system| system.has(line)));
        let of_code = Line { name: CODE.into(), family: "new code", times: counts.code };
        let mix = mix(name, &priced, (place > 1).then_some(&of_code));
        let mut command = measure_command(&systems, name, &mix, [wholes[0][place], wholes[1][place]])?;
        let lacking = lacking.into_iter().map(|line| (line.name, line.times));
        command.unpriced = lacking.chain(counts.unpriced).map(|(name, times)| format!("{times} x {name}")).collect();
        if place > 1 {
            command.new_code = laboratory.code.map(|each| each * counts.code);
        } else {
            for (side, system) in systems.iter_mut().enumerate() {
                let rest = (command.measured[side].ns - command.sums[side]).max(0.0);
                laboratory.code[side] = rest / counts.code;
                system.add(CODE, laboratory.code[side])?;
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
