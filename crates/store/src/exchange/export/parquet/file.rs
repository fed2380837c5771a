//! A table as a Parquet file: one row group, one page a column, not compressed (`parquet.thrift` of
//! <https://github.com/apache/parquet-format>, whose numbers these are).

use super::columns::{ColumnKind, encoded, kind};
use super::thrift::Struct;
use crate::exchange::table::Table;

/// Begins and ends a file.
const MAGIC: &[u8; 4] = b"PAR1";
/// `Encoding`.
const PLAIN: i32 = 0;
const RLE: i32 = 3;
/// `FieldRepetitionType`: each cell may be missing.
const OPTIONAL: i32 = 1;
/// `ConvertedType`.
const UTF8: i32 = 0;

/// `Type`.
fn physical(kind: ColumnKind) -> i32 {
    match kind {
        ColumnKind::Flag => 0,
        ColumnKind::Count => 2,
        ColumnKind::Number => 5,
        ColumnKind::Text => 6,
    }
}

pub(super) fn file(table: &Table) -> Vec<u8> {
    let rows = table.rows.len();
    let mut file = MAGIC.to_vec();
    let mut schema = vec![Struct::default().text(4, "costs").int32(5, table.columns.len() as i32)];
    let mut chunks = Vec::new();
    for (column, name) in table.columns.iter().enumerate() {
        let kind = kind(table, column);
        schema.push(element(name, kind));
        let start = file.len();
        let page = encoded(table, column, kind);
        file.extend(page_header(rows, page.len()).bytes());
        file.extend(page);
        chunks.push(chunk(name, kind, rows, start, file.len() - start));
    }
    let group = Struct::default().structures(1, chunks).int64(2, file.len() - MAGIC.len()).int64(3, rows);
    let by = concat!("howslow version ", env!("CARGO_PKG_VERSION"));
    let about = Struct::default().int32(1, 1).structures(2, schema).int64(3, rows).structures(4, [group]);
    let about = about.text(6, by).bytes();
    file.extend(&about);
    file.extend((about.len() as u32).to_le_bytes());
    file.extend(MAGIC);
    file
}

/// `SchemaElement`. Text has its type in the old form and in the new one.
fn element(name: &str, kind: ColumnKind) -> Struct {
    let element = Struct::default().int32(1, physical(kind)).int32(3, OPTIONAL).text(4, name);
    match kind {
        ColumnKind::Text => {
            let string = Struct::default().structure(1, Struct::default());
            element.int32(6, UTF8).structure(10, string)
        }
        _ => element,
    }
}

/// `PageHeader` with its `DataPageHeader`.
fn page_header(rows: usize, bytes: usize) -> Struct {
    let data = Struct::default().int32(1, rows as i32).int32(2, PLAIN).int32(3, RLE).int32(4, RLE);
    Struct::default().int32(1, 0).int32(2, bytes as i32).int32(3, bytes as i32).structure(5, data)
}

/// `ColumnChunk` with its `ColumnMetaData`.
fn chunk(name: &str, kind: ColumnKind, rows: usize, start: usize, bytes: usize) -> Struct {
    let about = Struct::default().int32(1, physical(kind)).int32s(2, &[PLAIN, RLE]).texts(3, &[name]).int32(4, 0);
    let about = about.int64(5, rows).int64(6, bytes).int64(7, bytes).int64(9, start);
    Struct::default().int64(2, start).structure(3, about)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::table::Cell;

    /// pandas and DuckDB read what is written (`tests/it/exchange/readers.rs`); this one pins the bytes that they were shown to read.
    #[test]
    fn columns_have_the_type_that_fits_all_of_their_cells() {
        let mut table = Table::new(["id", "set", "ns", "cpus", "trusted", "none"]);
        let word = |id: &str, set: Cell, ns: f64| {
            vec![Cell::text(id), set, Cell::number(ns), Cell::Count(2), Cell::Flag(true), Cell::Missing]
        };
        table.rows.push(word("a", Cell::Count(4096), 1.5));
        table.rows.push(word("b\"=,", Cell::text("most-l2"), f64::NAN));
        let kinds: Vec<ColumnKind> = (0..6).map(|column| kind(&table, column)).collect();
        let text = ColumnKind::Text;
        assert_eq!(kinds, [text, text, ColumnKind::Number, ColumnKind::Count, ColumnKind::Flag, text]);
        let page = |column: usize| encoded(&table, column, kinds[column]);
        assert_eq!(page(0), b"\x02\0\0\0\x04\x01\x01\0\0\0a\x04\0\0\0b\"=,");
        assert_eq!(page(1), b"\x02\0\0\0\x04\x01\x04\0\0\x004096\x07\0\0\0most-l2");
        assert_eq!(page(2), [&b"\x04\0\0\0\x02\x01\x02\x00"[..], &1.5_f64.to_le_bytes()].concat(), "NaN is missing");
        assert_eq!(page(3), [&b"\x02\0\0\0\x04\x01"[..], &[2_i64.to_le_bytes(); 2].concat()].concat());
        assert_eq!(page(4), b"\x02\0\0\0\x04\x01\x03");
        assert_eq!(page(5), b"\x02\0\0\0\x04\0");
        let file = file(&table);
        assert!(file.starts_with(MAGIC) && file.ends_with(MAGIC));
    }
}
