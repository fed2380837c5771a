//! Interference: a matrix for each place where the other work runs.

use analysis::distinct;
use serde_json::Value;

use super::super::form::{Block, BlockTable, Section};
use super::json::{added, items, number, text};
use crate::chart::{Heat, Unit};

const KINDS: usize = 40;

pub(super) fn interference<'v>(document: &'v Value, id: String) -> Section {
    let cells: Vec<&'v Value> =
        items(document, "cells").iter().filter(|cell| items(cell, "beside").len() == 1).collect();
    let loads: Vec<&'v Value> = cells.iter().map(|cell| &items(cell, "beside")[0]).collect();
    let each = |of: &[&'v Value], key: &str| -> Vec<&'v str> {
        distinct(of.iter().map(|value| text(value, key))).take(KINDS).collect()
    };
    let [places, victims, aggressors] = [each(&loads, "place"), each(&cells, "victim"), each(&loads, "kind")];
    let mut section = Section::new(id, "Interference").with(Block::Text(
        "How much longer the work of each row takes beside the work of each column, in percent. - is inconclusive or was not measured.".into(),
    ));
    for place in places {
        let cell = |victim: &str, aggressor: &str| {
            let found = cells.iter().zip(&loads).find(|(cell, load)| {
                text(cell, "victim") == victim
                    && text(load, "kind") == aggressor
                    && text(load, "place") == place
                    && number(load, "dose") == Some(1.0)
            });
            let (cell, _) = found.filter(|(cell, _)| cell.get("conclusive").and_then(Value::as_bool) != Some(false))?;
            number(cell.get("elapsed")?, "value").map(|value| ((value - 1.0) * 100.0).round() + 0.0)
        };
        let row = |victim: &&str| aggressors.iter().map(|aggressor| cell(victim, aggressor)).collect();
        let cells: Vec<Vec<Option<f64>>> = victims.iter().map(row).collect();
        if cells.iter().flatten().any(Option::is_some) {
            section = section.with(Block::Heat(Heat {
                title: format!("beside work on {}", place_text(place)),
                rows: victims.iter().map(ToString::to_string).collect(),
                columns: aggressors.iter().map(ToString::to_string).collect(),
                cells,
                absent: "inconclusive or not measured",
                unit: Unit::Count,
            }));
        }
    }
    let several = items(document, "together").iter().take(KINDS).map(|row| {
        let points =
            |key: &str| number(row, key).map_or_else(|| "-".into(), |value| format!("{:+.1} %", (value - 1.0) * 100.0));
        let measured = row.get("measured").map(added).unwrap_or_default();
        let beside = super::json::texts(row, "beside").join(", ");
        vec![text(row, "victim").into(), beside, measured, points("product"), points("sum")]
    });
    let titles = ["work", "beside", "measured", "predicted by the product", "by the sum"];
    section.with_titled("Several at once", Block::Table(BlockTable::new("<<>>>", &titles, several)))
}

fn place_text(place: &str) -> &str {
    match place {
        "sibling" => "the core's other hardware thread",
        "other" => "another CPU",
        "same" => "the same CPU",
        other => other,
    }
}
