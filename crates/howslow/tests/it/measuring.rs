//! The verbs that measure, on this machine, with one cheap operation, so that they are quick everywhere.

use std::collections::BTreeSet;
use std::process::Stdio;

use predicates::prelude::*;
use predicates::str::contains;
use rustix::process::Signal;

use crate::support::{QUICK, children, cost, folder, has_signal, howslow, kill, program, until};

#[test]
fn the_document_holds_what_was_requested_and_where_and_each_round_has_a_launcher() {
    every_round_of_a_cost_comes_from_a_launcher_executed_anew();
    let data = folder();
    let path = data.path().join("out.json");
    let machine = system::machine::describe();
    let cpu = *machine.cpu.usable.last().expect("a CPU");
    let patterns = ["loop", "pipe.self@size=100", "poll.poll@descriptors=300"];
    let options = ["--count", "1000", "--seed", "7", "--json", "--cpu", &cpu.to_string(), "-o"];
    let result = howslow(&data).arg("run").args(patterns).args(options).arg(&path).args(QUICK).assert().success();
    let printed = record::run_from_bytes(&result.get_output().stdout).expect("a run");
    assert_eq!(printed, record::read_run(&path).expect("the same run"));
    assert_eq!(printed.settings.count, Some(1000));
    assert_eq!(printed.settings.seed, 7);
    assert_eq!(printed.settings.rounds, 1);
    assert_eq!(printed.settings.patterns, patterns);
    assert_eq!(printed.machine.architecture, std::env::consts::ARCH);
    let empty = &printed.costs[0];
    assert_eq!((empty.operation.as_str(), empty.heading()), ("loop.empty", "loop"));
    assert!(empty.quoted().0 > 0.0);
    assert!(empty.rounds.iter().all(|round| round.lost.is_some() || round.times == 1000));
    // Numbers of one's own, and a CPU.
    let number = |id: &str, axis: &str| cost(&printed, id).at.number(axis);
    assert_eq!((number("pipe.self", "size"), number("poll.poll", "descriptors")), (Some(100), Some(300)));
    let mut rounds = printed.costs.iter().flat_map(|cost| &cost.rounds);
    assert!(rounds.all(|round| round.cpu == cpu));
    assert!(printed.started <= printed.finished);
}

/// A run, a watch of the CPUs and an experiment.
#[test]
fn what_is_interrupted_prints_what_there_is_and_keeps_nothing() {
    testing::interruptible();
    let data = folder();
    let plan = crate::load::plan(&data, crate::load::SMALL).display().to_string();
    let long = ["run", "loop.empty", "--rounds", "100000", "--precision", "0.000001%", "--budget", "60s", "--json"];
    let experiment = ["load", &plan, "--users", "1,2", "--time", "60s"];
    for (words, signal) in [
        (&long[..], Signal::INT),
        (&long, Signal::TERM),
        (&["noise", "--time", "60s", "--json"], Signal::INT),
        (&experiment, Signal::INT),
    ] {
        let mut command = program(&data);
        command.args(words).env("TMPDIR", data.path());
        let running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let pid = running.id();
        let ticks = || system::machine::TaskStat::of_process(pid).map_or(0, |stat| stat.user_ticks + stat.system_ticks);
        let mut rounds = BTreeSet::new();
        let mut is_under_way = || match words[0] {
            // The task that watches computes all the time.
            "noise" => ticks() > rustix::param::clock_ticks_per_second(),
            // Before it handles the signal, that would end it.
            "load" => has_signal(pid, "SigCgt:", signal) && !children(pid).is_empty(),
            // Each round is a process that the launcher starts: those before the last have ended.
            _ => {
                rounds.extend(children(pid).into_iter().flat_map(children));
                rounds.len() > 3
            }
        };
        until("what it measures", &mut is_under_way);
        kill(pid, signal);
        let done = running.wait_with_output().expect("its output");
        let errors = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(128 + signal.as_raw()), "{words:?}: {errors}");
        assert!(words[0] == "load" || errors.contains("interrupted"), "{words:?}: {errors}");
        assert!(!data.path().join("runs").exists());
        if words[0] == "noise" {
            let document: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
            let cpus = document["cpus"].as_array().expect("CPUs");
            // The others wait for their turn.
            assert!(cpus.len() == 1 && cpus[0]["watched_s"].as_f64() > Some(0.1), "{document}");
        }
    }
}

#[test]
fn ratios_are_of_common_rounds() {
    let data = folder();
    let file = data.path().join("run.json");
    // A multiplication takes 3 or 4 times as long as an addition.
    let both = ["run", "instruction.add.latency@width=64", "instruction.multiply.latency@width=64", "--ratio"];
    let page =
        howslow(&data).args(both).args(["--budget", "20s", "--rounds", "12", "-o"]).arg(&file).assert().success();
    let run = record::read_run(&file).expect("a run");
    let [ratio] = run.ratios.as_slice() else { panic!("{:?}", run.ratios) };
    let ids = (ratio.operation.as_str(), ratio.base.as_str());
    assert_eq!(ids, ("instruction.multiply.latency", "instruction.add.latency"));
    assert!(ratio.ratio.is_some_and(|times| (2.0..6.0).contains(&times)), "{ratio:?}");
    let orders = |id: &str| cost(&run, id).rounds.iter().map(|round| round.order).collect::<Vec<_>>();
    let (add, multiply) = (orders("instruction.add.latency"), orders("instruction.multiply.latency"));
    assert!(add.iter().zip(&multiply).all(|(one, other)| one == other), "{add:?} {multiply:?}");
    let rounds = &cost(&run, "instruction.multiply.latency").rounds;
    let launchers: BTreeSet<u32> = rounds.iter().map(|round| round.launcher).collect();
    assert!(launchers.len() > rounds.len() / 2, "{launchers:?} of {} rounds", rounds.len());
    let slower = contains("'instruction.multiply.latency@width=64' is slower than ");
    page.stdout(slower.and(contains("'instruction.add.latency@width=64'")));
}

fn every_round_of_a_cost_comes_from_a_launcher_executed_anew() {
    let words = ["run", "loop.empty", "syscall.getppid", "--budget", "3s", "--json"];
    let result = howslow(&folder()).args(words).assert().success();
    let run = record::run_from_bytes(&result.get_output().stdout).expect("a run");
    let launchers = run.noise.launchers.as_ref().expect("they are reported");
    assert!(launchers.executed && launchers.count >= 6, "{launchers:?}");
    for cost in &run.costs {
        assert!(cost.hidden.is_none(), "what crosses nothing is not accounted for: {:?}", cost.hidden);
        let numbers: Vec<u32> = cost.rounds.iter().map(|round| round.launcher).collect();
        let different: BTreeSet<u32> = numbers.iter().copied().collect();
        assert_eq!(different.len(), numbers.len(), "{}: {numbers:?}", cost.name());
        assert!(different.iter().all(|number| *number < launchers.count));
        let surveyed = cost.rounds.iter().filter(|round| round.survey == Some(true)).count();
        assert!(surveyed >= 3, "{}: {surveyed} surveyed of {}", cost.name(), numbers.len());
    }
}
