//! What `howslow time` is to time: the routines and commands of the command line, once for each combination of parameters.

use std::os::unix::fs::FileTypeExt;

use catalogue::command::Around;
use record::units::counted;
use record::{COMMAND, Point, Value, printable};

use super::args::TimeArgs;
use super::parameters::Parameters;
use crate::output::{Misuse, print_note, shown};

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `FILE:ROUTINE`.
    Routine(String),
    /// The words of a command line.
    Command(Vec<String>),
}

/// One routine or command, with the values of its parameters.
pub(super) struct Work {
    /// The id of its cost.
    pub name: String,
    /// The values of its parameters.
    pub point: Point,
    pub kind: Kind,
    /// The place of its kind in the command line: works of one kind differ in their parameters.
    written: usize,
    /// What happens around every run.
    pub around: Around,
    pub setup: Option<String>,
    pub cleanup: Option<String>,
}

/// All of them, in the order given.
pub(super) struct Works {
    pub all: Vec<Work>,
    /// The place of the one that the others are compared with, if one was named.
    pub reference: Option<usize>,
}

impl Works {
    /// Those of the command line.
    /// Refuses a command line or a parameter that cannot be read, a parameter that nothing uses, and a work that is given twice.
    pub(super) fn of(args: &TimeArgs) -> Result<Works, Misuse> {
        let in_two_words = args.list.chunks(2).map(|words| words.join("="));
        let parameters = Parameters::read(&args.parameter.iter().cloned().chain(in_two_words).collect::<Vec<_>>())?;
        let mut all = Vec::new();
        let kinds = kinds(args)?;
        let commands = kinds.iter().filter(|kind| matches!(kind, Kind::Command(_))).count();
        for (option, given) in [("--prepare", &args.prepare), ("--conclude", &args.conclude)] {
            let (times, many) = (given.len(), counted(commands as u64, "command"));
            if times > 1 && times != commands {
                let why = format!("{option} is given {times} times for {many}; give it once, or once for each");
                return Err(Misuse(why));
            }
        }
        let mut number = 0;
        for (written, kind) in kinds.iter().enumerate() {
            all.extend(combined((written, kind), &parameters, (args, number)));
            number += usize::from(matches!(kind, Kind::Command(_)));
        }
        parameters.are_used(&texts(args))?;
        let cold = args.cold.iter().map(|path| ("--cold", path));
        for (option, path) in cold.chain(args.input.iter().map(|path| ("--input", path))) {
            // The input may be a device, such as /dev/zero.
            let is_device = path.metadata().is_ok_and(|metadata| metadata.file_type().is_char_device());
            let opened = if is_device && option == "--input" { Ok(()) } else { record::open_input(path).map(drop) };
            opened.map_err(|error| Misuse(format!("{option} {}: {error}", shown(path))))?;
        }
        let reference = args.reference.as_ref().map(|text| reference(text, &kinds, &mut all, (&parameters, args)));
        let reference = reference.transpose()?;
        if all.is_empty() {
            return Err(Misuse("say what to time: FILE:ROUTINE, -c COMMAND or -- COMMAND".into()));
        }
        let is_twice = |place: usize, one: &Work| {
            all[..place].iter().any(|other| other.name == one.name && other.point == one.point)
        };
        if let Some((_, twice)) = all.iter().enumerate().find(|(place, one)| is_twice(*place, one)) {
            let remedy = "give it once, or with another spelling to compare it with itself";
            return Err(Misuse(format!("'{}' is given twice; {remedy}", twice.name)));
        }
        all.iter().for_each(hint);
        Ok(Works { all, reference })
    }

    /// The ids of their costs.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.all.iter().map(|work| work.name.clone()).collect();
        names.dedup();
        names
    }
}

/// The routines, then the commands, with the names of parameters in them.
fn kinds(args: &TimeArgs) -> Result<Vec<Kind>, Misuse> {
    let mut kinds: Vec<Kind> = args.routines.iter().cloned().map(Kind::Routine).collect();
    for text in &args.commands {
        kinds.push(Kind::Command(words_of("-c", text, args)?));
    }
    if !args.words.is_empty() {
        kinds.push(Kind::Command(args.words.clone()));
    }
    Ok(kinds)
}

/// The words of a text that is a command, or those of the shell that it is given to.
fn words_of(option: &str, text: &str, args: &TimeArgs) -> Result<Vec<String>, Misuse> {
    match &args.shell {
        Some(shell) => Ok([split("--shell", shell)?, vec!["-c".into(), text.into()]].concat()),
        None => split(option, text),
    }
}

fn split(option: &str, text: &str) -> Result<Vec<String>, Misuse> {
    shell_words::split(text).map_err(|error| Misuse(format!("{option} '{}': {error}", printable(text))))
}

/// Every text in which a parameter may stand.
fn texts(args: &TimeArgs) -> Vec<&str> {
    let steps = args.setup.iter().chain(&args.prepare).chain(&args.conclude).chain(&args.cleanup);
    args.routines.iter().chain(&args.commands).chain(&args.words).chain(steps).map(String::as_str).collect()
}

/// `--setup`, `--prepare`, `--conclude` and `--cleanup` of the command with this number. What was given once is for every command.
fn steps(args: &TimeArgs, command: usize) -> [Option<&str>; 4] {
    fn own(all: &[String], command: usize) -> Option<&str> {
        all.get(if all.len() > 1 { command } else { 0 }).map(String::as_str)
    }
    let (prepare, conclude) = (own(&args.prepare, command), own(&args.conclude, command));
    [args.setup.as_deref(), prepare, conclude, args.cleanup.as_deref()]
}

/// One work for each combination of the parameters that a command, or what happens around it, contains. `number` is the command's.
fn combined((written, kind): (usize, &Kind), parameters: &Parameters, (args, number): (&TimeArgs, usize)) -> Vec<Work> {
    let steps = if let Kind::Command(_) = kind { steps(args, number) } else { [None; 4] };
    let words: Vec<&str> = match kind {
        Kind::Routine(name) => vec![name],
        Kind::Command(words) => words.iter().map(String::as_str).collect(),
    };
    let contained: Vec<&str> = words.iter().copied().chain(steps.into_iter().flatten()).collect();
    let combinations = parameters.combinations(&contained);
    let works = combinations.into_iter().map(|chosen| {
        let filled = |text: &str| chosen.fill(text);
        let kind = match kind {
            Kind::Routine(name) => Kind::Routine(filled(name)),
            Kind::Command(words) => Kind::Command(words.iter().map(|word| filled(word)).collect()),
        };
        let [setup, prepare, conclude, cleanup] = steps.map(|step| step.map(filled));
        let point = chosen.values().fold(Point::default(), |point, (name, value)| point.with(name, value_of(value)));
        let around = Around { prepare, conclude, cold: args.cold.clone(), input: args.input.clone() };
        Work { name: name_of(&kind), point, kind, written, around, setup, cleanup }
    });
    works.collect()
}

/// A number as a number, anything else as a word.
fn value_of(text: &str) -> Value {
    let number = text.parse::<u64>().ok().filter(|number| number.to_string() == text);
    number.map_or_else(|| Value::Word(printable(text)), Value::Number)
}

fn name_of(kind: &Kind) -> String {
    match kind {
        Kind::Routine(name) => printable(name),
        Kind::Command(words) => format!("{COMMAND}{}", printable(&shell_words::join(words))),
    }
}

/// The place of the work that `--reference` names, as it was written or with the values of parameters in it. If it is none of
/// them, it is a command that is timed first.
fn reference(
    text: &str,
    kinds: &[Kind],
    all: &mut Vec<Work>,
    (parameters, args): (&Parameters, &TimeArgs),
) -> Result<usize, Misuse> {
    let words = words_of("--reference", text, args)?;
    let plain = shell_words::split(text).ok();
    let is_it = |kind: &Kind| match kind {
        Kind::Routine(name) => name == text,
        // What stands after -- is given to no shell.
        Kind::Command(own) => *own == words || Some(own) == plain.as_ref(),
    };
    let several = || Misuse(format!("--reference '{}' names several; give one with the values in it", printable(text)));
    if let Some(written) = kinds.iter().position(is_it) {
        let mut places = (0..all.len()).filter(|place| all[*place].written == written);
        return places.next().filter(|_| places.next().is_none()).ok_or_else(several);
    }
    if let Some(place) = all.iter().position(|work| is_it(&work.kind)) {
        return Ok(place);
    }
    // Of what was given once for each command, none is for the reference.
    let added = combined((kinds.len(), &Kind::Command(words)), parameters, (args, usize::MAX));
    if added.len() > 1 {
        return Err(several());
    }
    all.splice(0..0, added);
    Ok(0)
}

/// Says that there is no shell where words look as if there were one.
fn hint(work: &Work) {
    const OF_A_SHELL: [&str; 10] = ["|", "||", "&&", ";", "&", ">", ">>", "<", "2>", "2>&1"];
    let Kind::Command(words) = &work.kind else { return };
    let Some(word) = words.iter().skip(1).find(|word| OF_A_SHELL.contains(&word.as_str())) else { return };
    let is_plain = |word: &String| OF_A_SHELL.contains(&word.as_str());
    let plain = words.iter().map(|word| if is_plain(word) { word.into() } else { shell_words::quote(word) });
    let shell = printable(&shell_words::join(["sh", "-c", &plain.collect::<Vec<_>>().join(" ")]));
    let first = printable(words.first().map_or("", String::as_str));
    print_note(&format!("hint: there is no shell, so {first} gets '{word}' as an argument; with a shell: -- {shell}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn works(words: &[&str]) -> Result<Works, Misuse> {
        Works::of(&crate::cli::parsed(words).expect("arguments"))
    }

    #[test]
    fn a_reference_is_one_of_the_commands_with_its_shell_and_its_parameters() {
        let place = |words: &[&str]| works(words).map(|works| (works.all.len(), works.reference)).expect("works");
        assert_eq!(place(&["--shell", "-c", "c", "-c", "a | b", "--reference", "a | b"]), (2, Some(1)));
        assert_eq!(place(&["--shell", "-c", "c", "--reference", "a b", "--", "a", "b"]), (2, Some(1)));
        assert_eq!(place(&["--parameter", "n=1,2", "-c", "a {n}", "--reference", "a 2"]), (2, Some(1)));
        assert_eq!(place(&["--parameter", "n=1", "-c", "b", "-c", "a {n}", "--reference", "a {n}"]), (2, Some(1)));
        assert_eq!(place(&["--parameter", "n=1", "-c", "a {n}", "--reference", "b {n}"]), (2, Some(0)));
        let several = works(&["--parameter", "n=1,2", "-c", "a {n}", "--reference", "a {n}"]);
        assert!(several.is_err_and(|why| why.0.contains("names several")));
    }
}
