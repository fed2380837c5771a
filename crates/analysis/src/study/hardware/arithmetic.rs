//! The paper's arithmetic repeated from the printed times: the mysteries, the buffer memory, the consequences, and its
//! factors for the one program that it timed as a whole.

use super::parts::DATA;
use crate::statistics::ratio;
use crate::study::definition::Paper;
use crate::study::table::{Cell, TableAnswer};

const OLD_CALL: &str = "multics-645/multics.call";
const CALL: &str = "multics-6180/multics.call";
const OLD_NOTHING: &str = "multics-645/multics.nothing";
const NOTHING: &str = "multics-6180/multics.nothing";
const OLD_WITHIN: &str = "multics-645/multics.nothing.within";
const WITHIN: &str = "multics-6180/multics.nothing.within";
const OLD_ACCESS: &str = "multics-645/ge600.memory.access";
pub(super) const ACCESS: &str = "multics-6180/ge600.memory.access";
const OLD_CYCLE: &str = "multics-645/ge600.memory.cycle";
const CYCLE: &str = "multics-6180/ge600.memory.cycle";
const OLD_STORE: &str = "multics-645/ge600.sta";
const OLD_STORE_POINTER: &str = "multics-645/ge600.stpbp";
const STORE_LENGTH: &str = "multics-6180-adjusted/ge600.sarl";
const OTHER_STORE: &str = "gcos-6080/ge600.sta";
const OTHER_STORE_LENGTH: &str = "gcos-6080/ge600.sarl";

/// The access time of the buffer memory that the paper proposes, in ns.
pub(super) const BUFFER: f64 = 70.0;
/// References of the call-save-return sequence that wait for memory: 39 inhibited overlaps, and two for each of the 13
/// indirect addresses.
pub(super) const REFERENCES: f64 = 39.0 + 2.0 * 13.0;
/// The paper's final speed-up, and the one that had been promised.
const ACHIEVED: f64 = 1.8;
const PROMISED: f64 = 2.5;
/// The paper's estimate of the effect on a whole program when the handicap is removed.
const ADJUSTMENT: f64 = 1.1;

struct PaperSum {
    what: &'static str,
    formula: &'static str,
    printed: &'static str,
    unit: &'static str,
    /// The rounding step of the printed figure.
    step: f64,
    /// In `unit`.
    value: fn(&Printed) -> f64,
}

/// Gives a printed time in ns.
type Printed<'a> = dyn Fn(&str) -> f64 + 'a;

/// One row from its five texts, the step and the sum.
macro_rules! sum {
    ($what:literal, $formula:literal, $printed:literal $unit:literal, $step:literal, $value:expr) => {
        PaperSum { what: $what, formula: $formula, printed: $printed, unit: $unit, step: $step, value: $value }
    };
}

const SUMS: &[PaperSum] = &[
    sum!("memory, nominal", "1000 / 500", "2" "x", 1.0, |ns| ns(OLD_CYCLE) / ns(CYCLE)),
    sum!("memory, as seen by the processor", "1100 / 660", "1.7" "x", 0.1, |ns| ns(OLD_ACCESS) / ns(ACCESS)),
    sum!("call-save-return", "170 / 110", "1.54" "x", 0.01, |ns| ns(OLD_CALL) / ns(CALL)),
    sum!("nothing", "25 / 14", "1.8" "x", 0.1, |ns| ns(OLD_NOTHING) / ns(NOTHING)),
    sum!("nothing less wall-crossings", "21.7 / 13.6", "1.6" "x", 0.1, |ns| ns(OLD_WITHIN) / ns(WITHIN)),
    sum!("the same, handicap removed", "21.7 / 13.6 x 1.1", "1.8" "x", 0.1, |ns| {
        ns(OLD_WITHIN) / ns(WITHIN) * ADJUSTMENT
    }),
    sum!("6080 sarl as sta without overlap", "1000 + 660", "1660" "ns", 1.0, |ns| ns(OTHER_STORE) + ns(ACCESS)),
    sum!("mystery: 6180 sarl beyond the 6080's", "2130 - 1660", "470" "ns", 10.0, |ns| {
        ns(STORE_LENGTH) - ns(OTHER_STORE_LENGTH)
    }),
    sum!("the same as a share", "1660 / 2130", "73" "%", 1.0, |ns| {
        ns(OTHER_STORE_LENGTH) / ns(STORE_LENGTH) * 100.0
    }),
    sum!("mystery: 645 stpbp short of sta without overlap", "2250 + 1100 - 2870", "480" "ns", 10.0, |ns| {
        ns(OLD_STORE) + ns(OLD_ACCESS) - ns(OLD_STORE_POINTER)
    }),
    sum!("stpbp with both mysteries mended", "2870 / 1450", "2.0" "x", 0.1, |ns| ns(OLD_STORE_POINTER) / 1450.0),
    sum!("references that wait in call-save-return", "39 + 2 x 13", "65" "", 1.0, |_| REFERENCES),
    sum!("saved of each by a buffer memory", "660 - 70", "590" "ns", 10.0, |ns| ns(ACCESS) - BUFFER),
    sum!("saved of all", "65 x 590", "38" "µs", 1.0, |ns| REFERENCES * (ns(ACCESS) - BUFFER) / 1e3),
    sum!("call-save-return with a buffer memory", "110 / (110 - 38)", "1.5" "x", 0.1, |ns| {
        ns(CALL) / (ns(CALL) - REFERENCES * (ns(ACCESS) - BUFFER))
    }),
    sum!("users fewer than promised", "1 - 1.8 / 2.5", "30" "%", 10.0, |_| (1.0 - ACHIEVED / PROMISED) * 100.0),
    sum!("cost per operation above the promise", "2.5 / 1.8 - 1", "40" "%", 10.0, |_| {
        (PROMISED / ACHIEVED - 1.0) * 100.0
    }),
];

impl PaperSum {
    fn row(&self, paper: &Paper) -> Vec<Cell> {
        // If the books lack a cost, the value is not a number, and the cell says so.
        let value = (self.value)(&|id| paper.cost(id).map_or(f64::NAN, |cost| cost.value));
        let printed: Option<f64> = self.printed.parse().ok();
        let follows =
            printed.map(|printed| ((value / self.step).round() * self.step - printed).abs() < self.step / 2.0);
        let verdict = match follows {
            Some(false) if value.is_finite() => "departs",
            _ => "",
        };
        vec![
            Cell::Text(self.what.into()),
            Cell::Text(self.formula.into()),
            Cell::Printed(self.printed.into()),
            Cell::Text(self.unit.into()),
            if value.is_finite() { Cell::Number(value) } else { Cell::Unknown },
            Cell::Text(verdict.into()),
        ]
    }
}

/// Every sum as printed and recomputed.
pub(super) fn table(paper: &Paper) -> TableAnswer {
    DATA.table("sums", SUMS.iter().map(|sum| sum.row(paper)))
}

/// F = f1 f2 f3 f4 for the do-nothing command, as far as the paper measured it.
pub(super) fn factors(paper: &Paper) -> TableAnswer {
    let over = |old: &str, new: &str| ratio(paper.cost(old)?, paper.cost(new)?);
    let (whole, hardware) = (over(OLD_NOTHING, NOTHING), over(OLD_WITHIN, WITHIN));
    let crossing = whole.zip(hardware).map(|(whole, hardware)| whole.value / hardware.value);
    let row = |factor: &str, what: &str, cell: Cell, how: &str| {
        vec![Cell::Text(factor.into()), Cell::Text(what.into()), cell, Cell::Text(how.into())]
    };
    DATA.table(
        "factors",
        vec![
            row(
                "f1",
                "raw hardware",
                Cell::known(hardware.map(|figure| figure.value)),
                "the command less its wall-crossing",
            ),
            row("f2", "ring-crossing hardware", Cell::known(crossing), "what the wall-crossing adds: F / f1"),
            row("f3", "EIS instructions", Cell::Unknown, "not measured apart: it is within f1"),
            row("f4", "bulk store for drum", Cell::Number(1.0), "no page fault in either"),
            row("F", "whole", Cell::known(whole.map(|figure| figure.value)), "f1 f2 f4, exactly"),
        ],
    )
}
