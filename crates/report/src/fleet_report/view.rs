//! What of a fleet is shown, and names as they are shown.

use analysis::fleet::{ClassFound, Found};

/// What of a fleet is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FleetView<'a> {
    /// Only the class of this name.
    pub class: Option<&'a str>,
    /// Every node, cost and class, however little it shows.
    pub all: bool,
}

impl FleetView<'_> {
    pub(super) fn has(&self, class: &str) -> bool {
        self.class.is_none_or(|wanted| wanted == class)
    }

    /// The classes that are shown.
    pub(super) fn classes<'f>(&self, found: &'f Found) -> impl Iterator<Item = &'f ClassFound> {
        found.classes.iter().filter(|class| self.has(&class.class.name))
    }

    /// How many of a list are shown.
    pub(super) fn most(&self, few: usize) -> usize {
        if self.all { usize::MAX } else { few }
    }
}

/// The name of a node or of a cost, sizes with their unit, without what a terminal would take for a command.
pub(super) fn shown(name: &str) -> String {
    record::printable(&record::typed_name(name))
}
