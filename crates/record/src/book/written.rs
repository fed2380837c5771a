//! A reference machine as the text of a book.

use serde::Serialize;

use super::{Book, Measured, Reference};
use crate::machine::Machine;
use crate::point::{Point, Value};
use crate::units::significant;

/// The tables in front of the costs, which the library writes.
#[derive(Serialize)]
struct Tables<'a> {
    reference: &'a Reference,
    machine: &'a Machine,
}

impl Book {
    /// The text of a book of a reference machine, which [`Book::from_toml`] reads. Figures have five digits, which is more
    /// than any interval carries.
    ///
    /// # Errors
    /// If the book is no reference machine, or would not be read again as it is.
    pub fn reference_toml(&self) -> Result<String, String> {
        let reference = self.reference.as_ref().ok_or("only the book of a reference machine is written")?;
        let mut text = format!(
            "# A reference machine, measured by howslow (docs/REFERENCES.md). Times are in ns.\n\
             name = {}\ntitle = {}\nsource = {}\nmeasured = {}\nmeasured_cost = [\n",
            quoted(&self.name),
            quoted(&self.title),
            quoted(&self.source),
            quoted(&self.measured)
        );
        for cost in &self.measured_costs {
            text += &line(cost);
        }
        let tables = toml::to_string(&Tables { reference, machine: &self.machine });
        text += "]\n\n";
        text += &tables.map_err(|error| format!("the machine cannot be written: {error}"))?;
        Book::from_toml(&text).map_err(|error| error.to_string())?;
        Ok(text)
    }
}

/// A cost on one line: a machine has a thousand of them.
fn line(cost: &Measured) -> String {
    let at = if cost.at.0.is_empty() { String::new() } else { format!(", at = {}", point(&cost.at)) };
    let estimate = cost.estimate.word();
    let [ns, low, high, cycles] = [cost.ns, cost.low, cost.high, cost.cycles].map(digits);
    let bytes = if cost.bytes > 0 { format!(", bytes = {}", cost.bytes) } else { String::new() };
    format!(
        "  {{ operation = {}{at}, version = {}, ns = {ns}, low = {low}, high = {high}, cycles = {cycles}, runs = {}, \
         estimate = \"{estimate}\", cpus = {}, follows_clock = {}, group = {}, per = {}{bytes} }},\n",
        quoted(&cost.operation),
        cost.version,
        cost.runs,
        cost.cpus,
        cost.follows_clock,
        quoted(&cost.group),
        quoted(&cost.per)
    )
}

/// Five significant digits, always with a point.
fn digits(value: f64) -> String {
    const DIGITS: i32 = 5;
    if !value.is_finite() || value == 0.0 {
        return significant(value);
    }
    let decimals = (DIGITS - 1 - value.abs().log10().floor() as i32).clamp(1, 12) as usize;
    format!("{value:.decimals$}")
}

fn point(at: &Point) -> String {
    let axes = at.0.iter().map(|(axis, value)| {
        let value = match value {
            Value::Number(number) | Value::Bytes(number) => number.to_string(),
            Value::Word(word) => quoted(word),
        };
        format!("{} = {value}", quoted(axis))
    });
    format!("{{ {} }}", axes.collect::<Vec<_>>().join(", "))
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.into()).to_string()
}
