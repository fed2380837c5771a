//! A run, several runs, and documents of other verbs as one HTML page: a single file without network, readable without its script.

mod blocks;
mod compared;
mod costs;
mod curves;
mod documents;
mod first;
mod form;
mod gallery;
mod ladder;
mod nearest;
mod own;
mod shell;
mod study;
mod unfolded;

pub use compared::factors_section;
pub use documents::{AnonymousDocument, document_section};
pub use form::{CostHistories, EarlierFigure, HtmlPage, PageDetail, PageRun, Section};
pub use gallery::{GalleryMachine, gallery_index, gallery_pair};
pub use nearest::nearest_reference;
pub use shell::html_page;
pub use study::study_section;
