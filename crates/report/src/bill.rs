//! The page of `howslow bill`: calls and their price, how the bill closes, pairs, processes, what could be saved.

mod changes;
mod elsewhere;
mod first;
mod measured;
mod units;
mod view;
mod waiting;
mod why;

use analysis::bill::{Bill, BillRow, known_split, place_of};
use record::units::{Amount, counted, percent, range};
use record::{Alternated, CountingCost, Nanoseconds, Observation, ProcessCounts, Usage, typed_name};

use crate::column::{self, Column, right};
use crate::grid::{Grid, RowKind};
use crate::interval::time;
use crate::text::{Style, and_so_on, in_table, times};

pub use changes::{BillChanges, BillGate, bill_changes, bill_changes_markdown};
pub use elsewhere::{BillElsewhereView, bill_elsewhere};
pub use units::bill_per_unit;
pub use view::{BillView, PriceOrigin};

/// Rows, pairs and processes beyond these are only counted.
const MOST_ROWS: usize = 20;
const MOST_PAIRS: usize = 6;
/// Processor time that is charged to no process has a row if it is more than this share of all.
const ENDS: f64 = 0.02;
const MOST_PROCESSES: usize = 12;

/// The page of a bill.
pub fn bill(view: &BillView, style: Style) -> String {
    let BillView { seen, bill, .. } = view;
    let mut page = first::first(view, style);
    if !bill.rows.is_empty() {
        page += &format!("\n{}", rows(view, style));
    }
    page += &style.paragraph("charged  ", &charged(&seen.usage, seen.elapsed_ns));
    page += &closing(view, style);
    page += &waiting::table(seen, style);
    let pairs = seen.together.pairs.iter().take(style.most(MOST_PAIRS));
    let pairs: Vec<_> = pairs.map(|pair| format!("{} {}, {}", times(pair.count), pair.first, pair.then)).collect();
    page += &style.paragraphs("pairs    ", (!pairs.is_empty()).then(|| pairs.join("; ")));
    page += &others(seen, style);
    if seen.processes.len() > 1 || seen.processes.iter().any(|process| process.threads.len() > 1) {
        page += &format!("\n{}", processes(seen, style));
    }
    page += &findings(view, style);
    page + &footnotes(view, style)
}

/// What the kernel charged, and the time that nobody worked.
fn charged(usage: &Usage, elapsed_ns: f64) -> String {
    let mut parts = Vec::new();
    if let Some(cpu) = usage.cpu_ns {
        let is_short = known_split(usage).is_none();
        let split = usage.user_ns.zip(usage.system_ns).map(|(user, system)| match is_short {
            // No sample in one of them does not mean that it took nothing.
            true if user == 0.0 || system == 0.0 => {
                " (too short for the kernel's samples to tell user time from its own)".into()
            }
            true => format!(" ({} user, {} kernel, by few samples)", Nanoseconds(user), Nanoseconds(system)),
            false => format!(" ({} user, {} kernel)", Nanoseconds(user), Nanoseconds(system)),
        });
        parts.push(format!("{} of processor time{}", Nanoseconds(cpu), split.unwrap_or_default()));
        if cpu < elapsed_ns {
            parts.push(format!("no CPU worked on it for {} or more", Nanoseconds(elapsed_ns - cpu)));
        } else {
            parts.push(format!("{:.2} CPUs busy", cpu / elapsed_ns.max(1.0)));
        }
    }
    let mut count = |number: Option<u64>, what: &str| {
        parts.extend(number.map(|number| format!("{} {what}", times(number))));
    };
    count(usage.minor_faults, "minor faults");
    count(usage.major_faults, "major");
    count(usage.voluntary_switches, "voluntary switches");
    count(usage.involuntary_switches, "involuntary");
    if parts.is_empty() { "the kernel did not tell".into() } else { parts.join(", ") }
}

fn rows(view: &BillView, style: Style) -> String {
    let bill = view.bill;
    let columns = columns(bill);
    let mut grid = column::grid(&columns);
    grid.heading(column::titles("asked of the kernel", &columns));
    let most = style.most(MOST_ROWS);
    for row in bill.rows.iter().take(most) {
        let name = format!("  {}", in_table(&typed_name(&row.what)));
        grid.row(column::cells(name, row, &columns));
    }
    let rest = bill.rows.get(most..).unwrap_or_default();
    if !rest.is_empty() {
        let count: u64 = rest.iter().map(|row| row.count).sum();
        let mut cells = vec![String::new(); columns.len() + 1];
        cells[0] = format!("  {}", counted(rest.len() as u64, "other"));
        cells[1] = times(count);
        cells[columns.len() - 1] = cpu_time(rest);
        grid.add(RowKind::Aside, cells);
    }
    grid.render(style)
}

/// The processor time of rows together, as measured or else by its price: at least that, if some have neither.
fn cpu_time(rows: &[BillRow]) -> String {
    let known = |row: &BillRow| row.measured.map(|measured| measured.value).or(row.cpu_ns);
    let at_least = if rows.iter().any(|row| row.lacking > 0.0 && row.measured.is_none()) { "at least " } else { "" };
    let sum = rows.iter().filter_map(known).reduce(|sum, cpu| sum + cpu);
    sum.map_or_else(|| "-".into(), |cpu| format!("{at_least}{}", Nanoseconds(cpu)))
}

/// The columns behind the name. With samples, a price is beside the time as it was measured.
fn columns(bill: &Bill) -> Vec<Column<'_, BillRow>> {
    let measured = |row: &BillRow| row.measured.map(|all| (all.value, all.high - all.value));
    let cpu = |row: &BillRow| row.measured.map(|measured| measured.value).or(row.whole_cpu_ns());
    let is_measured = bill.measured.is_some();
    let (price, price_turn, cpu_turn) = if is_measured { ("price", 0, 4) } else { ("each", 4, 0) };
    let mut columns = vec![
        right("count", |row: &BillRow| times(row.count)),
        right("failed", |row: &BillRow| if row.failed > 0 { times(row.failed) } else { String::new() }).dropped(3),
        right("moved", |row: &BillRow| {
            row.bytes.filter(|bytes| *bytes > 0).map_or_else(String::new, |bytes| Amount(bytes as f64).of("B"))
        })
        .dropped(2),
        right(price, move |row: &BillRow| time(row.each())).dropped(price_turn),
    ];
    if is_measured {
        columns.extend([
            right("measured", move |row: &BillRow| time(measured(row).map(|(all, _)| all / row.count.max(1) as f64))),
            right("+-", move |row: &BillRow| {
                let error = measured(row).filter(|(_, error)| *error > 0.0);
                error.map_or_else(String::new, |(all, error)| percent(error / all.max(1.0)))
            })
            .dropped(1),
            right("ratio", |row: &BillRow| row.context().map_or_else(String::new, |ratio| format!("{ratio:.2}"))),
        ]);
    }
    columns.extend([
        right("CPU time", |row: &BillRow| cpu_time(std::slice::from_ref(row))).dropped(cpu_turn),
        right("share", move |row: &BillRow| {
            let share = cpu(row).zip(bill.charged).map(|(cpu, charged)| percent(cpu / charged.ns.max(1.0)));
            share.unwrap_or_default()
        }),
    ]);
    columns
}

/// How the bill closes: what is explained, what counting cost, and the rest.
fn closing(view: &BillView, style: Style) -> String {
    let bill = view.bill;
    let counting = view.seen.counting.as_ref().map(|counting| counting_cost(counting, view.seen.usage.cpu_ns));
    let text = style.paragraphs("counting ", counting);
    let (Some(charged), Some(share), Some(residual), Some(_)) =
        (bill.charged, bill.explained_share(), bill.residual_ns(), view.run)
    else {
        return text;
    };
    let what = if charged.kernel_alone { "in the kernel" } else { "of processor time, user and kernel together" };
    let range = bill.range_ns.map_or_else(String::new, |ends| {
        let [one, many] = ends.map(|ns| percent(ns / charged.ns.max(1.0)));
        format!(" ({one} if all names and files were one in the caches, {many} if each were another)")
    });
    let closes = format!(
        "{} of {} {what}: {} explained{range}, counting included; {} is not",
        Nanoseconds(bill.explained.value),
        Nanoseconds(charged.ns),
        percent(share),
        Nanoseconds(residual),
    );
    let why = why::why(view.seen, bill, view.lacking);
    text + &measured::line(bill, style) + &style.paragraph("closes   ", &(closes + &why.unwrap_or_default()))
}

/// What counting cost, by each way in which that is known.
fn counting_cost(counting: &CountingCost, cpu_ns: Option<f64>) -> String {
    let share = cpu_ns.filter(|cpu| *cpu > 0.0).map(|cpu| counting.together_ns / cpu);
    let share = share.map_or_else(String::new, |share| format!(", {} of its processor time", percent(share)));
    let probe = counting.probe.map(|probe| {
        let [each, low, high] = [probe.per_call_ns, probe.low_ns, probe.high_ns].map(Nanoseconds);
        (each, format!("{low} to {high}, 95 %, {} times each", probe.pairs))
    });
    let by = match (&probe, &counting.alternated) {
        (Some((_, interval)), None) => format!("{}: {interval}", counting.method),
        (Some((each, interval)), Some(_)) => {
            format!("{}; calls of its own, alternated, took {each} longer: {interval}", counting.method)
        }
        (None, _) => counting.method.clone(),
    };
    let inside = counting.in_program_ns.map_or_else(String::new, |inside| {
        format!("; by the kernel's statistics, {} of it in howslow's program", Nanoseconds(inside))
    });
    let (each, all) = (Nanoseconds(counting.per_call_ns), Nanoseconds(counting.together_ns));
    let command = counting.alternated.map_or_else(String::new, alternated);
    format!("{all} to count{share}, {each} a call ({by}{inside}); it is part of what was charged{command}")
}

/// What the command took without and with counting.
fn alternated(alternated: Alternated) -> String {
    let times = |bare: f64, counted: f64| if bare > 0.0 { format!("{:.2} times", counted / bare) } else { "-".into() };
    format!(
        ". Alternated, {} times each: {} of processor time without counting, {} with it ({}); {} and {} elapsed ({})",
        alternated.pairs,
        Nanoseconds(alternated.bare_cpu_ns),
        Nanoseconds(alternated.counted_cpu_ns),
        times(alternated.bare_cpu_ns, alternated.counted_cpu_ns),
        Nanoseconds(alternated.bare_elapsed_ns),
        Nanoseconds(alternated.counted_elapsed_ns),
        times(alternated.bare_elapsed_ns, alternated.counted_elapsed_ns)
    )
}

/// Signals, forks, execs, requests to io_urings.
fn others(seen: &Observation, style: Style) -> String {
    let requests = &seen.together;
    let mut parts = Vec::new();
    let woken: u64 = requests.calls.iter().map(|call| call.wakes).sum();
    for (count, one, several) in [
        (requests.forks, "process or thread created", "processes and threads created"),
        (requests.execs, "program executed", "programs executed"),
        (requests.creates, "file opened to be created", "files opened to be created"),
        (woken, "sleeping task woken", "sleeping tasks woken"),
    ] {
        if count > 0 {
            parts.push(format!("{} {}", times(count), if count == 1 { one } else { several }));
        }
    }
    parts.extend(requests.distinct_names.map(|names| format!("some {} different names looked up", times(names))));
    parts.extend(requests.signals.iter().map(|signal| format!("{} {}", times(signal.count), signal.name)));
    let ring = requests.io_uring.iter().map(|request| format!("{} io_uring {}", times(request.count), request.name));
    parts.extend(ring);
    if parts.is_empty() { String::new() } else { style.paragraph("and      ", &parts.join(", ")) }
}

fn processes(seen: &Observation, style: Style) -> String {
    let mut grid = Grid::new("<>>>>>>", [vec![2], vec![6], vec![5]]);
    grid.heading(["processes", "pid", "threads", "calls", "CPU time", "faults", "switches"]);
    let most = style.most(MOST_PROCESSES);
    for process in seen.processes.iter().take(most) {
        grid.row(process_cells(process));
    }
    let rest = seen.processes.get(most..).unwrap_or_default();
    if !rest.is_empty() {
        let many: u64 = rest.iter().map(|process| process.processes).sum();
        let calls: u64 = rest.iter().map(|process| process.requests.total()).sum();
        grid.add(RowKind::Aside, [&format!("  {}", counted(many, "other")), "", "", &times(calls)]);
    }
    // Known if it is known of all.
    let charged: Option<f64> = seen.processes.iter().map(|process| process.usage.cpu_ns).sum();
    let ends = seen.usage.cpu_ns.zip(charged).map_or(0.0, |(whole, known)| whole - known);
    if ends > ENDS * seen.usage.cpu_ns.unwrap_or(0.0) {
        grid.add(RowKind::Aside, ["  ends of tasks", "", "", "", &Nanoseconds(ends).to_string()]);
    }
    grid.render(style)
}

fn process_cells(process: &ProcessCounts) -> Vec<String> {
    let running = if process.running { ", running" } else { "" };
    let several = if process.processes > 1 { format!(" ({} ended)", process.processes) } else { String::new() };
    let number = |number: Option<u64>| number.map_or_else(|| "-".into(), times);
    let usage = &process.usage;
    let sum = |one: Option<u64>, other: Option<u64>| one.zip(other).map(|(one, other)| one + other);
    vec![
        format!("  {}{several}{running}", in_table(&process.name)),
        process.pid.map_or_else(|| "-".into(), |pid| pid.to_string()),
        times(process.thread_count.max(process.threads.len() as u64).max(1)),
        times(process.requests.total()),
        time(usage.cpu_ns),
        number(sum(usage.minor_faults, usage.major_faults)),
        number(sum(usage.voluntary_switches, usage.involuntary_switches)),
    ]
}

fn findings(view: &BillView, style: Style) -> String {
    if view.bill.findings.is_empty() {
        return String::new();
    }
    let mut text = style.title("findings");
    for finding in &view.bill.findings {
        let felt = finding.saves_elapsed_ns.map(|[least, most]| {
            let share = percent(least / view.seen.elapsed_ns.max(1.0));
            let saved = range(Nanoseconds(least), Nanoseconds(most));
            format!(" Saves {saved} of waiting ({share} of the elapsed time or more).")
        });
        let saves = finding.saves_ns.map_or_else(String::new, |[least, most]| {
            let share = finding.share.map_or_else(String::new, |share| format!(", {}", percent(share)));
            let rate = Nanoseconds(most / (view.seen.elapsed_ns.max(1.0) / 1e9));
            format!(" Saves {} ({rate} a second{share}).", range(Nanoseconds(least), Nanoseconds(most)))
        });
        let place = place_of(view.seen, &finding.calls);
        let place = place.map_or_else(String::new, |place| {
            format!(" Made by {}, {} of them.", in_table(&place.function), percent(place.share))
        });
        text += &style.paragraph("  ", &format!("{}{place}{}{saves}", finding.text, felt.unwrap_or_default()));
    }
    text
}

/// What was passed over, lost or lacking.
fn footnotes(view: &BillView, style: Style) -> String {
    let passed = view.seen.passed_over.iter();
    let mut notes: Vec<_> =
        passed.map(|passed| format!("not counted by {}: {}", passed.source, passed.reason)).collect();
    if view.seen.numbers_alone {
        notes.push("calls that a seccomp filter refuses are not counted by --counts-only".into());
    }
    if view.seen.accounting.interrupts_apart == Some(true) {
        let text = "this kernel charges time in interrupts to no task (CONFIG_IRQ_TIME_ACCOUNTING), so rows of the network may add up to more \
                    than was charged";
        notes.push(text.into());
    }
    for loss in &view.seen.losses {
        let count = loss.count.map_or_else(String::new, |count| format!("{count} "));
        notes.push(format!("lost: {count}{}", loss.what));
    }
    if !view.lacking.is_empty() {
        let names = view.lacking.iter().map(|name| typed_name(name).into_owned());
        notes.push(format!("without a price: {}", and_so_on(names, 6)));
    }
    notes.extend(view.remedy.map(String::from));
    if style.is_full() {
        notes.extend(view.origin.details.iter().map(|detail| format!("price: {detail}")));
    }
    if notes.is_empty() {
        return String::new();
    }
    format!("\n{}", style.asides("  ", notes))
}

#[cfg(test)]
mod tests {
    use analysis::statistics::Interval;

    use super::*;

    #[test]
    fn others_together_have_the_time_that_each_would_have() {
        let row = |cpu_ns: Option<f64>, lacking: f64, measured: Option<f64>| BillRow {
            what: "read".into(),
            family: "system calls".into(),
            count: 2,
            bytes: None,
            failed: 0,
            total: None,
            cpu_ns,
            lacking,
            priced_by: Vec::new(),
            measured: measured.map(|value| Interval { value, low: value, high: value }),
        };
        let priced = row(Some(1000.0), 0.0, None);
        assert_eq!(cpu_time(&[row(Some(1000.0), 0.0, Some(5000.0)), priced.clone()]), "6.00 µs");
        assert_eq!(cpu_time(&[row(Some(1000.0), 1.0, Some(5000.0)), priced.clone()]), "6.00 µs");
        assert_eq!(cpu_time(&[row(Some(1000.0), 1.0, None), priced]), "at least 2.00 µs");
        assert_eq!(cpu_time(&[row(None, 2.0, None)]), "-");
    }
}
