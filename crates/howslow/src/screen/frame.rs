//! A frame of a state: heading, table, the pane of the chosen row, and a line for keys. A small terminal shows less of it.

mod head;
mod help;
mod pane;
mod table;

use ratatui_core::layout::{Constraint, Layout, Rect};
use ratatui_core::terminal::Frame;

use crate::screen::state::{Mode, State};

/// A pane needs a terminal of this height, and at least these rows.
const WITH_PANE: u16 = 18;
const LEAST_PANE: u16 = 8;
/// A heading of more than one line needs this height.
const WITH_HEAD: u16 = 10;

struct Areas {
    head: Rect,
    table: Rect,
    pane: Rect,
    foot: Rect,
}

fn areas(area: Rect, state: &State) -> Areas {
    let tall = area.height >= WITH_HEAD;
    let head = if tall { head::lines(state, area.width) } else { 1 };
    let pane = if state.pane && area.height >= WITH_PANE { (area.height * 2 / 5).max(LEAST_PANE) } else { 0 };
    let foot = u16::from(tall || state.mode != Mode::Table);
    let parts = [Constraint::Length(head), Constraint::Min(1), Constraint::Length(pane), Constraint::Length(foot)];
    let [head, table, pane, foot] = Layout::vertical(parts).areas(area);
    Areas { head, table, pane, foot }
}

pub fn draw(state: &mut State, frame: &mut Frame<'_>) {
    let areas = areas(frame.area(), state);
    // The first line of the table is its heading.
    state.fit(usize::from(areas.table.height.saturating_sub(1)));
    let state = &*state;
    head::draw(state, frame, areas.head);
    if state.mode == Mode::Help {
        let [body, _] = Layout::vertical([Constraint::Fill(1), Constraint::Length(areas.foot.height)])
            .areas(areas.table.union(areas.pane).union(areas.foot));
        help::draw(frame, body);
    } else {
        table::draw(state, frame, areas.table);
        if areas.pane.height > 0 {
            pane::draw(state, frame, areas.pane);
        }
    }
    help::foot(state, frame, areas.foot);
}
