//! CSV (RFC 4180) with a header line, one row for each cost: for pandas, DuckDB, R, spreadsheets.

use std::io::Write;

use record::Run;

use super::exporter::{ExportError, Exporter, Written};
use crate::exchange::costs::cost_table;
use crate::exchange::table::{Cell, Table};

pub(super) const CSV: Exporter = Exporter {
    name: "csv",
    summary: "one row a cost, one column an axis: pandas, DuckDB, R, spreadsheets",
    ending: "csv",
    is_text: true,
    write,
};

fn write(runs: &[Run], out: &mut dyn Write) -> Written {
    csv(&cost_table(runs), out)?;
    Ok(Vec::new())
}

/// Writes a table as CSV. Missing cells are empty. Fails if `out` cannot be written.
pub fn csv(table: &Table, out: &mut dyn Write) -> Result<(), ExportError> {
    let line = |fields: Vec<String>| fields.join(",") + "\n";
    out.write_all(line(table.columns.iter().map(|name| quoted(harmless(name))).collect()).as_bytes())?;
    for row in &table.rows {
        out.write_all(line(row.iter().map(|cell| quoted(field(cell))).collect()).as_bytes())?;
    }
    Ok(())
}

/// Quotes what would otherwise end its field or line.
fn quoted(text: String) -> String {
    let is_plain = !text.contains([',', '"', '\n', '\r']);
    if is_plain { text } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

fn field(cell: &Cell) -> String {
    if let Cell::Text(text) = cell { harmless(text) } else { cell.to_string() }
}

/// A spreadsheet runs text that begins like a formula, and texts may come from files of others. Such text gets an apostrophe
/// before it, as spreadsheets themselves write text (OWASP, CSV injection). Numbers are written by howslow and stay as they are.
fn harmless(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    if formula { format!("'{text}") } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(table: &Table) -> String {
        let mut text = Vec::new();
        csv(table, &mut text).expect("memory can be written");
        String::from_utf8(text).expect("UTF-8")
    }

    #[test]
    fn odd_text_stays_one_field_and_runs_nothing() {
        let mut table = Table::new(["id", "ns"]);
        for text in ["a,b", "say \"x\"", "two\nlines", "=HYPERLINK(1)", "@SUM(1)", "-2+3", "plain"] {
            table.rows.push(vec![Cell::text(text), Cell::number(-1.5)]);
        }
        let text = written(&table);
        assert_eq!(
            text,
            "id,ns\n\"a,b\",-1.5\n\"say \"\"x\"\"\",-1.5\n\"two\nlines\",-1.5\n'=HYPERLINK(1),-1.5\n'@SUM(1),-1.5\n\
             '-2+3,-1.5\nplain,-1.5\n"
        );
    }

    #[test]
    fn nothing_is_written_where_nothing_is_known() {
        let mut table = Table::new(["id", "low", "trusted"]);
        table.rows.push(vec![Cell::text("a"), Cell::number(f64::NEG_INFINITY), Cell::Flag(true)]);
        table.rows.push(vec![Cell::Count(u64::MAX), Cell::number(1e-12), Cell::Missing]);
        assert_eq!(written(&table), "id,low,trusted\na,,true\n18446744073709551615,0.000000000001,\n");
    }
}
