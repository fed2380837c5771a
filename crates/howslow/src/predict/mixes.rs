//! Mixes by name: files, and those that come with howslow.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use record::{Mix, printable};

use crate::output::Misuse;

/// Name and text of every mix that comes with howslow.
const MIXES: &[(&str, &str)] = &[
    ("call-save-return", include_str!("../../../../mixes/call-save-return.toml")),
    ("true", include_str!("../../../../mixes/true.toml")),
    ("echo", include_str!("../../../../mixes/echo.toml")),
];

/// More than any mix has.
const MOST_BYTES: u64 = (1 << 20) + 1;

/// Reads a mix: a file, or one that comes with howslow.
///
/// # Errors
/// No such mix, a file that cannot be read, or one that is no mix.
pub(crate) fn open_mix(name: &str) -> Result<Mix, Misuse> {
    let shown = printable(name);
    let own = MIXES.iter().find(|(known, _)| *known == name);
    let text = match own {
        Some((_, text)) => (*text).to_string(),
        None => {
            let looks = name.contains('/') || name.ends_with(".toml") || Path::new(name).exists();
            if !looks {
                let known: Vec<&str> = MIXES.iter().map(|(name, _)| *name).collect();
                let known = known.join(", ");
                return Err(Misuse(format!("'{shown}' is no file and no mix that howslow has, which are {known}")));
            }
            read(Path::new(name)).map_err(|error| Misuse(format!("cannot read the mix {shown}: {error}")))?
        }
    };
    Mix::from_toml(&text).map_err(|error| Misuse(format!("{shown}: {error}")))
}

/// The text of a file, but no more of it than shows that it is too long.
fn read(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MOST_BYTES).read_to_string(&mut text)?;
    Ok(text)
}
