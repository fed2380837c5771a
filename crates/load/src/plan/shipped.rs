//! The plans that come with the program.

use super::whole::{Plan, PlanError};

pub const SHIPPED: [(&str, &str); 3] = [
    ("fortran", include_str!("../../plans/fortran.toml")),
    ("developer", include_str!("../../plans/developer.toml")),
    ("cliff", include_str!("../../plans/cliff.toml")),
];

/// The plan of this name; `None` if none that comes with the program has it. Fails as [`Plan::from_toml`] does, which a
/// test excludes.
pub fn shipped(name: &str) -> Option<Result<Plan, PlanError>> {
    SHIPPED.iter().find(|(known, _)| *known == name).map(|(_, text)| Plan::from_toml(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plan_that_is_shipped_is_one() {
        for (name, _) in SHIPPED {
            let plan = shipped(name).expect("shipped").unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(plan.name, name);
            assert!(!plan.about.is_empty() && plan.takes(plan.axes.configurations().len()) < 600.0, "{name}");
        }
        assert!(shipped("cobol").is_none());
    }

    #[cfg(feature = "schema")]
    #[test]
    fn the_published_schema_is_the_one_the_type_gives() {
        let made = serde_json::to_string_pretty(&schemars::schema_for!(Plan)).expect("JSON") + "\n";
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas/load-plan.json");
        if std::env::var_os("HOWSLOW_WRITE_SCHEMA").is_some() {
            std::fs::write(path, made).expect("docs/schemas can be written");
            return;
        }
        let published = std::fs::read_to_string(path).expect("published");
        assert_eq!(published, made, "docs/schemas/load-plan.json: HOWSLOW_WRITE_SCHEMA=1 cargo test -p howslow-load");
    }
}
