//! What a page is made of: its runs, its sections, and how much it shows.

use std::collections::BTreeMap;

use record::Run;

use crate::chart::{Chart, Flame, Heat};

/// A part of a page with a heading.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Its anchor: `studies`.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// What stands in it.
    pub blocks: Vec<Block>,
}

impl Section {
    /// An empty section.
    pub(crate) fn new(id: impl Into<String>, title: impl Into<String>) -> Section {
        Section { id: id.into(), title: title.into(), blocks: Vec::new() }
    }

    /// The section with one more block, unless that is empty.
    #[must_use]
    pub(crate) fn with(mut self, block: Block) -> Section {
        if !block.is_empty() {
            self.blocks.push(block);
        }
        self
    }

    /// The section with one more block below a heading, unless that block is empty.
    #[must_use]
    pub(crate) fn with_titled(self, title: &str, block: Block) -> Section {
        if block.is_empty() { self } else { self.with(Block::Heading(title.into())).with(block) }
    }
}

/// What stands in a section.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A heading below that of the section.
    Heading(String),
    /// Running text.
    Text(String),
    /// Sentences, each by itself.
    List(Vec<String>),
    Table(BlockTable),
    /// Curves.
    Chart(Chart),
    /// A matrix.
    Heat(Heat),
    /// A flame graph: its title, what it weighs, the stacks.
    Flame(String, String, Flame),
    /// What is shown on request, below its title.
    Folded(String, Vec<Block>),
}

impl Block {
    fn is_empty(&self) -> bool {
        match self {
            Block::Heading(text) | Block::Text(text) => text.is_empty(),
            Block::List(list) => list.is_empty(),
            Block::Table(table) => table.rows.is_empty(),
            Block::Chart(chart) => chart.series.iter().all(|series| series.points.is_empty()),
            Block::Heat(heat) => heat.rows.is_empty() || heat.columns.is_empty(),
            Block::Flame(_, _, flame) => flame.is_empty(),
            Block::Folded(_, blocks) => blocks.iter().all(Block::is_empty),
        }
    }
}

/// A table of texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockTable {
    /// The headings of its columns.
    pub columns: Vec<BlockColumn>,
    /// Its rows. The first cell names the row.
    pub rows: Vec<Vec<String>>,
}

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockColumn {
    /// Its heading.
    pub title: String,
    /// True for figures.
    pub right: bool,
}

impl BlockTable {
    /// A table of these rows, whose columns hold words (`<`) or figures (`>`), as in `<>>`.
    pub(crate) fn new(sides: &str, titles: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> BlockTable {
        let column = |(side, title): (char, &&str)| BlockColumn { title: (*title).into(), right: side == '>' };
        BlockTable { columns: sides.chars().zip(titles).map(column).collect(), rows: rows.into_iter().collect() }
    }
}

pub struct PageRun<'a> {
    /// What it is called.
    pub name: String,
    /// The run as the page shows and holds it.
    pub run: &'a Run,
    /// The run in the format `run_type` of the page, in base64; empty if the page does not hold it.
    pub packed: String,
}

/// A figure of an earlier run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EarlierFigure {
    /// How many days before the newest run.
    pub days_before: f64,
    /// The figure in ns.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
}

/// The figures of earlier runs by the name of the cost, oldest first.
pub type CostHistories = BTreeMap<String, Vec<EarlierFigure>>;

/// How much a page shows of each cost. A large run is shown more briefly, so that the page stays small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PageDetail {
    /// A row alone.
    Rows,
    /// What it consists of and its doubts.
    Words,
    /// The samples too.
    Samples,
}

/// What a page is made of.
pub struct HtmlPage<'a> {
    /// Its runs, the base first; none for a page of documents.
    pub runs: &'a [PageRun<'a>],
    /// The type of the scripts that hold them.
    pub run_type: &'a str,
    /// The reference machines of the first run's architecture.
    pub references: &'a [Run],
    /// The machine that the first run is compared with: one that was named, else the nearest reference.
    pub compared: Option<&'a Run>,
    /// The command that takes such a run again; empty if it is not known.
    pub command: String,
    /// Figures of earlier runs.
    pub histories: &'a CostHistories,
    /// Further sections, in their order.
    pub sections: Vec<Section>,
    /// How much it shows.
    pub detail: PageDetail,
    /// True if names were left out.
    pub anonymous: bool,
    /// A link back to the index of a gallery.
    pub index: Option<&'a str>,
}

impl HtmlPage<'_> {
    /// True if it shows a row of each cost and no more.
    pub(super) fn is_brief(&self) -> bool {
        self.detail == PageDetail::Rows
    }
}

/// The anchor of a cost in the page: its id and point as typed.
pub(super) fn anchor(cost: &record::Cost) -> String {
    anchor_of(&record::printable(&cost.typed()))
}

/// The same of what was typed.
pub(super) fn anchor_of(typed: &str) -> String {
    const MOST: usize = 160;
    typed.chars().map(|c| if c.is_whitespace() { '_' } else { c }).take(MOST).collect()
}
