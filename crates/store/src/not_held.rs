//! What stands for an open database in a program without one.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use record::Run;

use crate::address::Address;
use crate::error::StoreError;
use crate::head::Head;
use crate::rows::{Filter, Row, Series, Table};

/// What a database is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To read.
    Read,
    /// To write.
    Write,
}

/// There is none.
pub(crate) enum Held {}

/// What became of one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImportOutcome {}

/// What happened to files.
#[derive(Debug)]
pub(crate) struct Imported {
    pub kept: Vec<(PathBuf, ImportOutcome)>,
    pub refused: Vec<(PathBuf, String)>,
    pub left: usize,
}

impl ImportOutcome {
    pub(crate) fn is_new(self) -> bool {
        match self {}
    }
}

impl Held {
    pub(crate) fn open(address: &Address, _: &Path, _: Purpose) -> Result<Option<Held>, StoreError> {
        match address {
            Address::Default | Address::Files => Ok(None),
            Address::Sqlite(_) | Address::Postgres(_) => Err(StoreError::NotBuilt(address.to_string())),
        }
    }

    pub(crate) fn place_of(_: &Address, _: &Path) -> Option<String> {
        None
    }

    pub(crate) fn place(&self) -> String {
        match *self {}
    }

    pub(crate) fn heads(&mut self, _: &Filter, _: usize) -> Result<Vec<Head>, StoreError> {
        match *self {}
    }

    pub(crate) fn beginning(&mut self, _: &str) -> Result<Vec<Head>, StoreError> {
        match *self {}
    }

    pub(crate) fn read(&mut self, _: &Head) -> Result<Run, StoreError> {
        match *self {}
    }

    pub(crate) fn costs(
        &mut self,
        _: &Filter,
        _: &dyn Fn(&Series) -> bool,
        _: &mut dyn FnMut(&Table, Row) -> ControlFlow<()>,
    ) -> Result<Table, StoreError> {
        match *self {}
    }

    pub(crate) fn keep(&mut self, _: &[u8]) -> Result<(), StoreError> {
        match *self {}
    }

    pub(crate) fn take_in(&mut self, _: &[PathBuf], _: Option<Instant>) -> Result<Imported, StoreError> {
        match *self {}
    }

    pub(crate) fn has(&mut self, _: ImportOutcome, _: &[u8]) -> bool {
        match *self {}
    }
}
