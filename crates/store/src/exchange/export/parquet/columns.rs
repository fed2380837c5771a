//! The columns of a table with the type that fits all of their cells, as Parquet encodes them.

use super::thrift::varint;
use crate::exchange::table::{Cell, Table};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ColumnKind {
    Text,
    Number,
    Count,
    Flag,
}

/// The kind that fits all cells of a column. A column without cells is text.
pub(super) fn kind(table: &Table, column: usize) -> ColumnKind {
    let mut cells = table.rows.iter().filter_map(|row| match row.get(column)? {
        Cell::Missing => None,
        Cell::Text(_) => Some(ColumnKind::Text),
        Cell::Number(_) => Some(ColumnKind::Number),
        Cell::Count(count) if i64::try_from(*count).is_err() => Some(ColumnKind::Number),
        Cell::Count(_) => Some(ColumnKind::Count),
        Cell::Flag(_) => Some(ColumnKind::Flag),
    });
    let Some(first) = cells.next() else { return ColumnKind::Text };
    cells.fold(first, |kind, other| match (kind, other) {
        (one, two) if one == two => one,
        (ColumnKind::Number | ColumnKind::Count, ColumnKind::Number | ColumnKind::Count) => ColumnKind::Number,
        _ => ColumnKind::Text,
    })
}

/// The cells of a column as they stand in a page: which of them have a value, then the values (the encodings RLE and PLAIN of
/// <https://parquet.apache.org/docs/file-format/data-pages/encodings/>).
pub(super) fn encoded(table: &Table, column: usize, kind: ColumnKind) -> Vec<u8> {
    let cells = || table.rows.iter().map(|row| row.get(column).unwrap_or(&Cell::Missing));
    let is_there = |cell: &Cell| *cell != Cell::Missing;
    let levels = levels(&cells().map(is_there).collect::<Vec<_>>());
    let mut page = (levels.len() as u32).to_le_bytes().to_vec();
    page.extend(levels);
    match kind {
        ColumnKind::Text => cells().filter(|cell| is_there(cell)).map(Cell::to_string).for_each(|text| {
            page.extend((text.len() as u32).to_le_bytes());
            page.extend(text.bytes());
        }),
        ColumnKind::Number => page.extend(cells().filter_map(number).flat_map(f64::to_le_bytes)),
        ColumnKind::Count => page.extend(cells().filter_map(count).flat_map(i64::to_le_bytes)),
        ColumnKind::Flag => page.extend(flags(cells())),
    }
    page
}

/// Runs of equal levels: twice the length of a run, then its level in a byte.
fn levels(present: &[bool]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for run in present.chunk_by(|one, other| one == other) {
        varint(&mut bytes, (run.len() as u64) << 1);
        bytes.push(run[0].into());
    }
    bytes
}

fn number(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Number(number) => Some(*number),
        Cell::Count(count) => Some(*count as f64),
        _ => None,
    }
}

fn count(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Count(count) => i64::try_from(*count).ok(),
        _ => None,
    }
}

/// Eight to a byte, the lowest bit first.
fn flags<'a>(cells: impl Iterator<Item = &'a Cell>) -> Vec<u8> {
    let flags = cells.filter_map(|cell| match cell {
        Cell::Flag(flag) => Some(*flag),
        _ => None,
    });
    let flags: Vec<bool> = flags.collect();
    flags.chunks(8).map(|eight| eight.iter().rev().fold(0, |byte, flag| byte << 1 | u8::from(*flag))).collect()
}
