//! What is shown: which rows in which order, which one is chosen, and what each key changes.

use std::time::Duration;

use analysis::bill::{Account, Stretch, Who};
use record::printable;

use crate::screen::about::{About, View};
use crate::screen::column::{Column, known};
use crate::screen::key::Key;
use crate::screen::memory::{Entry, Memory};

/// What the user chose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    pub every: Duration,
    pub sort: Column,
    /// True if the last comes first.
    pub reversed: bool,
    /// Only rows whose id, name or cgroup contains this are shown.
    pub filter: String,
    pub view: View,
}

/// What the user of a [`State`] has to do after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// End.
    Quit,
    /// Give the terminal back to the shell until continued.
    Suspend,
    /// Draw everything again.
    Redraw,
    /// The interval has another length now.
    Every(Duration),
}

/// What keys are for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    #[default]
    Table,
    Help,
    /// A filter is typed; what it was before.
    Filter(String),
    /// A length of the interval is typed.
    Every(String),
}

/// All that a frame shows.
#[derive(Clone, Debug, Default)]
pub struct State {
    pub(crate) about: About,
    pub(crate) settings: Settings,
    pub(crate) mode: Mode,
    pub(crate) frozen: bool,
    pub(crate) pane: bool,
    /// The length of the last interval, in ns.
    pub(crate) elapsed_ns: f64,
    /// All processes of the last interval together.
    pub(crate) total: Option<Account>,
    processes: Memory,
    cgroups: Memory,
    /// The rows in order.
    rows: Vec<Who>,
    /// The chosen row; `None` is whatever comes first.
    chosen: Option<Who>,
    /// Where it is.
    place: usize,
    /// The first row that is shown, and how many are.
    offset: usize,
    height: usize,
}

/// The shortest and the longest interval, in seconds.
const LENGTHS: [f64; 2] = [0.1, 3600.0];
/// The longest filter.
const LONGEST: usize = 60;

impl State {
    /// One that has seen nothing yet.
    pub fn new(about: About, settings: Settings) -> State {
        State { about, settings, pane: true, height: 1, ..State::default() }
    }

    pub fn every(&self) -> Duration {
        self.settings.every
    }

    /// What is known of the counting may change: something was lost.
    pub fn inform(&mut self, about: About) {
        self.about = about;
    }

    /// So many in the last interval, as a number per second.
    pub(crate) fn per_second(&self, count: f64) -> f64 {
        count / (self.elapsed_ns / 1e9).max(1e-9)
    }

    /// Takes an interval in, unless it is frozen.
    pub fn update(&mut self, mut interval: Stretch) {
        if self.frozen {
            return;
        }
        for account in &mut interval.processes {
            account.name = printable(&account.name);
            account.cgroup = account.cgroup.take().map(|name| printable(&name));
        }
        let (elapsed_ns, cgroups) = (interval.elapsed_ns, interval.cgroups());
        (self.elapsed_ns, self.total) = (elapsed_ns, interval.total());
        let column = self.trend_of();
        let measure = |account: &Account| match column {
            Some(column) => column.value(account, elapsed_ns).unwrap_or(0.0),
            None => account.usage.cpu_ns.unwrap_or(0.0) / elapsed_ns.max(1.0) * 100.0,
        };
        self.processes.update(interval.processes, measure);
        self.cgroups.update(cgroups, measure);
        self.arrange();
    }

    /// The column that trends show; `None` is all processor time.
    pub(crate) fn trend_of(&self) -> Option<Column> {
        let column = if self.about.prices.is_some() { Column::Cost } else { Column::Calls };
        self.about.counts_calls.then_some(column)
    }

    fn memory(&self) -> &Memory {
        if self.settings.view == View::Processes { &self.processes } else { &self.cgroups }
    }

    /// Sorts and filters the rows, and finds the chosen one again.
    fn arrange(&mut self) {
        let sort = self.settings.sort;
        let filter = self.settings.filter.to_lowercase();
        let mut entries: Vec<&Entry> = self.memory().entries().filter(|entry| fits(entry, &filter)).collect();
        entries.sort_by(|one, other| {
            let (a, b) = (&one.account, &other.account);
            let order = sort.order(a, b, self.elapsed_ns);
            let order = if self.settings.reversed { order.reverse() } else { order };
            // Rows that are alike keep an order of their own.
            order.then(b.calls.cmp(&a.calls)).then_with(|| a.who.cmp(&b.who))
        });
        self.rows = entries.into_iter().map(|entry| entry.account.who.clone()).collect();
        let found = self.chosen.as_ref().and_then(|chosen| self.rows.iter().position(|who| who == chosen));
        let nearest = self.place.min(self.rows.len().saturating_sub(1));
        self.place = if self.chosen.is_some() { found.unwrap_or(nearest) } else { 0 };
        if self.chosen.is_some() && found.is_none() {
            self.chosen = self.rows.get(self.place).cloned();
        }
        self.scroll();
    }

    /// Keeps the chosen row in sight.
    fn scroll(&mut self) {
        let last = self.rows.len().saturating_sub(self.height);
        self.offset = self.offset.min(last).min(self.place).max((self.place + 1).saturating_sub(self.height));
    }

    /// How many rows fit on the screen.
    pub fn fit(&mut self, height: usize) {
        self.height = height.max(1);
        self.scroll();
    }

    pub fn accounts(&self) -> impl Iterator<Item = &Account> {
        self.rows.iter().filter_map(|who| Some(&self.memory().get(who)?.account))
    }

    /// The rows in sight, and whether each is the chosen one.
    pub(crate) fn in_sight(&self) -> impl Iterator<Item = (&Entry, bool)> {
        let rows = self.rows.iter().enumerate().skip(self.offset).take(self.height);
        rows.filter_map(|(place, who)| Some((self.memory().get(who)?, place == self.place)))
    }

    pub(crate) fn chosen(&self) -> Option<&Entry> {
        self.rows.get(self.place).and_then(|who| self.memory().get(who))
    }

    /// The number of the first row in sight, from 1, of the last one, and of all.
    pub(crate) fn places(&self) -> [usize; 3] {
        let all = self.rows.len();
        [(self.offset + 1).min(all), (self.offset + self.height).min(all), all]
    }

    /// What a key does.
    pub fn press(&mut self, key: Key) -> Option<Action> {
        match (&self.mode, key) {
            (_, Key::Control('c')) => return Some(Action::Quit),
            (_, Key::Control('z')) => return Some(Action::Suspend),
            (_, Key::Control('l')) => return Some(Action::Redraw),
            (Mode::Help, _) => self.mode = Mode::Table,
            (Mode::Filter(_), _) => self.type_filter(key),
            (Mode::Every(_), _) => return self.type_every(key),
            (Mode::Table, _) => return self.command(key),
        }
        None
    }

    fn command(&mut self, key: Key) -> Option<Action> {
        let page = self.height.saturating_sub(1).max(1);
        match key {
            Key::Char('q') | Key::Function(10) => return Some(Action::Quit),
            Key::Up | Key::Char('k') => self.go(self.place.saturating_sub(1)),
            Key::Down | Key::Char('j') => self.go(self.place + 1),
            Key::PageUp | Key::Control('b') => self.go(self.place.saturating_sub(page)),
            Key::PageDown | Key::Control('f') => self.go(self.place + page),
            Key::End | Key::Char('G') => self.go(usize::MAX),
            Key::Home | Key::Char('g') => {
                self.chosen = None;
                self.arrange();
            }
            Key::Left | Key::Char('<') => self.sort_beside(known(&self.about).len() - 1),
            Key::Right | Key::Char('>') => self.sort_beside(1),
            Key::Char('R' | 'I') => self.reverse(),
            Key::Char('P') => self.sort(Column::Kernel),
            Key::Char('N') => self.sort(Column::Pid),
            Key::Char(digit @ '1'..='9') => {
                if let Some(column) = known(&self.about).get(digit as usize - '1' as usize) {
                    self.sort(*column);
                }
            }
            Key::Char('/') | Key::Function(3 | 4) => self.mode = Mode::Filter(self.settings.filter.clone()),
            Key::Escape => {
                self.settings.filter.clear();
                self.arrange();
            }
            Key::Char('f' | ' ') => self.frozen = !self.frozen,
            Key::Char('d' | 's') => self.mode = Mode::Every(String::new()),
            Key::Char('t' | 'c') => self.other_view(),
            Key::Enter => self.pane = !self.pane,
            Key::Char('?' | 'h') | Key::Function(1) => self.mode = Mode::Help,
            _ => {}
        }
        None
    }

    fn go(&mut self, place: usize) {
        self.place = place.min(self.rows.len().saturating_sub(1));
        self.chosen = self.rows.get(self.place).cloned();
        self.scroll();
    }

    fn sort(&mut self, column: Column) {
        if self.settings.sort == column {
            return self.reverse();
        }
        (self.settings.sort, self.settings.reversed) = (column, false);
        self.arrange();
    }

    /// Sorts by the known column that is so many places further right; behind the last is the first.
    fn sort_beside(&mut self, steps: usize) {
        let columns = known(&self.about);
        let at = columns.iter().position(|column| *column == self.settings.sort).unwrap_or(0);
        self.sort(columns[(at + steps) % columns.len()]);
    }

    fn reverse(&mut self) {
        self.settings.reversed = !self.settings.reversed;
        self.arrange();
    }

    fn other_view(&mut self) {
        let is_first = self.settings.view == View::Processes;
        self.settings.view = if is_first { View::Cgroups } else { View::Processes };
        (self.chosen, self.place) = (None, 0);
        self.arrange();
    }

    fn type_filter(&mut self, key: Key) {
        match key {
            Key::Enter => self.mode = Mode::Table,
            Key::Escape => {
                if let Mode::Filter(before) = std::mem::take(&mut self.mode) {
                    self.settings.filter = before;
                }
            }
            Key::Backspace => drop(self.settings.filter.pop()),
            Key::Control('u') => self.settings.filter.clear(),
            Key::Char(character) if self.settings.filter.chars().count() < LONGEST => {
                self.settings.filter.push(character);
            }
            _ => return,
        }
        self.arrange();
    }

    fn type_every(&mut self, key: Key) -> Option<Action> {
        let Mode::Every(typed) = &mut self.mode else { return None };
        match key {
            Key::Char(digit @ ('0'..='9' | '.')) if typed.len() < 8 => typed.push(digit),
            Key::Backspace => drop(typed.pop()),
            Key::Escape => self.mode = Mode::Table,
            Key::Enter => {
                let seconds = typed.parse::<f64>().ok().filter(|seconds| (LENGTHS[0]..=LENGTHS[1]).contains(seconds));
                self.mode = Mode::Table;
                self.settings.every = Duration::from_secs_f64(seconds?);
                return Some(Action::Every(self.settings.every));
            }
            _ => {}
        }
        None
    }
}

fn fits(entry: &Entry, filter: &str) -> bool {
    let account = &entry.account;
    let holds = |text: &str| text.to_lowercase().contains(filter);
    filter.is_empty()
        || holds(&account.name)
        || account.cgroup.as_deref().is_some_and(holds)
        || matches!(account.who, Who::Process(pid) if pid.to_string() == filter)
}
