//! The table of processes or cgroups.

use analysis::bill::Who;
use ratatui_core::layout::{Alignment, Constraint, Rect};
use ratatui_core::style::Style;
use ratatui_core::terminal::Frame;
use ratatui_core::text::Text;
use ratatui_widgets::table::{Cell, Row, Table};

use crate::screen::column::{Column, has_ended, known};
use crate::screen::memory::Entry;
use crate::screen::state::State;

/// Columns in the order in which they go when there is no room; the name and the cost stay.
const FIRST_TO_GO: [Column; 7] =
    [Column::Switches, Column::Faults, Column::User, Column::Errors, Column::Kernel, Column::Calls, Column::Pid];
/// The name has at least this width.
const NAME: u16 = 16;

/// The columns that fit, and that are known.
fn columns(state: &State, width: u16) -> Vec<Column> {
    let mut shown = known(&state.about);
    let needed = |shown: &[Column]| {
        let widths = shown.iter().filter(|column| **column != Column::Name).map(|column| column.width() + 1);
        widths.sum::<u16>() + NAME
    };
    for column in FIRST_TO_GO {
        if needed(&shown) > width {
            shown.retain(|kept| *kept != column);
        }
    }
    shown
}

pub(super) fn draw(state: &State, frame: &mut Frame<'_>, area: Rect) {
    let columns = columns(state, area.width);
    let width = |column: &Column| match column {
        Column::Name => Constraint::Min(1),
        column => Constraint::Length(column.width()),
    };
    let header = Row::new(columns.iter().map(|column| heading(state, *column))).style(Style::new().bold().reversed());
    let rows = state.in_sight().map(|(entry, chosen)| row(state, &columns, entry, chosen));
    frame.render_widget(Table::new(rows, columns.iter().map(width)).header(header).column_spacing(1), area);
}

fn heading(state: &State, column: Column) -> Cell<'static> {
    let title = column.title_in(state.settings.view);
    let sorted = state.settings.sort == column;
    let direction = if state.settings.reversed { "▲" } else { "▼" };
    let sign = if sorted { direction } else { "" };
    aligned(column, format!("{title}{sign}"))
}

fn row(state: &State, columns: &[Column], entry: &Entry, chosen: bool) -> Row<'static> {
    let account = &entry.account;
    let several = account.processes > 1 && matches!(account.who, Who::Process(_));
    let cells = columns.iter().map(|column| {
        let mut text = column.text(account, state.elapsed_ns);
        if *column == Column::Name && several {
            text += &format!(" ×{}", account.processes);
        }
        aligned(*column, text)
    });
    let style = match () {
        () if chosen => Style::new().reversed(),
        () if entry.idle > 0 || has_ended(account) => Style::new().dim(),
        () => Style::new(),
    };
    Row::new(cells).style(style)
}

fn aligned(column: Column, text: String) -> Cell<'static> {
    let side = if column == Column::Name { Alignment::Left } else { Alignment::Right };
    Cell::from(Text::from(text).alignment(side))
}
