//! `howslow schema`: the JSON Schemas, from the types.

use anyhow::Context;
use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::output::{self, Outcome};

const DESCRIBED: &str = "\
Examples:
  howslow schema > howslow-run.schema.json
  howslow schema compare
Exit status: 0 done; 1 failed; 2 misused: there is no such document.";

/// Print the JSON Schema of a run, or of what a verb prints with --json
#[derive(Debug, Args)]
#[command(after_help = DESCRIBED)]
pub(crate) struct SchemaArgs {
    /// The document
    #[arg(value_name = "DOCUMENT", default_value = "run", value_parser = documents())]
    pub document: String,
}

/// The documents that have a schema.
fn documents() -> PossibleValuesParser {
    PossibleValuesParser::new(report::document::documents())
}

pub(crate) fn schema(args: &SchemaArgs) -> anyhow::Result<Outcome> {
    output::print(
        &report::document::schema(&args.document)
            .with_context(|| format!("there is no document '{}'", args.document))?,
    )?;
    Ok(Outcome::Done)
}
