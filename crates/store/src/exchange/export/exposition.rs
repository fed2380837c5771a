//! An exposition of metrics as scrapers read it, in two dialects: OpenMetrics 1.0.0, and the Prometheus text format, which is
//! what the node exporter's textfile collector reads. They differ in the names of counters, in the type `info`, and in the end.

use std::collections::HashSet;
use std::fmt::Write;

/// The dialect of an exposition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// OpenMetrics 1.0.0, for scrapers.
    OpenMetrics,
    /// The Prometheus text format, version 0.0.4, for the node exporter's textfile collector, which cannot read OpenMetrics.
    Prometheus,
}

/// What the samples of a family are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// They only grow.
    Counter,
    /// They go up and down.
    Gauge,
    /// Labels alone.
    Info,
}

/// An exposition that is being written, family by family.
pub(crate) struct Exposition {
    dialect: Dialect,
    text: String,
    family: &'static str,
    kind: Kind,
    /// The samples of the family, so that none is written twice: scrapers refuse the whole text otherwise.
    written: HashSet<String>,
}

impl Exposition {
    pub(crate) fn new(dialect: Dialect) -> Exposition {
        Exposition { dialect, text: String::new(), family: "", kind: Kind::Gauge, written: HashSet::new() }
    }

    /// Begins a family. A unit is the end of its name.
    pub(crate) fn family(&mut self, name: &'static str, kind: Kind, help: &str) {
        (self.family, self.kind) = (name, kind);
        self.written.clear();
        let open = self.dialect == Dialect::OpenMetrics;
        let (written, kind) = match kind {
            Kind::Counter if open => (name.to_string(), "counter"),
            Kind::Info if open => (name.to_string(), "info"),
            Kind::Counter => (format!("{name}_total"), "counter"),
            Kind::Info => (format!("{name}_info"), "gauge"),
            Kind::Gauge => (name.to_string(), "gauge"),
        };
        let _ = writeln!(self.text, "# TYPE {written} {kind}");
        let mut units = ["seconds", "bytes"].into_iter();
        let unit = units.find(|unit| name.strip_suffix(unit).is_some_and(|base| base.ends_with('_')));
        if let Some(unit) = unit.filter(|_| open) {
            let _ = writeln!(self.text, "# UNIT {written} {unit}");
        }
        let _ = writeln!(self.text, "# HELP {written} {help}");
    }

    /// A sample of the family, with the names and values of its labels. What is not finite, and a second sample with the same
    /// labels, is left out.
    pub(crate) fn sample(&mut self, labels: &[(impl AsRef<str>, impl AsRef<str>)], value: f64) {
        let shown = labels.iter().map(|(name, value)| format!("{}=\"{}\"", name.as_ref(), escaped(value.as_ref())));
        let shown: Vec<String> = shown.collect();
        let shown = if shown.is_empty() { String::new() } else { format!("{{{}}}", shown.join(",")) };
        if !value.is_finite() || !self.written.insert(shown.clone()) {
            return;
        }
        let end = match self.kind {
            Kind::Counter => "_total",
            Kind::Info => "_info",
            Kind::Gauge => "",
        };
        let _ = writeln!(self.text, "{}{end}{shown} {value}", self.family);
    }

    pub(crate) fn finish(self) -> String {
        match self.dialect {
            Dialect::OpenMetrics => self.text + "# EOF\n",
            Dialect::Prometheus => self.text,
        }
    }
}

/// The value of a label: a backslash, a quote and a line end are escaped, so that no text can end its label.
fn escaped(text: &str) -> String {
    record::printable(text).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// A label's name made of an axis's: letters, digits and underscores, not beginning with a digit or two underscores.
pub(crate) fn label_name(axis: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = axis.chars().map(plain).collect();
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { format!("axis_{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_label_stays_a_label() {
        let mut text = Exposition::new(Dialect::Prometheus);
        text.family("howslow_cost_seconds", Kind::Gauge, "Costs.");
        for (run, value) in [("a\"} 1\nroot{x=\"", 2.0), ("b\\", f64::NAN), ("b\\", 3.0), ("b\\", 4.0)] {
            text.sample(&[("run", run)], value);
        }
        let text = text.finish();
        let samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(samples.len(), 2, "{text}");
        assert!(samples[0].starts_with("howslow_cost_seconds{run=\"a\\\"} 1\u{fffd}root{x=\\\"\"} 2"), "{text}");
        assert_eq!(samples[1], "howslow_cost_seconds{run=\"b\\\\\"} 3");
        assert!(!text.contains("NaN"));
    }

    #[test]
    fn axes_become_names_of_labels() {
        assert_eq!(label_name("size"), "size");
        assert_eq!(label_name("__name__"), "axis___name__");
        assert_eq!(label_name("2\"x"), "axis_2_x");
        assert_eq!(label_name(""), "axis_");
    }
}
