//! Sections of a page and what stands in them.

use maud::{Markup, PreEscaped, html};
use record::printable;

use super::form::{Block, BlockTable, Section};
use crate::chart::{Chart, Heat};

/// More rows than a reader looks at are counted.
const MOST_ROWS: usize = 2000;
/// Blocks in blocks are shown no deeper.
const DEEPEST: usize = 8;

pub(super) fn section(section: &Section) -> Markup {
    html! {
        section id=(section.id) {
            h2 { (printable(&section.title)) }
            @for block in &section.blocks { (self::block(block, 0)) }
        }
    }
}

fn block(block: &Block, depth: usize) -> Markup {
    match block {
        Block::Heading(text) => html! { h3 { (printable(text)) } },
        Block::Text(text) => html! { p { (printable(text)) } },
        Block::List(list) => html! { ul { @for text in list.iter().take(MOST_ROWS) { li { (printable(text)) } } } },
        Block::Table(rows) => table(rows),
        Block::Chart(drawn) => chart(drawn, None),
        Block::Heat(matrix) => heat(matrix),
        Block::Flame(title, what, flame) => html! {
            figure { figcaption { (printable(title)) } div.wide tabindex="0" role="region" aria-label=(printable(title)) { (PreEscaped(flame.figure(title, what))) } }
        },
        Block::Folded(title, blocks) if depth < DEEPEST => html! {
            details { summary { (printable(title)) } @for inner in blocks { (self::block(inner, depth + 1)) } }
        },
        Block::Folded(..) => html! {},
    }
}

/// A chart with its title. With an `id`, the page can show it again.
pub(super) fn chart(chart: &Chart, id: Option<&str>) -> Markup {
    html! { figure.plot { figcaption { (printable(&chart.title)) } (PreEscaped(chart.figure(id))) } }
}

pub(super) fn table(table: &BlockTable) -> Markup {
    let right = |place: usize| table.columns.get(place).is_some_and(|column| column.right);
    let more = table.rows.len().saturating_sub(MOST_ROWS);
    html! {
        div.wide tabindex="0" role="region" aria-label="table" {
            table.plain {
                thead { tr { @for column in &table.columns { th scope="col" class=[column.right.then_some("r")] { (printable(&column.title)) } } } }
                tbody {
                    @for row in table.rows.iter().take(MOST_ROWS) {
                        tr {
                            @for (place, cell) in row.iter().enumerate() {
                                @if place == 0 { th scope="row" { (printable(cell)) } }
                                @else { td class=[right(place).then_some("r")] { (printable(cell)) } }
                            }
                        }
                    }
                }
            }
        }
        @if more > 0 { p.note { "… and " (more) " more rows" } }
    }
}

/// A matrix as a table, shaded by classes of the page's style.
fn heat(heat: &Heat) -> Markup {
    let text = |row: usize, column: usize| heat.cell(row, column).map_or("-".into(), |value| heat.unit.text(value));
    let range = heat.range();
    let class = |row: usize, column: usize| heat.step(row, column, range).map(|step| format!("h{step}"));
    let more = heat.rows.len().saturating_sub(MOST_ROWS);
    html! {
        figure {
            figcaption { (printable(&heat.title)) }
            div.wide tabindex="0" role="region" aria-label=(printable(&heat.title)) {
                table.heat {
                    thead { tr { td {} @for column in &heat.columns { th scope="col" { span { (printable(column)) } } } } }
                    tbody {
                        @for (row, name) in heat.rows.iter().enumerate().take(MOST_ROWS) {
                            tr {
                                th scope="row" { (printable(name)) }
                                @for column in 0..heat.columns.len() { td class=[class(row, column)] { (text(row, column)) } }
                            }
                        }
                    }
                }
            }
            @if let Some((low, high)) = range {
                p.note { "shades: " (heat.unit.text(low)) " to " (heat.unit.text(high)) "; - " (heat.absent) @if more > 0 { "; " (more) " more rows" } }
            }
        }
    }
}
