//! The tuner of a reader: the rate by how far ahead and how much at a time is requested.

use record::Bytes;
use serde_json::Value;

use super::super::form::{Block, BlockTable, Section};
use super::json::{self, items, number, text};
use crate::chart::{Heat, Unit};

const MOST: usize = 40;

pub(super) fn prefetch(document: &Value, id: String) -> Section {
    let axis = |key: &str| -> Vec<u64> { items(document, key).iter().filter_map(Value::as_u64).take(MOST).collect() };
    let (distances, quantities) = (axis("distances"), axis("quantities"));
    let rate = |distance: u64, quantity: u64| {
        let found = items(document, "windows").iter().find(|tried| {
            ["distance", "quantity"].map(|key| tried["of"][key].as_u64()) == [Some(distance), Some(quantity)]
        });
        median(found?)
    };
    let row = |distance: &u64| quantities.iter().map(|quantity| rate(*distance, *quantity)).collect();
    let heat = Heat {
        title: "Rate by the distance ahead (rows) and the quantity of a request (columns)".into(),
        rows: distances.iter().map(|distance| Bytes(*distance).to_string()).collect(),
        columns: quantities.iter().map(|quantity| Bytes(*quantity).to_string()).collect(),
        cells: distances.iter().map(row).collect(),
        absent: "not tried",
        unit: Unit::BytesPerSecond,
    };
    let window = |key: &str| {
        let held = &document[key];
        let bytes = |key: &str| number(held, key).map_or_else(|| "-".into(), |bytes| Bytes(bytes as u64).to_string());
        format!("{} ahead in requests of {}", bytes("distance"), bytes("quantity"))
    };
    let plain = items(document, "plain").iter().take(MOST);
    let plain = plain.map(|tried| vec![text(tried, "of").into(), json::rate(median(tried))]);
    Section::new(id, "Prefetch")
        .with(Block::Text(format!("Best: {}. Recommended: {}.", window("best"), window("recommended"))))
        .with(Block::Heat(heat))
        .with(Block::Table(BlockTable::new("<>", &["without a window", "rate"], plain)))
        .with(Block::List(json::texts(document, "notes")))
}

fn median(tried: &Value) -> Option<f64> {
    analysis::statistics::median(items(tried, "rates").iter().filter_map(Value::as_f64))
}
