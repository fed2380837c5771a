//! The old build of `--against`: a program, or what cargo builds of a folder or a git revision. Of a revision a work tree is made
//! and removed again, also if howslow is killed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use measure::Scratch;
use record::printable;
use system::guard::{Cleaner, apart};

use crate::output::{self, Misuse};
use crate::scratch;

/// A build may take long, but not for ever.
const LONGEST: Duration = Duration::from_secs(4 * 3600);

/// The folder of the builds, in cargo's own target folder, so that the next comparison builds less.
const BUILDS: &str = "howslow-against";

/// Links the sections of functions in an order of its own for each number. Only lld has it.
const SHUFFLED: &str = "-Clink-arg=-Wl,--shuffle-sections=.text.*=";

pub(super) struct OldBuild {
    pub program: PathBuf,
    /// `None` if it was given as a program.
    sources: Option<Sources>,
}

/// What cargo builds both of.
struct Sources {
    /// The folder of the package in both.
    old: PathBuf,
    new: PathBuf,
    /// The name of the bench target, with _ for every hyphen, as cargo names the file.
    bench: String,
    /// Cargo's target folder of the new one.
    target: PathBuf,
    options: Vec<String>,
    /// Removes the work tree of a revision.
    _cleaner: Option<Cleaner>,
    /// Where the work tree and further links are; removed after the work tree.
    scratch: Scratch,
}

/// Both builds in other orders of functions.
pub(super) struct Linked {
    pub old: Vec<PathBuf>,
    pub new: Vec<PathBuf>,
}

impl OldBuild {
    /// Finds or builds it. Fails if there is nothing of this name, or if it cannot be built.
    pub fn of(text: &str, new: &Path, options: &[String]) -> anyhow::Result<OldBuild> {
        let path = Path::new(text);
        if path.is_file() {
            let program = std::path::absolute(path)?;
            return Ok(OldBuild { program, sources: None });
        }
        let (bench, target) = target_of(new)?;
        let here = std::env::current_dir()?;
        let scratch = Scratch::make(&scratch::folder()?)?;
        let (old, cleaner) = if path.is_dir() {
            (fs::canonicalize(path)?, None)
        } else {
            let (folder, cleaner) = work_tree(text, &here, scratch.path())?;
            (folder, Some(cleaner))
        };
        let options = options.to_vec();
        let sources = Sources { old, new: here, bench, target, options, _cleaner: cleaner, scratch };
        let refused = |why| anyhow::anyhow!("--against {}: {why}", printable(text));
        let program = sources.built(&sources.old, None).map_err(refused)?;
        Ok(OldBuild { program, sources: Some(sources) })
    }

    /// Whether both can be built again.
    pub fn has_sources(&self) -> bool {
        self.sources.is_some()
    }

    /// Links both in other orders of functions. Fails if there are no sources, or if the linker cannot do it.
    pub fn linked(&self, layouts: u32) -> Result<Linked, String> {
        let Some(sources) = &self.sources else {
            return Err("only what cargo builds can be linked anew; --against a revision or a folder".into());
        };
        let mut linked = Linked { old: Vec::new(), new: Vec::new() };
        for seed in 1..=layouts {
            let sides = [("old", &mut linked.old, &sources.old), ("new", &mut linked.new, &sources.new)];
            for (side, links, folder) in sides {
                let refused = |why| format!("the linker cannot order functions anew ({why}); lld can");
                let program = sources.built(folder, Some(seed)).map_err(refused)?;
                // The next one has the same path.
                let kept = sources.scratch.path().join(format!("{}-{seed}-{side}", sources.bench));
                fs::copy(&program, &kept).map_err(|error| format!("{}: {error}", kept.display()))?;
                links.push(kept);
            }
        }
        Ok(linked)
    }
}

impl Sources {
    /// Has cargo build the bench target in this folder. Returns the program. It is killed with howslow.
    fn built(&self, folder: &Path, seed: Option<u32>) -> Result<PathBuf, String> {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        let words: &[&str] = if seed.is_none() { &["bench", "--no-run"] } else { &["rustc", "--profile", "bench"] };
        command.args(words);
        let pattern = self.bench.replace('_', "[-_]");
        command.args(["--quiet", "--bench", &pattern, "--message-format", "json-render-diagnostics"]);
        command.args(&self.options).current_dir(folder);
        let side = if folder == self.new { "new" } else { "old" };
        command.env("CARGO_TARGET_DIR", self.target.join(BUILDS).join(side));
        if let Some(seed) = seed {
            command.arg("--").arg(format!("{SHUFFLED}{seed}"));
        }
        let run = || -> Result<String, String> {
            let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
            let output = output.map_err(|error| format!("cargo cannot be started: {error}"))?;
            match output.status.success() {
                true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
                false => Err("cargo cannot build it; its messages are above".into()),
            }
        };
        let messages = apart(LONGEST, run).unwrap_or_else(|lost| Err(format!("cargo: {lost}")))?;
        executable(&messages, &self.bench)
    }
}

/// The program of this target in cargo's messages, one JSON document a line. Fails where several packages have such a target, or none.
fn executable(messages: &str, bench: &str) -> Result<PathBuf, String> {
    let documents = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let is_it = |message: &serde_json::Value| {
        let target = &message["target"];
        target["kind"][0] == "bench" && target["name"].as_str().is_some_and(|name| name.replace('-', "_") == bench)
    };
    let built = documents.filter(is_it).filter_map(|message| message["executable"].as_str().map(PathBuf::from));
    let mut built = built.collect::<BTreeSet<_>>().into_iter();
    match (built.next(), built.next()) {
        (Some(one), None) => Ok(one),
        (None, _) => Err(format!("cargo built no bench target '{}'", printable(bench))),
        _ => Err(format!("several packages have a bench target '{}'; run this in the folder of one", printable(bench))),
    }
}

/// The name of the bench target and cargo's target folder, by the path that cargo gives a program: `release/deps/NAME-HASH`.
fn target_of(program: &Path) -> Result<(String, PathBuf), Misuse> {
    let none = || {
        let shown = output::shown(program);
        let why =
            "is not where cargo puts a bench program (target/release/deps/NAME-HASH), so its sources are not known";
        Misuse(format!("--against: {shown} {why}; name a program instead of a revision or a folder"))
    };
    let in_deps = program.parent().filter(|folder| folder.ends_with("deps"));
    let target = in_deps.and_then(|folder| folder.ancestors().skip(2).find(|one| one.join("CACHEDIR.TAG").is_file()));
    let name = program.file_name().and_then(|name| name.to_str()).and_then(|name| name.rsplit_once('-'));
    let (target, (name, _)) = target.zip(name).ok_or_else(none)?;
    Ok((name.to_owned(), target.to_owned()))
}

/// A line that git prints; `None` if it fails.
fn git(folder: &Path, words: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(folder).args(words).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned())
}

/// Checks a revision out. Returns the folder of the package in it, and what removes all of it.
fn work_tree(revision: &str, here: &Path, scratch: &Path) -> anyhow::Result<(PathBuf, Cleaner)> {
    let shown = printable(revision);
    let Some(prefix) = git(here, &["rev-parse", "--show-prefix"]) else {
        let why = "there is no such folder or program, and this folder is in no git repository";
        return Err(Misuse(format!("--against {shown}: {why}")).into());
    };
    let commit = format!("{revision}^{{commit}}");
    let Some(commit) = git(here, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]) else {
        return Err(Misuse(format!("--against {shown}: no git revision, folder or program is called so")).into());
    };
    // What an earlier one left that was killed with everything around it.
    git(here, &["worktree", "prune"]);
    let tree = scratch.join("tree");
    let (from, place, scratch) = (here.to_owned(), tree.clone(), scratch.to_owned());
    let cleaner = Cleaner::start(move || {
        let mut remove = Command::new("git");
        remove.arg("-C").arg(from).args(["worktree", "remove", "--force", "--force"]).arg(place);
        let _ = remove.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        let _ = fs::remove_dir_all(scratch);
    })?;
    let mut add = Command::new("git");
    add.arg("-C").arg(here).args(["worktree", "add", "--quiet", "--detach"]).arg(&tree).arg(&commit);
    let added = add.stdin(Stdio::null()).output()?;
    if !added.status.success() {
        let why = String::from_utf8_lossy(&added.stderr);
        anyhow::bail!("--against {shown}: git cannot check it out: {}", printable(why.trim()));
    }
    let folder = tree.join(&prefix);
    // A library may leave its lock out of git: both builds are to have the same dependencies.
    for (now, then) in here.ancestors().zip(folder.ancestors().take_while(|then| then.starts_with(&tree))) {
        let [lock, old] = [now, then].map(|folder| folder.join("Cargo.lock"));
        if lock.is_file() && !old.exists() {
            let _ = fs::copy(lock, old);
        }
    }
    if !folder.join("Cargo.toml").is_file() {
        anyhow::bail!("--against {shown}: it has no package in this folder");
    }
    Ok((folder, cleaner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_that_of_the_bench_target() {
        let messages = r#"{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"all-sums"},"executable":null}
not json
{"reason":"compiler-artifact","target":{"kind":["bench"],"name":"all-sums"},"executable":"/t/release/deps/all_sums-1"}
{"reason":"compiler-artifact","target":{"kind":["bench"],"name":"other"},"executable":"/t/release/deps/other-1"}"#;
        assert_eq!(executable(messages, "all_sums"), Ok("/t/release/deps/all_sums-1".into()));
        assert!(executable(messages, "none").is_err());
        let twice = format!("{messages}\n{}", messages.replace("-1", "-2"));
        assert!(executable(&twice, "all_sums").is_err_and(|why| why.contains("several packages")));
    }
}
