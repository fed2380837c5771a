//! The paper's figures beside those of the plan that repeats its experiment: what half as much memory again changes.

use analysis::load::{Configuration, PaperRow, Relief};
use record::units::significant;

use super::tables::{between_faults, mean, share, time};
use crate::grid::Grid;
use crate::text::Style;

/// The plan that repeats it, and the memory that stands for 256 and 384 K words.
const PLAN: &str = "fortran";
const MEMORY: [u64; 2] = [16 << 20, 24 << 20];

/// One run of the paper (Tables I to III of the Multics performance log, 1970): times in seconds, idle in shares.
struct Printed {
    run: &'static str,
    between: [f64; 3],
    faults: f64,
    cpu: f64,
    response: f64,
    idle: [f64; 3],
}

/// The pairs of runs that differ in memory alone: 28 users of system 6.0, 27 users of system 7.3b.
const PRINTED: [[Printed; 2]; 2] = [
    [
        printed("MPM97", [0.022, 0.021, 0.016], (43.0, 0.739, 9.3), [0.14, 0.0, 0.0]),
        printed("MPM98", [0.044, 0.032, 0.024], (28.0, 0.575, 5.4), [0.06, 0.02, 0.03]),
    ],
    [
        printed("MPM103", [0.021, 0.018, 0.012], (41.0, 0.474, 9.6), [0.22, 0.0, 0.0]),
        printed("MPM102", [0.039, 0.030, 0.019], (25.0, 0.390, 4.1), [0.06, 0.08, 0.17]),
    ],
];

const fn printed(
    run: &'static str,
    between: [f64; 3],
    (faults, cpu, response): (f64, f64, f64),
    idle: [f64; 3],
) -> Printed {
    Printed { run, between, faults, cpu, response, idle }
}

/// The table, if the experiment has both amounts of memory with the paper's limit and one processor; else nothing.
pub(super) fn paper(plan: &str, rows: &[PaperRow], style: Style) -> String {
    let Some([small, large]) = pair(plan, rows) else { return String::new() };
    let mut grid = Grid::new("<>>>>>>", [vec![3, 4]]);
    let runs = PRINTED.iter().flatten().zip(["256 K", "384 K"].iter().cycle());
    let runs = runs.map(|(printed, memory)| format!("{}, {memory}", printed.run));
    grid.heading(["the paper beside".into()].into_iter().chain(runs).chain(["16 MiB".into(), "24 MiB".into()]));
    let mut add = |name: &str, printed: &dyn Fn(&Printed) -> String, here: &dyn Fn(&PaperRow) -> String| {
        let printed = PRINTED.iter().flatten().map(printed);
        grid.row([name.to_string()].into_iter().chain(printed).chain([here(small), here(large)]));
    };
    for depth in 1..=3 {
        let here = |row: &PaperRow| between_faults(row, depth);
        add(&format!("between faults, depth {depth}"), &|printed| time(printed.between[depth - 1]), &here);
    }
    add("faults each", &|printed| significant(printed.faults), &|row| significant(row.response.major_faults));
    add("CPU each", &|printed| time(printed.cpu), &|row| time(row.response.user_s + row.response.system_s));
    add("response", &|printed| time(printed.response), &|row| mean(&row.response));
    for kind in 0..3 {
        let here =
            |row: &PaperRow| share([row.idle.multiprogramming, row.idle.non_multiprogramming, row.idle.zero][kind]);
        add(&format!("idle {}", kind + 1), &|printed| share(printed.idle[kind]), &here);
    }
    let users = small.configuration.users;
    let note = format!(
        "The paper's runs had 28 users (97, 98) and 27 (102, 103), three eligible and one processor; here {users} users, and a machine \
         whose fault costs a thousandth. What compares is how the columns of a pair differ."
    );
    format!("{}{}\n", grid.render(style), style.paragraph("", &note))
}

/// The configurations with the most users that stand for the paper's two.
fn pair<'a>(plan: &str, rows: &'a [PaperRow]) -> Option<[&'a PaperRow; 2]> {
    let alike = |configuration: &Configuration| {
        configuration.cpus == 1
            && configuration.eligible == Some(3)
            && configuration.relief == Relief::None
            && configuration.repetition == 1
    };
    if plan != PLAN {
        return None;
    }
    let usable = || rows.iter().filter(|row| alike(&row.configuration));
    let small =
        usable().filter(|row| row.configuration.memory == Some(MEMORY[0])).max_by_key(|row| row.configuration.users)?;
    let wanted = Configuration { memory: Some(MEMORY[1]), ..small.configuration.clone() };
    usable().find(|row| row.configuration == wanted).map(|large| [small, large])
}
