//! What is odd, what is not, and what a book of a run contains.

use record::{Beside, Book, Cost, Doubt, Estimate, Figures, Noise, Origin, Point, Run, Value};

use super::*;
use crate::example;
use crate::statistics::Interval;

/// A run without costs.
fn empty(id: &str) -> Run {
    let mut run = example::run();
    run.id = id.into();
    run.costs.clear();
    run.skipped.clear();
    run.noise = Noise { cycle_ns: 0.25, ..Noise::default() };
    run.machine.virtualization.container = None;
    run.machine.kernel.idle = None;
    run.machine.kernel.command_line = None;
    run.machine.kernel.mitigations.clear();
    run
}

/// A cost whose interval reaches this share to either side, at 4 GHz.
fn cost(operation: &str, at: &[(&str, &str)], ns: f64, half: f64) -> Cost {
    let figures = Figures::given(ns, ns * (1.0 - half), ns * (1.0 + half));
    let at = at.iter().fold(Point::default(), |at, (axis, word)| at.with(axis, Value::Word((*word).into())));
    Cost { headline: Estimate::Quiet, cycles: ns * 4.0, ..Cost::given(operation, at, "call", figures) }
}

fn run(id: &str, costs: Vec<Cost>) -> Run {
    Run { costs, ..empty(id) }
}

fn reference(id: &str, costs: Vec<Cost>) -> Run {
    Run { origin: Origin::Reference, ..run(id, costs) }
}

fn sentences(run: &Run, references: &[Run]) -> Vec<String> {
    let facts = Facts { machine: &run.machine, noise: &run.noise, present: None };
    super::sentences(&judge(run, references, &facts), Place::of(&run.machine))
}

/// Twelve costs of many kinds.
fn usual() -> Vec<Cost> {
    let waking = |operation: &str, ns: f64| Cost { cpus: 2, ..cost(operation, &[("distance", "other")], ns, 0.05) };
    let mut costs = vec![waking("futex.roundtrip", 8000.0), waking("pipe.roundtrip", 9000.0)];
    let names = [
        "syscall.getppid", "syscall.stat", "signal.deliver", "switch.yield", "page.fault.file", "process.fork",
        "thread.create.join", "poll.epoll", "file.read", "clock.read",
    ];
    costs.extend(names.iter().zip(1..).map(|(name, number)| cost(name, &[], 100.0 * f64::from(number), 0.02)));
    costs
}

#[test]
fn a_set_that_is_a_part_of_another_cache_is_another_set() {
    let sized = |bytes: f64| {
        let mut cost = cost("switch.process", &[("set", "most-l2")], 3000.0, 0.02);
        cost.tallies.insert("set bytes".into(), bytes);
        cost
    };
    let mut reference = reference("one", vec![sized(786_432.0)]);
    reference.machine.cpu.caches = vec![example::unified(2, 1 << 20)];
    assert!(hold(&sized(786_432.0), &reference).is_ok());
    assert_eq!(hold(&sized(1_572_864.0), &reference).err(), Some(NotHeld::NoMatch));
}

#[test]
fn runs_that_differ_in_nothing_have_no_oddity_and_report_so() {
    let run = run("mine", usual());
    let found = sentences(&run, &[reference("one", usual())]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("Nothing odd: of 12 costs, 12 within a factor of 2 of the only reference, one ("));
    let found = sentences(&run, &[reference("one", usual()), reference("two", usual())]);
    assert_eq!(found, ["Nothing odd: of 12 costs, 12 within a factor of 2 of the references one and two."]);
}

#[test]
fn a_run_held_against_its_own_book_has_no_oddity() {
    let costs: Vec<Cost> = usual().into_iter().map(|cost| Cost { version: 3, ..cost }).collect();
    let run = run("mine", costs);
    let book = contribute(std::slice::from_ref(&run), "own", &|_| true).expect("a book").book;
    let text = book.reference_toml().expect("a text");
    let own = Book::from_toml(&text).expect("a book").run();
    let found = sentences(&run, &[own]);
    assert!(found.len() == 1 && found[0].starts_with("Nothing odd: of 12 costs, 12 within"), "{found:?}");
}

/// A guest on which waking is seven times as dear.
fn sleepy() -> Run {
    let mut run = run("mine", usual());
    for cost in run.costs.iter_mut().filter(|cost| cost.cpus == 2) {
        cost.net_ns = cost.net_ns.times(7.0);
        cost.cycles *= 7.0;
    }
    run.machine.virtualization.hypervisor = Some("KVM".into());
    run
}

#[test]
fn an_odd_cost_is_reported_with_factor_reference_reason_and_remedy() {
    let found = sentences(&sleepy(), &[reference("one", usual())]);
    assert_eq!(found.len(), 2, "costs of one cause are one sentence: {found:?}");
    assert!(found[0].starts_with("Odd here: of 12 costs, 2 beyond a factor of 2"), "{found:?}");
    let mut haltpoll = sleepy();
    haltpoll.machine.kernel.idle = Some("haltpoll/haltpoll".into());
    haltpoll.machine.kernel.command_line = Some("quiet haltpoll.guest_halt_poll_ns=0".into());
    let found = sentences(&haltpoll, &[reference("one", usual())]);
    assert!(found[1].contains("polls for 0 ns") && found[1].contains("guest_halt_poll_ns=200000"), "{found:?}");
}

#[test]
fn a_container_learns_whose_setting_it_is() {
    let mut inside = sleepy();
    inside.machine.virtualization.container = Some("docker".into());
    let found = sentences(&inside, &[reference("one", usual())]);
    assert!(found[1].contains("the host's setting: idle=poll") && !found[1].contains("try "), "{found:?}");
}

#[test]
fn what_the_references_themselves_spread_over_is_not_odd() {
    let slow = Run { origin: Origin::Reference, id: "slow".into(), ..sleepy() };
    let found = sentences(&sleepy(), &[reference("one", usual()), slow]);
    assert!(found.len() == 1 && found[0].starts_with("Nothing odd"), "{found:?}");
}

#[test]
fn nothing_is_claimed_that_an_interval_a_doubt_or_a_version_does_not_carry() {
    let references = [reference("one", usual())];
    let changed = |change: fn(&mut Cost)| {
        let mut run = sleepy();
        run.costs.iter_mut().filter(|cost| cost.cpus == 2).for_each(change);
        sentences(&run, &references)
    };
    let wide = changed(|cost| cost.net_ns.low.0 = cost.net_ns.quiet.0 / 6.0);
    let open = |found: &[String]| found.len() == 2 && found[0].contains("10 within") && found[0].contains("2 open");
    assert!(open(&wide) && wide[0].starts_with("Nothing odd: of 12 costs"), "{wide:?}");
    let both = "Open: futex.roundtrip@distance=other, pipe.roundtrip@distance=other, whose";
    assert!(wide[1].starts_with(both), "{wide:?}");
    let doubtful = changed(|cost| cost.doubts.push(Doubt::NonLinear { ratio: 3.0 }));
    assert!(open(&doubtful), "{doubtful:?}");
    let mut vague = sleepy();
    vague.costs[..3].iter_mut().for_each(|cost| cost.net_ns.low.0 = cost.net_ns.quiet.0 / 6.0);
    let vague = sentences(&vague, &references);
    assert!(vague[0].starts_with("Cannot tell yet: of 12 costs, 9 within"), "{vague:?}");
    // How rounds were counted is in the interval, and so are those that other tasks interrupted.
    for doubt in [Doubt::FewQuiet { batches: 1, rounds: 1 }, Doubt::Interrupted { share: 0.5 }] {
        let mut counted = sleepy();
        counted.costs.iter_mut().for_each(|cost| cost.doubts.push(doubt.clone()));
        let counted = sentences(&counted, &references);
        assert!(counted[0].starts_with("Odd here: of 12 costs, 2 beyond"), "{counted:?}");
    }
    let other = changed(|cost| cost.version += 1);
    assert!(other.len() == 1 && other[0].starts_with("Nothing odd: of 10 costs, 10 within"), "{other:?}");
    let typical = changed(|cost| cost.headline = Estimate::Typical);
    assert!(typical.len() == 1 && typical[0].contains("of 10 costs"), "{typical:?}");
}

#[test]
fn a_verdict_commits_by_the_interval() {
    let verdict = |times: f64, half: f64| {
        let mut costs = usual();
        costs[2] = cost("syscall.getppid", &[], 100.0 * times, half);
        sentences(&run("mine", costs), &[reference("one", usual())])
    };
    // Within a factor of 2, and by its interval of 3: usual, and what is slow without being odd has a word.
    assert!(verdict(1.1, 0.5)[0].starts_with("Nothing odd: of 12 costs, 12 within"), "{:?}", verdict(1.1, 0.5));
    let slow = verdict(1.75, 0.01);
    assert!(slow[0].ends_with(". The slowest of these: syscall.getppid, 1.75 times one."), "{slow:?}");
    let wide = verdict(1.9, 0.7);
    assert!(wide[0].contains("11 within") && wide[0].contains("1 open") && wide.len() == 2, "{wide:?}");
    // Perhaps nothing, and at most 1.8 times as much: usual. Perhaps nothing, and at most 2.6 times: open.
    assert!(verdict(0.8, 1.25)[0].starts_with("Nothing odd: of 12 costs, 12 within"), "{:?}", verdict(0.8, 1.25));
    assert!(verdict(1.2, 1.2)[0].contains("1 open"), "{:?}", verdict(1.2, 1.2));
    // Twice as much, and so near to it that one of many costs would get there by chance: open. Clearly beyond: odd.
    assert!(verdict(2.1, 0.2)[0].contains("1 open"), "{:?}", verdict(2.1, 0.2));
    assert!(verdict(2.1, 0.05)[0].starts_with("Odd here: of 12 costs, 1 beyond"), "{:?}", verdict(2.1, 0.05));
}

#[test]
fn work_within_the_core_is_held_in_cycles_and_all_else_in_time() {
    // The same cycles at a third of the clock.
    let slow = |follows_clock: bool| {
        let mut call = cost("syscall.getppid", &[], 300.0, 0.02);
        (call.cycles, call.follows_clock) = (400.0, follows_clock);
        run("mine", vec![call])
    };
    let at_full = |follows_clock| vec![Cost { follows_clock, ..cost("syscall.getppid", &[], 100.0, 0.02) }];
    assert_eq!(sentences(&slow(true), &[reference("one", at_full(true))]).len(), 1);
    assert_eq!(sentences(&slow(false), &[reference("one", at_full(false))]).len(), 2);
}

#[test]
fn other_architectures_books_and_runs_beside_work_are_not_judged() {
    let mut arm = reference("arm", usual());
    arm.machine.architecture = "aarch64".into();
    assert_eq!(sentences(&sleepy(), &[arm]), Vec::<String>::new());
    assert_eq!(sentences(&reference("one", usual()), &[reference("two", usual())]), Vec::<String>::new());
    let mut beside = sleepy();
    beside.settings.beside.push(beside_work());
    assert_eq!(sentences(&beside, &[reference("one", usual())]), Vec::<String>::new());
}

fn beside_work() -> Beside {
    let place = record::Place::Other;
    let operation = "instruction.add.latency".into();
    Beside { kind: "compute".into(), operation, at: Point::default(), dose: 1.0, place }
}

#[test]
fn cheaper_costs_are_good_news_and_only_counted() {
    let mut fast = run("mine", usual());
    for cost in &mut fast.costs[..3] {
        cost.net_ns = cost.net_ns.times(0.2);
    }
    let found = sentences(&fast, &[reference("one", usual())]);
    assert!(found.len() == 1 && found[0].contains("9 within") && found[0].contains("3 below 1/2 of them"), "{found:?}");
}

#[test]
fn a_ratio_has_the_digits_that_its_interval_carries() {
    let text = |value: f64, half: f64| held::rounded(Interval::around(value, half));
    assert_eq!([text(1.843, 0.004), text(1.843, 0.2), text(7.3, 1.0), text(55.4, 0.1)], ["1.84", "1.8", "7", "55.4"]);
    let one = cost("a", &[], 300.0, 0.3);
    let wide = run("mine", vec![cost("a", &[], 100.0, 0.3)]);
    assert_eq!(hold(&one, &wide).expect("both have it").text(), None, "a factor of two is open");
    let narrow = run("x", vec![cost("a", &[], 100.0, 0.01)]);
    let held = hold(&cost("a", &[], 300.0, 0.01), &narrow).expect("both have it");
    assert_eq!(held.text().as_deref(), Some("3.00"));
}

/// What must not be in a book, planted into every text of a run.
fn planted() -> Run {
    let mut run = run("20261122-203855-rncs", usual());
    run.machine.kernel.release = "6.18.44-web07.example.net".into();
    run.machine.kernel.version = "#1 SMP PREEMPT_DYNAMIC root@web07 2026-11-22".into();
    run.machine.kernel.command_line = Some(
        "BOOT_IMAGE=/boot/vmlinuz-web07 root=UUID=1234-abcd ip=10.1.2.3 mitigations=auto idle=/web07 nosmt hostname=web07".into(),
    );
    run.machine.host = Some("web07".into());
    run.machine.limits.cgroup = "/user.slice/web07.scope".into();
    run.machine.virtualization.container = Some("web07-container".into());
    run.machine.cpu.usable = vec![7, 11];
    run.settings.patterns = vec!["/home/alice/secret".into()];
    run.build = "b4fb7a51e60b30e8".into();
    for cost in &mut run.costs {
        cost.summary = "in /home/alice on web07".into();
        cost.like = vec!["web07".into()];
        cost.tallies.insert("web07".into(), 1.0);
        cost.doubts.push(Doubt::RoundLost { reason: "killed on web07".into() });
    }
    run.costs.push(cost("file.other", &[("path", "/home/alice")], 100.0, 0.02));
    run
}

#[test]
fn a_book_has_nothing_that_identifies_the_host() {
    let made = contribute(&[planted()], "mine", &|_| true).expect("a book");
    let text = made.book.reference_toml().expect("a text");
    for secret in
        ["web07", "alice", "10.1.2.3", "1234-abcd", "20261122", "b4fb7a51", "slice", "/home", "root@", "2026-11-22"]
    {
        assert!(!text.contains(secret), "{secret} in:\n{text}");
    }
    assert_eq!(made.uncertain, 1, "the cost at a path");
    for kept in ["6.18.44", "SMP PREEMPT_DYNAMIC", "mitigations=auto nosmt", "howslow", "syscall.getppid"] {
        assert!(text.contains(kept), "no {kept} in:\n{text}");
    }
    assert!(made.stripped.iter().any(|what| what.contains("command line")));
}

#[test]
fn releases_keep_what_distributions_append() {
    let kept = |release: &str| {
        let mut run = run("mine", usual());
        run.machine.kernel.release = release.into();
        contribute(&[run], "mine", &|_| true).expect("a book").book.machine.kernel.release
    };
    assert_eq!(kept("6.8.0-45-generic"), "6.8.0-45-generic");
    assert_eq!(kept("6.1.0-28-cloud-amd64"), "6.1.0-28-cloud-amd64");
    assert_eq!(kept("6.18.44-fc-v669"), "6.18.44");
    assert_eq!(kept("web07"), "");
}

#[test]
fn several_runs_give_medians_and_the_scatter_between_them() {
    let at = |factor: f64| {
        let dearer = |cost: Cost| Cost { net_ns: cost.net_ns.times(factor), cycles: cost.cycles * factor, ..cost };
        run(&format!("run {factor}"), usual().into_iter().map(dearer).collect())
    };
    let one = contribute(&[at(1.0)], "a", &|_| true).expect("a book").book;
    let many = contribute(&[at(0.9), at(1.0), at(1.02), at(1.1), at(1.05)], "a", &|_| true).expect("a book").book;
    let width = |book: &Book| book.measured_costs[5].high / book.measured_costs[5].low;
    assert!((many.measured_costs[5].ns / one.measured_costs[5].ns - 1.02).abs() < 1e-9);
    assert!(width(&many) > 1.2 && width(&one) < 1.1, "{} {}", width(&many), width(&one));
    assert_eq!(many.reference.expect("a reference").runs, 5);
}

#[test]
fn what_makes_no_reference_is_refused_in_one_sentence() {
    let refused = |runs: &[Run]| contribute(runs, "a", &|_| true).expect_err("refused").to_string();
    let mut beside = run("mine", usual());
    beside.settings.beside.push(beside_work());
    assert!(refused(&[beside]).contains("--beside"));
    let mut other = run("other", usual());
    other.machine.cpu.signature = "1/2/3".into();
    assert!(refused(&[run("mine", usual()), other]).contains("different machines"));
    let mut doubtful = run("mine", usual());
    doubtful.costs[4..].iter_mut().for_each(|cost| cost.doubts.push(Doubt::NeverQuiet));
    assert!(refused(&[doubtful]).contains("and 4 of 12 are"));
    let few = refused(&[run("few", usual()[..5].to_vec())]);
    assert!(few.contains("takes 10 costs that are certain enough, and 5 of 5 are"));
    assert!(refused(&[]).contains("no run"));
}
