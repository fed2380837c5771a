//! Interference: a matrix for each place where the other work runs.

use serde_json::Value;

use super::super::form::{Block, BlockTable, Section};
use super::json::{added, items, number, text};
use crate::chart::{Heat, Unit};

const KINDS: usize = 40;

pub(super) fn interference(document: &Value, id: String) -> Section {
    let cells: Vec<&Value> = items(document, "cells").iter().filter(|cell| items(cell, "beside").len() == 1).collect();
    let mut places: Vec<&str> = Vec::new();
    let (mut victims, mut aggressors): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let loads: Vec<&Value> = cells.iter().map(|cell| &items(cell, "beside")[0]).collect();
    for (cell, load) in cells.iter().zip(&loads) {
        add(&mut places, text(load, "place"));
        add(&mut victims, text(cell, "victim"));
        add(&mut aggressors, text(load, "kind"));
    }
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
        let known = victims.iter().any(|victim| aggressors.iter().any(|aggressor| cell(victim, aggressor).is_some()));
        if known {
            section = section.with(Block::Heat(Heat {
                title: format!("beside work on {}", place_text(place)),
                rows: victims.iter().map(ToString::to_string).collect(),
                columns: aggressors.iter().map(ToString::to_string).collect(),
                cells: victims
                    .iter()
                    .map(|victim| aggressors.iter().map(|aggressor| cell(victim, aggressor)).collect())
                    .collect(),
                absent: "inconclusive or not measured",
                unit: Unit::Count,
            }));
        }
    }
    let mut several =
        BlockTable::new("<<>>>", &["work", "beside", "measured", "predicted by the product", "by the sum"]);
    for row in items(document, "together").iter().take(KINDS) {
        let points =
            |key: &str| number(row, key).map_or_else(|| "-".into(), |value| format!("{:+.1} %", (value - 1.0) * 100.0));
        let measured = row.get("measured").map(added).unwrap_or_default();
        several.rows.push(vec![
            text(row, "victim").into(),
            super::json::texts(row, "beside").join(", "),
            measured,
            points("product"),
            points("sum"),
        ]);
    }
    section.with_titled("Several at once", Block::Table(several))
}

fn place_text(place: &str) -> &str {
    match place {
        "sibling" => "the core's other hardware thread",
        "other" => "another CPU",
        "same" => "the same CPU",
        other => other,
    }
}

fn add<'v>(list: &mut Vec<&'v str>, name: &'v str) {
    if !list.contains(&name) && list.len() < KINDS {
        list.push(name);
    }
}
