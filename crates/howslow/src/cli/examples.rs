//! Tests of every help text: it has examples, which the parser takes, names the exit statuses, and fits a terminal.

use clap::FromArgMatches;

use super::{Command, after_verb, command};

/// A verb, the words that name it, and its help at some width.
struct Help {
    words: Vec<String>,
    text: String,
}

/// The help of `howslow` and of every verb, as a terminal of this width shows it.
fn every_help(width: usize) -> Vec<Help> {
    fn collect(command: &clap::Command, above: &[String], width: usize, all: &mut Vec<Help>) {
        let words = [above, &[command.get_name().to_string()]].concat();
        let mut shown = command.clone().bin_name(words.join(" ")).term_width(width);
        all.push(Help { text: shown.render_long_help().to_string(), words: words.clone() });
        for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
            collect(verb, &words, width, all);
        }
    }
    let mut all = Vec::new();
    let mut whole = command();
    whole.build();
    collect(&whole, &[], width, &mut all);
    assert!(all.len() > 35, "only {} verbs", all.len());
    all
}

/// The commands below `Examples:`. A line that does not begin with a command continues the one before.
fn examples(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let Some((_, below)) = text.split_once("Examples:") else { return found };
    for line in below.lines().map(str::trim).skip_while(|line| line.is_empty()) {
        match found.last_mut() {
            _ if line.starts_with("Exit status") || line.is_empty() => break,
            _ if line.starts_with("howslow") => found.push(line.to_string()),
            Some(last) => *last += &format!(" {line}"),
            None => break,
        }
    }
    found
}

/// The calls of howslow in a line of a shell, without what the shell does: `&&`, `|`, `>`.
fn calls(line: &str) -> Vec<Vec<String>> {
    let words = shell_words::split(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    let parts = words.split(|word| ["&&", "|"].contains(&word.as_str()));
    let before = |part: &[String]| part.iter().take_while(|word| *word != ">").cloned().collect::<Vec<_>>();
    parts.map(before).filter(|part| part.first().is_some_and(|word| word == "howslow")).collect()
}

fn understood(call: &[String]) -> Result<Command, clap::Error> {
    let matches = command().try_get_matches_from(after_verb(call.iter().map(Into::into).collect()))?;
    Command::from_arg_matches(&matches)
}

#[test]
fn every_verb_has_examples_and_each_is_understood() {
    let mut wrong = Vec::new();
    for Help { words, text } in every_help(400) {
        let found = examples(&text);
        let mut own = false;
        for line in &found {
            for call in calls(line) {
                own |= call.starts_with(&words);
                wrong.extend(understood(&call).err().map(|error| format!("{line}: {error}")));
            }
        }
        if !own {
            wrong.push(format!("{words:?} has no example of its own among {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The page with the table of all exit statuses.
const GUIDE: &str = include_str!("../../../../docs/GUIDE.md");

#[test]
fn every_verb_names_its_exit_statuses_and_each_is_in_the_table_of_all() {
    let (_, statuses) = GUIDE.split_once("## Exit statuses").expect("the table of statuses");
    let known: Vec<&str> = statuses.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next()).collect();
    let mut wrong = Vec::new();
    for Help { words, text } in every_help(4000) {
        let Some((_, listed)) = text.split_once("Exit status: ") else {
            wrong.push(format!("{words:?} names no exit statuses"));
            continue;
        };
        let listed = listed.split("\n\n").next().unwrap_or(listed).lines().next().unwrap_or(listed);
        let parts = listed.split("; ").map(|part| part.trim_start_matches("without one: "));
        let numbers = parts.filter_map(|part| part.split([' ', ',']).next());
        let numbers: Vec<&str> = numbers.filter(|word| word.parse::<u32>().is_ok()).collect();
        for number in ["1", "2"] {
            if !numbers.contains(&number) && !listed.contains("that of the command") {
                wrong.push(format!("{words:?} does not say what {number} means: {listed}"));
            }
        }
        wrong.extend(
            numbers.iter().filter(|number| !known.contains(number)).map(|number| format!("{words:?}: {number}")),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The commands in the code blocks of a page, each with the number of its block: what a shell would run, or what follows `$ `.
fn commands(page: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (block, inside) in page.split("```").enumerate().filter(|(place, _)| place % 2 == 1) {
        let is_shell = inside.starts_with("sh\n");
        for line in inside.lines().map(str::trim) {
            let line = line.strip_prefix("$ ").or(is_shell.then_some(line)).map(|line| line.trim_start_matches('$'));
            found.extend(line.filter(|line| line.starts_with("howslow ")).map(|line| (block, line.into())));
        }
    }
    found
}

#[test]
fn the_commands_of_the_docs_are_understood() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let pages = std::fs::read_dir(root.join("docs")).expect("docs").flatten().map(|entry| entry.path());
    let pages = pages.filter(|path| path.extension().is_some_and(|end| end == "md")).chain([root.join("README.md")]);
    let (mut all, mut wrong) = (0, Vec::new());
    for page in pages {
        for (block, line) in commands(&std::fs::read_to_string(&page).expect("a page")) {
            for call in calls(&line.replace("; howslow", " && howslow")) {
                all += 1;
                let error = understood(&call).err();
                wrong.extend(error.map(|error| format!("{}, block {block}: {line}: {error}", page.display())));
            }
        }
    }
    assert!(all > 80, "only {all} commands");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_help_is_wider_than_the_terminal() {
    let mut wide = Vec::new();
    for width in [60, 80, 120] {
        for Help { words, text } in every_help(width) {
            let lines = text.lines().filter(|line| textwrap::core::display_width(line) > width);
            wide.extend(lines.map(|line| format!("{words:?} at {width}: {line}")));
        }
    }
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}
