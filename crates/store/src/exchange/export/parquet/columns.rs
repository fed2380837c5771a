//! The columns of a table as a Parquet file.

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use crate::exchange::table::{Cell, Table};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ColumnKind {
    Text,
    Number,
    Count,
    Flag,
}

/// The kind that fits all cells of a column. A column without cells is text.
fn kind(table: &Table, column: usize) -> ColumnKind {
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

/// The bytes of the file.
pub(super) fn file(table: &Table) -> Result<Vec<u8>, ParquetError> {
    let kinds: Vec<ColumnKind> = (0..table.columns.len()).map(|column| kind(table, column)).collect();
    let fields = table.columns.iter().zip(&kinds).map(|(name, kind)| field(name, *kind));
    let schema = Type::group_type_builder("costs").with_fields(fields.collect::<Result<_, _>>()?).build()?;
    let mut file = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut file, Arc::new(schema), Arc::new(WriterProperties::new()))?;
    let mut group = writer.next_row_group()?;
    for (column, kind) in kinds.iter().enumerate() {
        let Some(mut out) = group.next_column()? else { break };
        let cells = table.rows.iter().map(|row| row.get(column).unwrap_or(&Cell::Missing));
        match kind {
            ColumnKind::Text => put::<ByteArrayType>(&mut out, cells, text)?,
            ColumnKind::Number => put::<DoubleType>(&mut out, cells, number)?,
            ColumnKind::Count => put::<Int64Type>(&mut out, cells, count)?,
            ColumnKind::Flag => put::<BoolType>(&mut out, cells, flag)?,
        }
        out.close()?;
    }
    group.close()?;
    writer.close()?;
    Ok(file)
}

fn field(name: &str, kind: ColumnKind) -> Result<Arc<Type>, ParquetError> {
    let (physical, logical) = match kind {
        ColumnKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        ColumnKind::Number => (Physical::DOUBLE, None),
        ColumnKind::Count => (Physical::INT64, None),
        ColumnKind::Flag => (Physical::BOOLEAN, None),
    };
    let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
    field.with_logical_type(logical).build().map(Arc::new)
}

/// Writes the cells of a column. A cell without a value of its type is a null.
fn put<'a, T: DataType>(
    out: &mut SerializedColumnWriter<'_>,
    cells: impl Iterator<Item = &'a Cell>,
    value: impl Fn(&Cell) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let values: Vec<Option<T::T>> = cells.map(value).collect();
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<T::T> = values.into_iter().flatten().collect();
    out.typed::<T>().write_batch(&values, Some(&levels), None)?;
    Ok(())
}

fn text(cell: &Cell) -> Option<ByteArray> {
    let text = match cell {
        Cell::Missing => return None,
        Cell::Text(text) => text.clone(),
        Cell::Number(number) => number.to_string(),
        Cell::Count(count) => count.to_string(),
        Cell::Flag(flag) => flag.to_string(),
    };
    Some(ByteArray::from(text.into_bytes()))
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

fn flag(cell: &Cell) -> Option<bool> {
    match cell {
        Cell::Flag(flag) => Some(*flag),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let mut table = Table::new(["id", "set", "ns", "cpus", "trusted", "none"]);
        let word = |id: &str, set: Cell, ns: f64| {
            vec![Cell::text(id), set, Cell::number(ns), Cell::Count(2), Cell::Flag(true), Cell::Missing]
        };
        table.rows.push(word("a", Cell::Count(4096), 1.5));
        table.rows.push(word("b\"=,", Cell::text("most-l2"), f64::NAN));
        let bytes = file(&table).expect("a file");
        let mut on_disk = tempfile::tempfile().expect("a file");
        on_disk.write_all(&bytes).expect("a file can be written");
        let reader = SerializedFileReader::new(on_disk).expect("a reader");
        let rows: Vec<_> = reader.get_row_iter(None).expect("rows").map(|row| row.expect("a row")).collect();
        assert_eq!(rows.len(), 2);
        assert_eq!(
            (rows[0].get_string(0).expect("id").as_str(), rows[0].get_string(1).expect("set").as_str()),
            ("a", "4096")
        );
        assert_eq!((rows[0].get_double(2).expect("ns"), rows[1].get_long(3).expect("cpus")), (1.5, 2));
        assert_eq!(rows[1].get_string(0).expect("id"), "b\"=,");
        assert!(rows[1].get_double(2).is_err() && rows[1].get_string(5).is_err(), "nulls have no value");
    }
}
