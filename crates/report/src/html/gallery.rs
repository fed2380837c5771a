//! A gallery: an index of machines with one line each, and pages of two of them side by side.

use maud::{Markup, html};
use record::units::{counted, relative_width};
use record::{Cost, Run, printable};

use super::{compared, shell};
use crate::head::machine_parts;

pub struct GalleryMachine<'a> {
    /// Its name, which is that of its page without the ending.
    pub name: &'a str,
    pub run: &'a Run,
}

/// What the index shows of each machine: a title, and the operations of which the first that the machine has is shown.
const SHOWN: [(&str, &[&str]); 8] = [
    ("system call", &["syscall.getppid"]),
    ("block move", &["memory.copy@size=512"]),
    ("load from memory", &["memory.load@set=268435456", "memory.load@set=67108864"]),
    ("missed branch", &["instruction.branch.missed"]),
    ("page fault", &["page.fault.anonymous"]),
    ("process switch", &["switch.process@set=0"]),
    ("pipe there and back", &["pipe.roundtrip@distance=same,size=26"]),
    ("fork", &["process.fork"]),
];

/// The index: a line for each machine, and the pages of two.
pub fn gallery_index(machines: &[GalleryMachine<'_>], title: &str) -> String {
    let body = html! {
        header { p.brand { "howslow" } h1 { (printable(title)) } p.sub { (counted(machines.len() as u64, "machine")) ", each figure with half of its interval" } }
        main {
            section id="machines" {
                h2 { "Machines" }
                div.wide tabindex="0" role="region" aria-label="Machines" {
                    table.plain {
                        thead { tr { th scope="col" { "machine" } th scope="col" { "date" } th scope="col" class="r" { "costs" }
                            @for (title, _) in SHOWN { th scope="col" class="r" { (title) } } } }
                        tbody { @for machine in machines { (line(machine)) } }
                    }
                }
            }
            @if machines.len() > 1 { (pairs(machines)) }
        }
        footer { p { "Made by howslow " (env!("CARGO_PKG_VERSION")) "." } }
    };
    shell::document(title, &body)
}

fn line(machine: &GalleryMachine<'_>) -> Markup {
    let run = machine.run;
    let figure =
        |names: &[&str]| names.iter().find_map(|name| found(run, name)).map_or_else(|| html! { "-" }, with_half);
    let day = run.started.get(..10).unwrap_or(&run.started);
    html! {
        tr {
            th scope="row" { div.m { a href={ (machine.name) ".html" } { (printable(machine.name)) } br; small { (printable(&machine_parts(&run.machine).join(", "))) } } }
            td.r { (printable(day)) }
            td.r { (run.costs.len()) }
            @for (_, names) in SHOWN { td.r { (figure(names)) } }
        }
    }
}

/// The cost of this name, or the first of its operation.
fn found<'r>(run: &'r Run, name: &str) -> Option<&'r Cost> {
    run.costs.iter().find(|cost| cost.name() == name || cost.operation == name).filter(|cost| !cost.holds_zero())
}

/// A figure with half its interval.
fn with_half(cost: &Cost) -> Markup {
    let half = cost.half_width().map(relative_width);
    html! { (cost.quoted().to_string()) @if let Some(half) = half { br; small { "± " (half) } } }
}

/// A triangle of links to the pages of two.
fn pairs(machines: &[GalleryMachine<'_>]) -> Markup {
    html! {
        section id="pairs" {
            h2 { "Two side by side" }
            div.wide tabindex="0" role="region" aria-label="Two side by side" {
                table.plain {
                    thead { tr { th scope="col" { "base" } @for other in &machines[1..] { th scope="col" { (printable(other.name)) } } } }
                    tbody {
                        @for (place, base) in machines.iter().enumerate().take(machines.len() - 1) {
                            tr {
                                th scope="row" { (printable(base.name)) }
                                @for (column, other) in machines.iter().enumerate().skip(1) {
                                    td { @if column > place { a href=(pair_file(base.name, other.name)) aria-label={ "compare " (base.name) " and " (other.name) } { "compare" } } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn pair_file(one: &str, other: &str) -> String {
    format!("{one}--{other}.html")
}

/// The page of two machines, and the name of its file.
pub fn gallery_pair(one: &GalleryMachine<'_>, other: &GalleryMachine<'_>) -> (String, String) {
    let title = format!("{} and {}", printable(one.name), printable(other.name));
    let runs = [one.run.clone(), other.run.clone()];
    let body = html! {
        header {
            p.brand { a href="index.html" { "All machines" } " · howslow" }
            h1 { (title) }
            p.sub { @for (place, machine) in [one, other].into_iter().enumerate() {
                @if place > 0 { br; } a href={ (machine.name) ".html" } { (printable(machine.name)) } ": " (printable(&machine_parts(&machine.run.machine).join(" · ")))
            } }
        }
        main { (compared::section(&runs, &[one.name, other.name], compared::Links::None)) }
    };
    (pair_file(one.name, other.name), shell::document(&title, &body))
}
