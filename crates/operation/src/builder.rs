//! Blocks written as one expression of a constant: an operation that others resemble, and a method for each field that
//! differs.

use record::{Estimate, Point};

use crate::axis::Axis;
use crate::operation::{Need, Operation, Prepare, TermOf};

impl Operation {
    /// An operation that has everything else in common with this one: `id` and `summary` at once. In the family `call`, the
    /// id names the system call that it makes.
    pub const fn named(self, id: &'static str, summary: &'static str) -> Operation {
        Operation { id, summary, ..self }
    }

    /// The same operation, of which one iteration makes these system calls.
    pub const fn calls(self, calls: &'static [&'static str]) -> Operation {
        Operation { calls: Some(calls), ..self }
    }

    /// The same operation, on the path that refuses its calls.
    pub const fn refused(self) -> Operation {
        Operation { refused: true, ..self }
    }

    /// The same operation, in the headline run.
    pub const fn headline(self) -> Operation {
        Operation { headline: true, ..self }
    }

    /// The same operation, which runs only when named.
    pub const fn opt_in(self) -> Operation {
        Operation { opt_in: true, ..self }
    }
}

macro_rules! setters {
    ($($field:ident: $type:ty;)*) => {
        impl Operation {$(
            #[doc = concat!("The same operation, with this `", stringify!($field), "`.")]
            pub const fn $field(self, $field: $type) -> Operation {
                Operation { $field, ..self }
            }
        )*}
    };
}

setters! {
    id: &'static str;
    summary: &'static str;
    version: u32;
    per: &'static str;
    aliases: &'static [&'static str];
    axes: &'static [Axis];
    has_point: fn(&Point) -> bool;
    quoted: Estimate;
    follows_clock: fn(&Point) -> bool;
    waits: fn(&Point) -> bool;
    moves: fn(&Point) -> u64;
    terms: &'static [TermOf];
    explained_by: &'static [TermOf];
    at_least: &'static [&'static str];
    monotonic_in: &'static [&'static str];
    needs: &'static [Need];
    memory: u64;
    patience: f64;
    hung_remedy: &'static str;
    prepare: Prepare;
}
