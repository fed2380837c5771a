//! The paper's tables, and what the model makes of them.

use record::Run;

use super::computed::{FITTED, decrease, full, page_wait, predicted};
use super::here;
use super::runs::{DEPTHS, DETAILED, PAIRS, PaperRun, RUNS, between, cost, fact, interactions};
use crate::model::{FaultCurve, PageSource, System, predict};
use crate::study::definition::Paper;
use crate::study::table::{Cell, TableAnswer, figures, words};

const SECOND: f64 = 1e9;

pub(super) fn tables(paper: &Paper, run: &Run) -> Vec<TableAnswer> {
    vec![interactions_table(paper), memory(paper), idle(paper), handling(paper), whole(paper), here::table(run)]
}

/// A run's name as the paper prints it.
fn name(run: &str) -> Cell {
    Cell::Text(run.to_uppercase())
}

/// A number that the paper prints without a point.
fn whole_number(number: f64) -> Cell {
    Cell::Printed(format!("{number}"))
}

/// Mean think time of the script in s: what remains of its real time.
fn think_s(paper: &Paper, run: &str) -> Option<f64> {
    let real = cost(paper, run, "real")?.value / SECOND / interactions(paper);
    Some(real - cost(paper, run, "response")?.value / SECOND)
}

fn interactions_table(paper: &Paper) -> TableAnswer {
    let each = interactions(paper);
    let row = |run: &PaperRun| {
        let printed = |text: &str| Cell::Printed(text.into());
        let cpu = cost(paper, run.name, "cpu").map(|cpu| cpu.value / SECOND / each);
        let response = paper.entry(&format!("core.{}.response", run.name)).and_then(|(_, entry)| entry.s.clone());
        vec![
            name(run.name),
            Cell::Text(run.system.into()),
            Cell::Text(run.cpus.to_string()),
            Cell::Text(run.core.to_string()),
            printed(run.printed.2),
            printed(run.printed.0),
            Cell::number(cpu),
            printed(run.printed.1),
            Cell::Number(fact(paper, run.name, "faults") / each),
            Cell::printed(response.as_ref()),
            Cell::number(think_s(paper, run.name)),
        ]
    };
    TableAnswer {
        title: "Table I, one interaction".into(),
        columns: vec![
            words("run", ""),
            words("system", "system").gives_way(3),
            figures("cpus", "CPUs"),
            figures("k_words", "K words"),
            figures("users", "users"),
            figures("cpu_s", "CPU, s"),
            figures("recomputed_cpu_s", "recomputed").gives_way(1),
            figures("faults", "faults"),
            figures("recomputed_faults", "recomputed").gives_way(1),
            figures("response_s", "response, s"),
            figures("think_s", "think, s").gives_way(2),
        ],
        rows: RUNS.iter().map(row).collect(),
        notes: vec![
            "recomputed from the totals of 66 interactions; think: what remains of the script's real time, which the paper does not print".into(),
        ],
    }
}

fn memory(paper: &Paper) -> TableAnswer {
    let row = |run: &&str| {
        let number = |what: &str| whole_number(fact(paper, run, what));
        let depths = DEPTHS.map(|depth| {
            let entry = paper.entry(&format!("core.{run}.between.{depth}"));
            Cell::printed(entry.and_then(|(_, entry)| entry.ms.as_ref()))
        });
        let kinds = ["idle multiprogramming", "idle non-multiprogramming", "idle zero", "idle total"];
        let sum: f64 = kinds[..3].iter().map(|kind| fact(paper, run, kind)).sum();
        let mut cells = vec![name(run)];
        cells.extend(depths);
        cells.extend(["drum", "disk"].map(number));
        cells.extend(kinds.map(number));
        cells.push(whole_number(sum));
        cells
    };
    TableAnswer {
        title: "Tables II and III, memory".into(),
        columns: vec![
            words("run", ""),
            figures("between_1_ms", "MTBPF 1, ms"),
            figures("between_2_ms", "2"),
            figures("between_3_ms", "3"),
            figures("drum_percent", "drum, %").gives_way(2),
            figures("disk_percent", "disk, %").gives_way(2),
            figures("idle_multiprogramming", "idle 1, %"),
            figures("idle_non_multiprogramming", "2"),
            figures("idle_zero", "3"),
            figures("idle_total", "total"),
            figures("idle_sum", "sum").gives_way(1),
        ],
        rows: DETAILED.iter().map(row).collect(),
        notes: vec![
            "256, 384, 256 and 384 K words; idle 1: all three eligible processes wait for pages; 2: fewer are eligible, and wait; 3: none is \
             there; the columns are rounded, so that their sum may miss the printed total by one"
                .into(),
        ],
    }
}

/// Multiprogramming idle from the times between page faults.
fn idle(paper: &Paper) -> TableAnswer {
    let wait = page_wait(paper).map_or(f64::NAN, |wait| wait.value);
    let row = |run: &&str| {
        let measured = fact(paper, run, "idle multiprogramming") / 100.0;
        let predicted = predicted(paper, run, wait);
        vec![
            name(run),
            Cell::Share(full(paper, run)),
            Cell::Share(measured),
            predicted.map_or(Cell::Unknown, Cell::Share),
            match predicted {
                Some(predicted) if *run != FITTED => Cell::Number((predicted - measured) * 100.0),
                _ => Cell::Empty,
            },
            Cell::Text(if *run == FITTED { "fitted".into() } else { "predicted".into() }),
        ]
    };
    TableAnswer {
        title: "multiprogramming idle by the model".into(),
        columns: vec![
            words("run", ""),
            figures("full", "three eligible").gives_way(1),
            figures("measured", "measured"),
            figures("model", "model"),
            figures("points", "points off"),
            words("how", ""),
        ],
        rows: DETAILED.iter().map(row).collect(),
        notes: vec![
            format!(
                "one page wait, {wait:.1} ms, fitted on {}; while k processes wait, the next one faults at the rate of depth k + 1, and the k \
                 are served at k / page wait; idle is the share in which all three wait, of the time in which three are eligible",
                FITTED.to_uppercase()
            ),
            "three eligible: all but the idle times 2 and 3; fewer may be eligible in busy time too, which the paper does not print".into(),
        ],
    }
}

/// The decrease of processor time, as far as page faults explain it.
fn handling(paper: &Paper) -> TableAnswer {
    let row = |(less, more, system, printed): &(&str, &str, &str, &str)| {
        let before = cost(paper, less, "cpu").map(|cpu| cpu.value / 1e6 / interactions(paper));
        let found = decrease(paper, less, more, system);
        let number = |of: fn((f64, f64, f64)) -> f64| found.map_or(Cell::Unknown, |found| Cell::Number(of(found)));
        let share = |value: Option<f64>| value.map_or(Cell::Unknown, Cell::Share);
        let handling = paper.entry(&format!("core.handling.{system}"));
        vec![
            Cell::Text((*system).into()),
            Cell::Printed((*printed).into()),
            share(found.zip(before).map(|((_, saved, _), before)| saved / before)),
            number(|found| found.1),
            number(|found| found.2),
            Cell::printed(handling.and_then(|(_, entry)| entry.ms.as_ref())),
            number(|found| found.0),
            share(found.map(|(explained, saved, _)| explained / saved)),
            number(|found| found.1 / found.2),
        ]
    };
    TableAnswer {
        title: "CPU time saved by 384 K words".into(),
        columns: vec![
            words("system", ""),
            figures("printed", "printed"),
            figures("recomputed", "recomputed"),
            figures("saved_ms", "saved, ms").gives_way(1),
            figures("faults_saved", "faults saved").gives_way(1),
            figures("handling_ms", "handling, ms").gives_way(2),
            figures("explained_ms", "explained, ms"),
            figures("explained", "share"),
            figures("needed_ms", "would explain all, ms").gives_way(3),
        ],
        rows: PAIRS.iter().map(row).collect(),
        notes: vec![
            "for one interaction; explained: faults saved times their handling; the last column is the handling time with which page faults \
             would explain all of the decrease"
                .into(),
        ],
    }
}

/// The whole model, if every user were the script.
fn whole(paper: &Paper) -> TableAnswer {
    let row = |run: &&str| {
        let idle = fact(paper, run, "idle total") / 100.0;
        let found = scripted(paper, run);
        let share = |value: Option<f64>| value.map_or(Cell::Unknown, Cell::Share);
        vec![
            name(run),
            whole_number(fact(paper, run, "users")),
            Cell::Share(1.0 - idle),
            share(found.as_ref().map(|found| 1.0 - found.cpu.idle())),
            Cell::number(cost(paper, run, "response").map(|response| response.value / SECOND)),
            Cell::number(found.as_ref().map(|found| found.response_s)),
        ]
    };
    TableAnswer {
        title: "if all users ran the script".into(),
        columns: vec![
            words("run", ""),
            figures("users", "users"),
            figures("busy", "CPU busy"),
            figures("busy_model", "model"),
            figures("response_s", "response, s"),
            figures("response_model_s", "model"),
        ],
        rows: DETAILED.iter().map(row).collect(),
        notes: vec![
            "the whole model of howslow model: users with the script's processor time and think time, three eligible; the CPU was busier and \
             responses longer, so that the other users asked for more than the script, or processor time was not charged to users"
                .into(),
        ],
    }
}

/// The steady state of so many users of the script.
fn scripted(paper: &Paper, run: &str) -> Option<crate::model::SteadyState> {
    let system = PAIRS.iter().find(|(less, more, ..)| *less == run || *more == run)?.2;
    let handling_s = paper.cost(&format!("core.handling.{system}"))?.value / SECOND;
    let each = interactions(paper);
    let cpu_s = cost(paper, run, "cpu")?.value / SECOND / each;
    let work_s = cpu_s - fact(paper, run, "faults") / each * handling_s;
    let between = between(paper, run)?.map(|it| (it.value / 1e3).into());
    let system = System {
        users: fact(paper, run, "users") as u32,
        think_s: think_s(paper, run)?.into(),
        eligible: Some(3),
        user_s: work_s.into(),
        handling_s: handling_s.into(),
        faults: FaultCurve::ByDepth(between.to_vec()),
        page_device: PageSource { service_s: (page_wait(paper)?.value / 1e3).into(), ..PageSource::default() },
        ..System::default()
    };
    predict(&system).ok()
}
