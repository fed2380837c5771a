//! Helpers that operations and their tests share. It contains no operation.

pub(crate) mod area;
pub(crate) mod baseline;
pub(crate) mod block;
pub(crate) mod call;
pub(crate) mod channel;
pub(crate) mod check;
pub(crate) mod child;
pub(crate) mod cycle;
pub(crate) mod folder;
pub(crate) mod handler;
pub(crate) mod huge;
pub(crate) mod invoke;
pub(crate) mod loops;
pub(crate) mod mapping;
pub(crate) mod mask;
pub(crate) mod places;
pub(crate) mod process;
pub(crate) mod program;
pub(crate) mod ring;
pub(crate) mod sandbox;
pub(crate) mod scratch;
pub(crate) mod shared;
pub(crate) mod team;
pub(crate) mod tree;
#[cfg(test)]
pub(crate) mod trial;
pub(crate) mod turn;
pub(crate) mod unit;
pub(crate) mod work;
