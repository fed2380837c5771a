//! The likely cause of a slow node: one node of a fleet is made slow as each cause does it.

use record::{Bytes, Machine};
use testing::fleet::Fleet;

use super::support::{How, found_in};
use crate::fleet::{CauseKind, SlowCause};

/// The slow node.
const ODD: usize = 7;
const MEMORY: [&str; 1] = ["memory"];
const PAGES: [&str; 2] = ["memory", "page"];
const CALLS: [&str; 9] = ["syscall", "signal", "switch", "page", "poll", "pipe", "futex", "unix", "process"];

/// The causes of a node that is slow by this factor in these families (in all, if there are none) and is this machine.
fn causes(factor: f64, families: &[&str], change: &dyn Fn(&mut Machine, &mut f64)) -> Vec<SlowCause> {
    let mut fleet = Fleet::new(24, 160, 3, 5);
    fleet.node_scatter = 0.005;
    let times = |node: usize, family: &str| {
        if node == ODD && (families.is_empty() || families.contains(&family)) { factor } else { 1.0 }
    };
    let machine = |node: usize| {
        let mut machine = Machine::default();
        machine.memory.total = Bytes(64 << 30);
        machine.memory.transparent_huge_pages = Some("madvise".into());
        machine.cpu.frequency.governor = Some("performance".into());
        let calm = [("meltdown", "Not affected"), ("spectre_v2", "Mitigation: Enhanced IBRS; IBPB: conditional")];
        machine.kernel.mitigations = calm.map(|(what, how)| (what.into(), how.into())).into();
        let mut undisturbed = 0.8;
        if node == ODD {
            change(&mut machine, &mut undisturbed);
        }
        (machine, undisturbed)
    };
    let found = found_in(&fleet, How { times: Some(&times), machine: Some(&machine), ..How::default() });
    let slow: Vec<&str> = found.slow.iter().map(|slow| slow.node.as_str()).collect();
    assert_eq!(slow, ["node0007"], "{families:?}");
    found.slow[0].causes.clone()
}

fn nothing(_: &mut Machine, _: &mut f64) {}

#[test]
fn families_that_are_slow_together_lead_to_a_cause() {
    let cases: [(&[&str], CauseKind); 6] = [
        (&MEMORY, CauseKind::Memory),
        (&PAGES, CauseKind::HugePages),
        (&["file"], CauseKind::Disk),
        (&["tcp", "udp"], CauseKind::Network),
        (&CALLS, CauseKind::Mitigation),
        (&["instruction", "tcp"], CauseKind::Unknown),
    ];
    for (families, kind) in cases {
        let causes = causes(1.15, families, &nothing);
        assert_eq!(causes.iter().map(|cause| cause.kind).collect::<Vec<_>>(), [kind], "{families:?}: {causes:?}");
        assert!(!causes[0].recorded, "nothing in the record says so: {causes:?}");
    }
}

#[test]
fn what_the_record_shows_is_the_cause() {
    type Change = fn(&mut Machine, &mut f64);
    let cases: [(&[&str], Change, CauseKind, &str); 5] = [
        (
            &MEMORY,
            |machine, _| machine.memory.total = Bytes(48 << 30),
            CauseKind::Memory,
            "48 GiB; most of the class: 64 GiB",
        ),
        (
            &PAGES,
            |machine, _| machine.memory.transparent_huge_pages = Some("never".into()),
            CauseKind::HugePages,
            "never; most of the class: madvise",
        ),
        (
            &CALLS,
            |machine, _| drop(machine.kernel.mitigations.insert("meltdown".into(), "Mitigation: PTI".into())),
            CauseKind::Mitigation,
            "meltdown: Mitigation: PTI; most of the class: meltdown: Not affected",
        ),
        (
            &[],
            |machine, _| machine.cpu.frequency.governor = Some("powersave".into()),
            CauseKind::Clock,
            "powersave; most of the class: performance",
        ),
        (&[], |_, undisturbed| *undisturbed = 0.35, CauseKind::Neighbour, "undisturbed 35 % of the time"),
    ];
    for (families, change, kind, because) in cases {
        let causes = causes(1.15, families, &change);
        let first = &causes[0];
        assert!(first.kind == kind && first.recorded && first.because.contains(because), "{causes:?}");
        assert!(!first.because.contains("does not fit"), "{causes:?}");
    }
}

#[test]
fn a_difference_that_cannot_be_the_cause_says_so() {
    let causes = causes(1.15, &["file"], &|machine, _| machine.memory.total = Bytes(48 << 30));
    assert!(causes[0].kind == CauseKind::Memory && causes[0].because.contains("does not fit"), "{causes:?}");
}
