//! A study: the paper's sentences tested, and its tables, what was printed beside what was measured.

use serde_json::Value;

use super::super::form::{Block, BlockTable, Section};
use super::json::{MOST, all_texts, items, number, text, texts, time};
use super::other;

pub(super) fn study(document: &Value, id: String) -> Section {
    let words = |finding: &Value| ["claim", "answer", "answer_in_the_paper"].map(|key| text(finding, key).to_string());
    let tested = items(document, "findings").iter().take(MOST).map(|finding| words(finding).to_vec());
    let tested = BlockTable::new("<<<", &["the paper says", "here", "in the paper"], tested);
    let section = Section::new(id, format!("Study: {}", text(document, "title"))).with(Block::Table(tested));
    items(document, "tables").iter().take(MOST).fold(section, |section, table| {
        section.with_titled(text(table, "title"), Block::Table(printed(table))).with(Block::List(texts(table, "notes")))
    })
}

/// A table of the document. The doubts of a row are in the document alone.
fn printed(table: &Value) -> BlockTable {
    const MOST_COLUMNS: usize = 20;
    let columns = all_texts(table, "columns", MOST_COLUMNS);
    let shown: Vec<usize> = (0..columns.len()).filter(|&place| columns[place] != "doubts").collect();
    let titles: Vec<String> =
        shown.iter().map(|&place| columns[place].trim_end_matches("_ns").replace('_', " ")).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let sides: String = (0..titles.len()).map(|place| if place == 0 { '<' } else { '>' }).collect();
    let cells = |row: &Vec<Value>| shown.iter().map(|&place| cell(row.get(place).unwrap_or(&Value::Null))).collect();
    let rows = items(table, "rows").iter().take(MOST).filter_map(Value::as_array).map(cells);
    BlockTable::new(&sides, &titles, rows)
}

/// A time or a figure with its interval, or what else stands there.
fn cell(value: &Value) -> String {
    let interval = |ends: [&str; 3], words: fn(f64) -> String| {
        let [value, low, high] = ends.map(|key| number(value, key).map(words));
        let value = value?;
        Some(low.zip(high).map_or_else(|| value.clone(), |(low, high)| format!("{value} ({low} to {high})")))
    };
    interval(["ns", "low_ns", "high_ns"], |ns| time(Some(ns)))
        .or_else(|| interval(["value", "low", "high"], record::units::significant))
        .unwrap_or_else(|| other::cell(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_study_shows_what_was_printed_beside_what_was_measured() {
        let document = json!({
            "paper": "vax", "title": "The VAX CPU",
            "findings": [{"claim": "Memory is slow", "answer": "yes", "answer_in_the_paper": "no"}],
            "tables": [{"title": "one access", "columns": ["memory", "printed", "here_ns", "doubts"], "notes": ["read"],
                        "rows": [["8200", "1.2 µs", {"ns": 3.0, "low_ns": 2.0, "high_ns": 4.0}, []], ["8600", ".6 µs", null, []]]}],
        });
        let section = study(&document, "study-1".into());
        assert_eq!(section.title, "Study: The VAX CPU");
        let Block::Table(tested) = &section.blocks[0] else { panic!("{section:?}") };
        assert_eq!(tested.rows, [["Memory is slow", "yes", "no"]]);
        let Block::Table(table) = &section.blocks[2] else { panic!("{section:?}") };
        assert_eq!(
            table.columns.iter().map(|column| column.title.as_str()).collect::<Vec<_>>(),
            ["memory", "printed", "here"]
        );
        assert_eq!(table.rows, [["8200", "1.2 µs", "3.00 ns (2.00 ns to 4.00 ns)"], ["8600", ".6 µs", "-"]]);
    }
}
