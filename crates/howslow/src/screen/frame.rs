//! A frame of a state: heading, table, the pane of the chosen row, and a line for keys. A small terminal shows less of it.

mod head;
mod help;
mod pane;
mod table;

use crate::screen::canvas::{Area, Canvas};
use crate::screen::state::{Mode, State};

/// A pane needs a terminal of this height, and at least these rows.
const WITH_PANE: u16 = 18;
const LEAST_PANE: u16 = 8;
/// A heading of more than one line needs this height.
const WITH_HEAD: u16 = 10;

/// Where things are.
struct Areas {
    head: Area,
    table: Area,
    pane: Area,
    foot: Area,
}

fn areas(area: Area, state: &State) -> Areas {
    let tall = area.height >= WITH_HEAD;
    let head = if tall { head::lines(state, area.width) } else { 1 };
    let pane = if state.pane && area.height >= WITH_PANE { (area.height * 2 / 5).max(LEAST_PANE) } else { 0 };
    let foot = u16::from(tall || state.mode != Mode::Table);
    // The table has at least one line.
    let (above_foot, foot) = area.top(area.height.saturating_sub(foot));
    let (head, rest) = above_foot.top(head.min(above_foot.height.saturating_sub(pane + 1)));
    let (table, pane) = rest.top(rest.height.saturating_sub(pane));
    Areas { head, table, pane, foot }
}

/// Draws a frame.
pub fn draw(state: &mut State, canvas: &mut Canvas) {
    let areas = areas(canvas.area(), state);
    // The first line of the table is its heading.
    state.fit(usize::from(areas.table.height.saturating_sub(1)));
    let state = &*state;
    head::draw(state, canvas, areas.head);
    if state.mode == Mode::Help {
        let height = areas.table.height + areas.pane.height;
        help::draw(canvas, Area { height, ..areas.table });
    } else {
        table::draw(state, canvas, areas.table);
        if areas.pane.height > 0 {
            pane::draw(state, canvas, areas.pane);
        }
    }
    help::foot(state, canvas, areas.foot);
}
