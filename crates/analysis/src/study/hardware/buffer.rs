//! The what-if of the paper's second recommendation, on its machine and here: another memory serves the references of
//! the call-save-return sequence.

use record::{Bytes, Run, Value};

use super::arithmetic::{ACCESS, BUFFER, REFERENCES};
use super::parts::{DATA, SEQUENCE};
use crate::derived::{Part, Route, cost};
use crate::statistics::Interval;
use crate::study::definition::Paper;
use crate::study::missing::followed;
use crate::study::table::{Cell, TableAnswer};
use crate::sums::sum;

/// A load from a working set of this many bytes.
macro_rules! load {
    ($bytes:literal) => {
        cost("memory.load").at(&[("set", Value::Number($bytes))])
    };
}

/// Within the first cache, within the second, and beyond them.
static LEVELS: [Part; 4] = [load!(16384), load!(262_144), load!(33_554_432), load!(268_435_456)];

/// The costs of a run that it needs.
pub(super) fn parts() -> impl Iterator<Item = &'static Part> {
    LEVELS.iter().chain([&SEQUENCE])
}

/// The same references served by each available memory, and the resulting time of the sequence.
pub(super) fn table(paper: &Paper, run: &Run) -> TableAnswer {
    let mut rows = there(paper);
    rows.extend(here(run));
    DATA.table("buffer", rows)
}

/// The 6180 as it was, and with a buffer memory.
fn there(paper: &Paper) -> Vec<Vec<Cell>> {
    let sequence = paper.cost("multics-6180/multics.call");
    let access = paper.cost(ACCESS);
    let buffer = Interval::exactly(BUFFER);
    let saved = access.map(|access| sum([(REFERENCES, access), (-REFERENCES, buffer)]));
    let with = sequence.zip(saved).map(|(sequence, saved)| sum([(1.0, sequence), (-1.0, saved)]));
    let known = |figure: Option<Interval>| figure.ok_or_else(String::new);
    vec![
        row("a buffer of 70 ns (6180)".into(), "paper", Ok(buffer), [with, with], Cell::doubts_of([])),
        row("the memory of the 6180".into(), "paper", known(access), [sequence, with], Cell::doubts_of([])),
    ]
}

/// This machine's levels. The sequence was measured with the first.
fn here(run: &Run) -> Vec<Vec<Cell>> {
    let sequence = followed(&Route::of(&[SEQUENCE]), run).ok();
    let loads: Vec<_> = LEVELS.iter().map(|level| followed(&Route::of(std::slice::from_ref(level)), run)).collect();
    let nearest = loads.first().and_then(|load| load.clone().ok());
    let row_of = |(level, load): (&Part, Result<Interval, String>)| {
        let more = load.as_ref().ok().zip(nearest).zip(sequence).map(|((load, nearest), sequence)| {
            if *load == nearest {
                return sequence;
            }
            sum([(1.0, sequence), (REFERENCES, *load), (-REFERENCES, nearest)])
        });
        let set = level.term.term().at.number("set").unwrap_or(0);
        let doubts = Cell::doubts_of([level.find(run), LEVELS[0].find(run), SEQUENCE.find(run)]);
        row(format!("a set of {} here", Bytes(set)), "here", load, [more, sequence], doubts)
    };
    LEVELS.iter().zip(loads).map(row_of).collect()
}

fn row(
    name: String,
    place: &str,
    one: Result<Interval, String>,
    [sequence, shortest]: [Option<Interval>; 2],
    doubts: Cell,
) -> Vec<Cell> {
    let all = one.as_ref().ok().map(|one| sum([(REFERENCES, *one)]));
    vec![
        Cell::Text(name),
        Cell::Text(place.into()),
        Cell::cost(&one),
        all.map_or(Cell::Unknown, Cell::Cost),
        sequence.map_or(Cell::Unknown, Cell::Cost),
        Cell::ratio(sequence, shortest),
        doubts,
    ]
}
