//! The derived costs and their routes, from `derivations.toml`.

use std::sync::LazyLock;

use serde::{Deserialize, Deserializer};

use super::route::Route;
use super::written::{NamedPoints, route};

pub const SIGNAL: &str = "signal delivery";
pub const SWITCH: &str = "context switch";

/// A cost that cannot be measured alone, and the routes to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Derivation {
    /// What is derived.
    pub name: &'static str,
    /// The routes, the most direct first.
    pub routes: &'static [Route],
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Derivations {
    /// The costs derived from howslow's own operations.
    pub derived: Vec<Derivation>,
    /// The same for runs that have the parts of one route: what waking a halted CPU costs, and what a switch costs beyond itself, by
    /// size of the working set that the next task finds gone from the caches.
    pub if_measured: Vec<Derivation>,
    /// The costs that the paper of RSX derived from its own directives.
    pub rsx: Vec<Derivation>,
}

/// The derivations that come with howslow.
pub static DERIVATIONS: LazyLock<Derivations> = LazyLock::new(|| {
    toml::from_str(include_str!("derivations.toml")).unwrap_or_else(|error| unreachable!("derivations.toml: {error}"))
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DerivationText {
    name: String,
    routes: Vec<String>,
}

impl<'de> Deserialize<'de> for Derivation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Derivation, D::Error> {
        let DerivationText { name, routes } = DerivationText::deserialize(deserializer)?;
        let routes: Vec<_> = routes.iter().map(|text| route(text, &NamedPoints::new())).collect();
        Ok(Derivation { name: name.leak(), routes: routes.leak() })
    }
}
