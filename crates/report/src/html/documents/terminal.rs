//! Pseudo-terminals: the paper's Figures 2-1 and 2-2, keystrokes, transfers, editors.

use serde_json::Value;

use super::super::form::{Block, BlockTable, Section};
use super::json::{self, MOST, count, items, number, text, time};
use super::other;
use crate::terminal::pseudo::{DrawnFlow, flow_charts};

pub(super) fn terminal(document: &Value, id: String) -> Section {
    let flows = |key: &str, rate: &str| -> Vec<DrawnFlow<'_>> {
        let drawn = |flow| {
            let [size, rate, left] = ["write_bytes", rate, "cpu_left"].map(|key| number(flow, key));
            Some(DrawnFlow { path: text(flow, "path"), size: size?, rate: rate?, left: left? })
        };
        items(document, key).iter().take(MOST).filter_map(drawn).collect()
    };
    let charts = flow_charts(&flows("highest", "bytes_per_cpu_second"), &flows("paced", "bytes_per_second"));
    let section = Section::new(id, "Terminals");
    let section = charts.into_iter().fold(section, |section, (_, chart)| section.with(Block::Chart(chart)));
    section
        .with_titled("From a keystroke to its echo", Block::Table(keystrokes(document)))
        .with_titled("File transfer through a terminal", Block::Table(transfers(document)))
        .with_titled("Editors", other::list(items(document, "editors")))
}

fn keystrokes(document: &Value) -> BlockTable {
    let rows = items(document, "keystrokes").iter().take(MOST).map(|typed| {
        let quantiles = typed.get("latency").map_or(&[][..], |latency| items(latency, "quantiles"));
        let within = |name| {
            let found = quantiles.iter().find(|quantile| text(quantile, "name") == name);
            time(found.and_then(|quantile| number(quantile, "ns")))
        };
        let apart = number(typed, "pause_s").filter(|&pause| pause > 0.0).map(|pause| pause * 1e9);
        let apart = apart.map_or_else(|| "in a row".into(), |ns| time(Some(ns)));
        vec![text(typed, "echo").into(), apart, within("p50"), within("p90"), within("p99")]
    });
    BlockTable::new("<>>>>", &["echoed by", "typed apart", "half within", "90 in 100", "99 in 100"], rows)
}

fn transfers(document: &Value) -> BlockTable {
    let rows = items(document, "transfers").iter().take(MOST).map(|transfer| {
        let echo = if transfer["echo"] == true { "yes" } else { "no" };
        let rate = number(transfer, "bytes").zip(number(transfer, "elapsed_s")).map(|(bytes, s)| bytes / s);
        let [size, reads] = ["read_bytes", "reads"].map(|key| count(number(transfer, key)));
        vec![text(transfer, "input").into(), echo.into(), size, reads, json::rate(rate)]
    });
    BlockTable::new("<<>>>", &["input", "echo", "bytes a read", "reads", "rate"], rows)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{AnonymousDocument, document_section};
    use super::*;

    #[test]
    fn the_figures_have_a_curve_for_each_path_also_without_names() {
        let flow =
            |path, size| json!({"path": path, "write_bytes": size, "bytes_per_cpu_second": 1e6, "cpu_left": 0.5});
        let document = json!({
            "highest": [flow("raw", 1), flow("raw", 64), flow("pipe", 1)], "paced": [],
            "keystrokes": [{"echo": "program", "pause_s": 0.0, "latency": {"quantiles": [{"name": "p50", "ns": 2e3}]}}],
        });
        let section = document_section(&AnonymousDocument::of(&document), "", 1);
        let Block::Chart(chart) = &section.blocks[0] else { panic!("{section:?}") };
        let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(names, ["raw", "pipe"]);
        let Some(Block::Table(table)) = section.blocks.last() else { panic!("{section:?}") };
        assert_eq!(table.rows, [["program", "in a row", "2.00 µs", "-", "-"]]);
    }
}
