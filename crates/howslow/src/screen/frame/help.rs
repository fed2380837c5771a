//! The help, and the line at the foot: the keys, or what is being typed.

use ratatui_core::layout::Rect;
use ratatui_core::style::Stylize;
use ratatui_core::terminal::Frame;
use ratatui_core::text::{Line, Span};
use ratatui_widgets::block::Block;
use ratatui_widgets::paragraph::Paragraph;

use crate::screen::state::{Mode, State};

const KEYS: &[(&str, &str)] = &[
    ("↑ ↓  k j", "choose a row; PgUp PgDn by pages, End or G the last one"),
    ("Home  g", "choose whatever comes first"),
    ("< >  ← →", "sort by the column beside"),
    ("1 to 9", "sort by the first to the ninth column"),
    ("P  N", "sort by time in the kernel, by id; the same key again or R reverses"),
    ("/", "show only rows whose name or cgroup has this, or whose id is this; Esc shows all"),
    ("f  space", "freeze the screen, and go on"),
    ("d  s", "the length of an interval in seconds"),
    ("t  c", "cgroups in place of processes, and back"),
    ("Enter", "the pane of the chosen row, or none"),
    ("Ctrl-L", "draw the screen again"),
    ("q", "end; so does Ctrl-C"),
];
const WHAT: &[&str] = &[
    "COST is the count of everything that a process asks of the kernel, times its price in the run:",
    "milliseconds of processor time in each second. KERNEL and USER are what the kernel charged, in",
    "per cent of one CPU, by its samples. ×23 stands for 23 processes that began and ended meanwhile.",
    "Dim rows were idle in the last interval, or ended in it. Any key leaves this help.",
];

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect) {
    let bold = |keys: &str| Span::from(format!("  {keys:<10}")).bold();
    let mut lines: Vec<Line<'_>> = Vec::new();
    lines.extend(KEYS.iter().map(|(keys, does)| Line::from(vec![bold(keys), Span::from(*does)])));
    lines.push(Line::default());
    lines.extend(WHAT.iter().map(|line| Line::from(format!("  {line}"))));
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(" keys ")), area);
}

pub(super) fn foot(state: &State, frame: &mut Frame<'_>, area: Rect) {
    let line = match &state.mode {
        Mode::Filter(_) => typed("filter: ", &state.settings.filter, "  Enter keeps it, Esc does not"),
        Mode::Every(typed_so_far) => typed("seconds, from 0.1 to 3600: ", typed_so_far, "  Enter, Esc"),
        Mode::Help => Line::from(""),
        Mode::Table => {
            let [first, last, all] = state.places();
            let keys = "?help  q quit  / filter  < > sort  R reverse  f freeze  c cgroups  d interval";
            Line::from(format!("{first}-{last} of {all}  {keys}")).dim()
        }
    };
    frame.render_widget(line, area);
}

fn typed<'a>(what: &'a str, text: &'a str, keys: &'a str) -> Line<'a> {
    Line::from(vec![Span::from(what).bold(), Span::from(text), Span::from("█"), Span::from(keys).dim()])
}
