//! A document of no kind that is drawn: its fields and lists as tables.

use analysis::distinct;
use serde_json::{Map, Value};

use super::super::form::{Block, BlockTable, Section};

/// Deeper values, and more of a list, are counted.
const DEEPEST: usize = 4;
const MOST_ROWS: usize = 200;
const MOST_COLUMNS: usize = 12;
const MOST_FIELDS: usize = 60;

pub(super) fn other(document: &Value, name: &str, id: String) -> Section {
    blocks(document, 0).into_iter().fold(Section::new(id, name), Section::with)
}

fn blocks(value: &Value, depth: usize) -> Vec<Block> {
    match value {
        Value::Object(fields) => object(fields, depth),
        Value::Array(items) => vec![list(items)],
        other => vec![Block::Text(cell(other))],
    }
}

fn object(fields: &Map<String, Value>, depth: usize) -> Vec<Block> {
    let mut rows = Vec::new();
    let mut inner = Vec::new();
    for (name, value) in fields.iter().take(MOST_FIELDS) {
        let is_simple = match value {
            Value::Object(_) => false,
            Value::Array(items) => items.iter().all(|item| !item.is_object() && !item.is_array()),
            _ => true,
        };
        if is_simple {
            rows.push(vec![name.clone(), cell(value)]);
        } else if depth < DEEPEST {
            inner.push(Block::Folded(name.clone(), blocks(value, depth + 1)));
        }
    }
    [Block::Table(BlockTable::new("<<", &["field", "value"], rows))].into_iter().chain(inner).collect()
}

/// A list of objects as a table of the fields that they have.
pub(super) fn list(items: &[Value]) -> Block {
    let names = items.iter().take(MOST_ROWS).filter_map(Value::as_object).flat_map(Map::keys);
    let names: Vec<&str> = distinct(names.map(String::as_str)).take(MOST_COLUMNS).collect();
    if names.is_empty() {
        return Block::List(items.iter().take(MOST_ROWS).map(cell).collect());
    }
    let row = |item: &Value| names.iter().map(|name| item.get(*name).map(cell).unwrap_or_default()).collect();
    let more = (items.len() > MOST_ROWS).then(|| vec![format!("and {} more", items.len() - MOST_ROWS)]);
    let rows = items.iter().take(MOST_ROWS).map(row).chain(more);
    Block::Table(BlockTable::new(&"<".repeat(names.len()), &names, rows))
}

pub(super) fn cell(value: &Value) -> String {
    const MOST: usize = 200;
    let text = match value {
        Value::Null => "-".into(),
        Value::String(text) => text.chars().take(MOST).collect(),
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), crate::text::number),
        Value::Array(items) => items.iter().take(20).map(cell).collect::<Vec<_>>().join(", "),
        other => serde_json::to_string(other).unwrap_or_default(),
    };
    text.chars().take(MOST).collect()
}
