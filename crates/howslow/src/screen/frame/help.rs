//! The help, and the line at the foot: the keys, or what is being typed.

use anstyle::Style;

use crate::screen::canvas::{Area, Canvas, Spans, plain};
use crate::screen::state::{Mode, State};

/// Keys, and what they do.
const KEYS: &[(&str, &str)] = &[
    ("↑ ↓  k j", "choose a row; PgUp PgDn by pages, End or G the last one"),
    ("Home  g", "choose whatever comes first"),
    ("< >  ← →", "sort by the column beside"),
    ("1 to 9", "sort by the first to the ninth column"),
    ("P  N", "sort by time in the kernel, by id; the same key again or R reverses"),
    ("/", "show only rows whose name, cgroup or id has this; Esc shows all"),
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

const KEY: Style = Style::new().bold();
const ASIDE: Style = Style::new().dimmed();

pub(super) fn draw(canvas: &mut Canvas, area: Area) {
    let mut lines: Vec<Spans> =
        KEYS.iter().map(|(keys, does)| vec![(format!("  {keys:<10}"), KEY), plain(*does)]).collect();
    lines.push(Vec::new());
    lines.extend(WHAT.iter().map(|line| vec![plain(format!("  {line}"))]));
    let inside = canvas.bordered(area, " keys ");
    canvas.write(inside, lines);
}

pub(super) fn foot(state: &State, canvas: &mut Canvas, area: Area) {
    let line = match &state.mode {
        Mode::Filter(_) => typed("filter: ", &state.settings.filter, "  Enter keeps it, Esc does not"),
        Mode::Every(typed_so_far) => typed("seconds, from 0.1 to 3600: ", typed_so_far, "  Enter, Esc"),
        Mode::Help => Vec::new(),
        Mode::Table => {
            let [first, last, all] = state.places();
            let keys = "?help  q quit  / filter  < > sort  R reverse  f freeze  c cgroups  d interval";
            vec![(format!("{first}-{last} of {all}  {keys}"), ASIDE)]
        }
    };
    canvas.write(area, [line]);
}

fn typed(what: &str, text: &str, keys: &str) -> Spans {
    vec![(what.into(), KEY), plain(text), plain("█"), (keys.into(), ASIDE)]
}
