//! Slurm: one exclusive job per node, through its commands.

mod answers;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

#[cfg(feature = "fuzz")]
pub use answers::fuzz_slurm;

use crate::command::{Answer, run_command};
use crate::error::FleetError;
use crate::scheduler::{End, Refusing, Scheduler, Seen, Sight, Submitted, Task};
use crate::script::node_arguments;
use crate::state::{Fleet, SlurmOptions};

/// The patience with one command of Slurm. A busy controller may take half a minute.
const PATIENCE: Duration = Duration::from_secs(60);

/// Options of sbatch that this crate sets. A user's would break what it relies on.
const OWN: [&str; 20] = [
    "--array", "--chdir", "--error", "--export", "--help", "--input", "--job-name", "--nodefile", "--nodelist",
    "--nodes", "--ntasks", "--output", "--parsable", "--requeue", "--test-only", "--time", "--usage", "--version",
    "--wait", "--wrap",
];

/// The variables that the jobs get. All others, such as passwords, stay here.
const VARIABLES: [&str; 7] = ["HOME", "LANG", "LD_LIBRARY_PATH", "LOGNAME", "PATH", "SHELL", "USER"];

pub(crate) struct Slurm {
    /// The file of the script that runs on nodes.
    pub script: PathBuf,
    /// Which node takes what.
    pub options: SlurmOptions,
}

impl Slurm {
    /// The nodes that a list such as `n[1-8],m3` names; without a list, all of the partition. Fails if Slurm does not
    /// answer, or the list is not one.
    pub(crate) fn nodes(&self, list: Option<&str>) -> Result<Vec<String>, FleetError> {
        let Some(list) = list else {
            return Ok(answers::partition_nodes(&self.sinfo()?, self.options.partition.is_some()));
        };
        if list.starts_with('-') || list.contains(char::is_whitespace) {
            let shown = record::printable(list);
            return Err(FleetError::Misuse(format!("--nodes: {shown:?} is no list of nodes, such as n[001-128],m3")));
        }
        let answer = succeed("scontrol", &["show", "hostnames", list])?;
        let nodes: Vec<String> = answer.text().lines().map(str::to_owned).collect();
        match nodes.iter().find(|node| !is_node(node)) {
            Some(odd) => Err(FleetError::Misuse(format!(
                "--nodes: {:?} is no name of a node: letters, digits, '-', '_' and '.' are allowed",
                record::printable(odd)
            ))),
            None => Ok(nodes),
        }
    }

    fn sinfo(&self) -> Result<Vec<answers::NodeLine>, FleetError> {
        let mut arguments = vec!["--noheader", "--all", "--Node", "--format=%N|%T|%P|%E"];
        let partition = self.options.partition.as_ref().map(|name| format!("--partition={name}"));
        arguments.extend(partition.as_deref());
        let text = succeed("sinfo", &arguments)?.text();
        answers::nodes(&text).map_err(|line| malformed("sinfo", "a list of nodes", &line))
    }

    fn submission(&self, fleet: &Fleet, task: &Task) -> Command {
        let Slurm { script, options } = self;
        let minutes = (fleet.plan.job_limit_s(task.repetitions.len()) / 60.0).ceil() as u64 + 1;
        let mut command = slurm("sbatch");
        command.args(["--parsable", "--nodes=1", "--ntasks=1", "--exclusive", "--no-requeue", "--chdir=/"]);
        command.args(["--output=/dev/null", "--error=/dev/null"]);
        command.arg(format!("--job-name={}", job_name(fleet, task))).arg(format!("--nodelist={}", task.node));
        command.arg(format!("--time={}", options.time.clone().unwrap_or_else(|| minutes.to_string())));
        let named =
            [("partition", &options.partition), ("account", &options.account), ("constraint", &options.constraint)];
        command.args(named.iter().filter_map(|(name, value)| Some(format!("--{name}={}", value.as_ref()?))));
        command.args(&options.further).arg(script);
        command.arg(&fleet.shared).args(node_arguments(fleet, task));
        command
    }

    /// What accounting or the controller knows of a job that ended badly or is no longer in the queue.
    fn record_of(&self, jobs: &[&str]) -> BTreeMap<String, (End, String)> {
        let list = format!("--jobs={}", jobs.join(","));
        let format = "--format=JobIDRaw,State%60,ExitCode,NodeList%100";
        let accounting = answer("sacct", &["--noheader", "--parsable2", "--allocations", &list, format]);
        let mut known = accounting.map(|answer| answers::accounting(&answer.text())).unwrap_or_default();
        for job in jobs {
            if !known.contains_key(*job) {
                let controller = answer("scontrol", &["--oneliner", "show", "job", job]);
                let reported = controller.ok().and_then(|answer| answers::job(&answer.text()));
                known.extend(reported.map(|reported| ((*job).to_owned(), reported)));
            }
        }
        known
    }
}

impl Scheduler for Slurm {
    fn refusing(&self) -> Result<Refusing, FleetError> {
        Ok(answers::refusing(&self.sinfo()?))
    }

    fn submit(&self, fleet: &Fleet, tasks: &[Task], reported: Submitted<'_>) -> Result<(), FleetError> {
        for task in tasks {
            let result = match run_command(&mut self.submission(fleet, task), b"", PATIENCE) {
                // The job may exist. It is found by its name.
                Ok(answer) if answer.is_good() => Ok(answers::submitted(&answer.text())),
                Ok(answer) => Err(complaint("sbatch", &answer)),
                Err(why) if why.starts_with("there is no command") => return Err(FleetError::Trouble(missing(&why))),
                Err(_) => Ok(None),
            };
            if reported(task, result).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn look(&self, fleet: &Fleet, tasks: &[Task]) -> Result<BTreeMap<usize, Seen>, FleetError> {
        let format = "--format=%i|%T|%M|%j|%r";
        let text = succeed("squeue", &["--noheader", "--all", "--states=all", &own_jobs(), format])?.text();
        let own = format!("howslow.{}.", fleet.id);
        let jobs = answers::queue(&text, &own).map_err(|line| malformed("squeue", "a list of jobs", &line))?;
        let by_name: BTreeMap<String, Seen> = jobs.into_iter().collect();
        let named = |task: &Task| Some((task.place, by_name.get(&job_name(fleet, task))?.clone()));
        let mut seen: BTreeMap<usize, Seen> = tasks.iter().filter_map(named).collect();
        let unclear = |task: &Task| {
            let seen = seen.get(&task.place);
            let is_clear = |seen: &Seen| !matches!(&seen.sight, Sight::Ended(end, _) if *end != End::Finished);
            let job = task.job.as_ref().or(seen.map(|seen| &seen.job)).filter(|_| !seen.is_some_and(is_clear))?;
            Some((task.place, job.clone()))
        };
        let unclear: Vec<(usize, String)> = tasks.iter().filter_map(unclear).collect();
        if !unclear.is_empty() {
            let jobs: Vec<&str> = unclear.iter().map(|(_, job)| job.as_str()).collect();
            let mut known = self.record_of(&jobs);
            for (place, job) in unclear {
                if let Some((end, detail)) = known.remove(&job) {
                    seen.insert(place, Seen { job, sight: Sight::Ended(end, detail) });
                }
            }
        }
        Ok(seen)
    }

    fn cancel(&self, fleet: &Fleet, tasks: &[Task]) -> Vec<Result<(), String>> {
        // A controller that does not answer is not asked again.
        let mut silent = None;
        // By user and name: the number of a job that has ended may be another's by now.
        let one = |task: &Task| {
            if let Some(why) = &silent {
                return Err(String::clone(why));
            }
            let name = format!("--name={}", job_name(fleet, task));
            let answer = answer("scancel", &[&own_jobs(), &name]).inspect_err(|why| silent = Some(why.clone()))?;
            if answer.is_good() { Ok(()) } else { Err(complaint("scancel", &answer)) }
        };
        tasks.iter().map(one).collect()
    }
}

/// Checks further options of sbatch. Fails if one is no option, or one that the fleet sets itself.
pub(crate) fn check_further(options: &[String]) -> Result<(), FleetError> {
    for option in options {
        let shown = record::printable(option);
        let name = option.split('=').next().unwrap_or_default();
        if !option.starts_with("--") || option.len() < 4 {
            let text = format!("{shown:?} is not passed on to sbatch: write each option as one word, --NAME=VALUE");
            return Err(FleetError::Misuse(text));
        }
        // sbatch takes abbreviations of its options.
        if let Some(own) = OWN.iter().find(|own| own.starts_with(name)) {
            return Err(FleetError::Misuse(format!(
                "{shown:?} is not passed on to sbatch: the fleet sets {own} itself"
            )));
        }
    }
    Ok(())
}

fn job_name(fleet: &Fleet, task: &Task) -> String {
    format!("howslow.{}.{}", fleet.id, task.name)
}

/// True for what Slurm allows as a node's name.
fn is_node(name: &str) -> bool {
    name.len() <= 255 && record::is_plain_name(name)
}

/// A command of Slurm, with the variables that it and the jobs need.
fn slurm(name: &str) -> Command {
    let passed = std::env::vars_os().filter(|(name, _)| {
        let name = name.to_string_lossy();
        VARIABLES.contains(&&*name) || ["SLURM_", "SBATCH_", "LC_"].iter().any(|begin| name.starts_with(begin))
    });
    let mut command = Command::new(name);
    command.env_clear().envs(passed);
    command
}

/// The jobs of this user, as squeue and scancel have them.
fn own_jobs() -> String {
    format!("--user={}", rustix::process::getuid().as_raw())
}

fn answer(name: &str, arguments: &[&str]) -> Result<Answer, String> {
    run_command(slurm(name).args(arguments), b"", PATIENCE)
}

fn succeed(name: &str, arguments: &[&str]) -> Result<Answer, FleetError> {
    let answer = answer(name, arguments).map_err(|why| FleetError::Trouble(missing(&why)))?;
    if answer.is_good() { Ok(answer) } else { Err(FleetError::Trouble(complaint(name, &answer))) }
}

fn missing(why: &str) -> String {
    match why.starts_with("there is no command") {
        true => format!("{why}: --slurm needs a host from which jobs are submitted; --ssh HOSTS needs no scheduler"),
        false => why.into(),
    }
}

fn complaint(name: &str, answer: &Answer) -> String {
    match (answer.complaint.as_str(), answer.status) {
        ("", Some(status)) => format!("{name} ended with status {status} and said nothing"),
        ("", None) => format!("{name} was killed"),
        (text, _) => format!("{name} says: {text}"),
    }
}

fn malformed(name: &str, wanted: &str, line: &str) -> FleetError {
    FleetError::Trouble(format!("{name} did not answer with {wanted}: {:?}", record::printable(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_break_the_fleet_are_not_passed_on() {
        let check = |option: &str| check_further(&[option.to_owned()]);
        for fine in ["--qos=low", "--reservation=test", "--mem=0", "--comment=a b"] {
            assert!(check(fine).is_ok(), "{fine}");
        }
        for odd in
            ["low", "-p", "", "--", "--array=1-3", "--arr=1-3", "--wrap=ls", "--output=x", "--nodel=n1", "/etc/passwd"]
        {
            assert!(check(odd).is_err_and(|error| error.is_misuse()), "{odd}");
        }
    }

    #[test]
    fn names_of_nodes_are_plain() {
        assert!(is_node("n-001.cluster_a"));
        for odd in ["", "-x", ".", "a b", "a;b", "a,b", "n[1-3]", "$(id)", "a\nb", "ä"] {
            assert!(!is_node(odd), "{odd}");
        }
    }
}
