//! The paper's runs, and how its figures are found in the book.

use std::sync::LazyLock;

use record::Fact;

use crate::statistics::Interval;
use crate::study::data::StudyData;
use crate::study::definition::Paper;

pub(super) static DATA: LazyLock<StudyData> = LazyLock::new(|| StudyData::of(include_str!("../core.toml")));

/// A measurement run: what the paper says it was, apart from its figures.
pub(super) struct PaperRun {
    /// Its name in the book.
    pub name: &'static str,
    /// The version of Multics.
    pub system: &'static str,
    pub cpus: u32,
    /// Memory in K words.
    pub core: u32,
    /// Average processor time and page faults of Table I, and users, as printed.
    pub printed: (&'static str, &'static str, &'static str),
}

const fn run(
    name: &'static str,
    system: &'static str,
    (cpus, core): (u32, u32),
    printed: (&'static str, &'static str, &'static str),
) -> PaperRun {
    PaperRun { name, system, cpus, core, printed }
}

/// All runs, in the order of Table I.
pub(super) const RUNS: [PaperRun; 8] = [
    run("mpm96", "7.0", (1, 256), (".482", "52", "21")),
    run("mpm97", "6.0", (1, 256), (".739", "43", "28")),
    run("mpm98", "6.0", (1, 384), (".575", "28", "28")),
    run("mpm99", "7.0a", (1, 256), (".358", "31", "8~9")),
    run("mpm100", "7.0a", (1, 256), (".436", "45", "21")),
    run("mpm101", "7.1b", (2, 384), (".407", "28", "23")),
    run("mpm102", "7.3b", (1, 384), (".390", "25", "27")),
    run("mpm103", "7.3b", (1, 256), (".474", "41", "27")),
];

/// The runs of Tables II and III, in their order.
pub(super) const DETAILED: [&str; 4] = ["mpm97", "mpm98", "mpm103", "mpm102"];
/// Both changes of memory: less, more, the system, and the figures that the text prints for the decrease of processor time.
pub(super) const PAIRS: [(&str, &str, &str, &str); 2] =
    [("mpm97", "mpm98", "6.0", "22 %"), ("mpm103", "mpm102", "7.3b", "18 %")];
/// The depths of multiprogramming.
pub(super) const DEPTHS: [&str; 3] = ["1", "2", "3"];

/// A fact of a run; zero if the paper prints zero, which the book leaves out.
pub(super) fn fact(paper: &Paper, run: &str, what: &str) -> f64 {
    paper.fact(&format!("{run} {what}")).and_then(Fact::value).unwrap_or(0.0)
}

/// A cost of a run in ns.
pub(super) fn cost(paper: &Paper, run: &str, what: &str) -> Option<Interval> {
    paper.cost(&format!("core.{run}.{what}"))
}

pub(super) fn interactions(paper: &Paper) -> f64 {
    paper.fact("interactions").and_then(Fact::value).unwrap_or(1.0)
}

/// The mean processor times between page faults at each depth, in ms.
pub(super) fn between(paper: &Paper, run: &str) -> Option<[Interval; 3]> {
    let at_depth = |depth: &str| Some(cost(paper, run, &format!("between.{depth}"))?.times(1e-6));
    Some([at_depth(DEPTHS[0])?, at_depth(DEPTHS[1])?, at_depth(DEPTHS[2])?])
}
