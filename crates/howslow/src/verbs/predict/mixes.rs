//! Mixes by name: files, and the mixes that come with howslow.

use std::path::Path;

use record::{Mix, printable};

use crate::output::Misuse;

/// Name and text of every mix that comes with howslow.
const MIXES: &[(&str, &str)] = &[
    ("call-save-return", include_str!("../../../mixes/call-save-return.toml")),
    ("true", include_str!("../../../mixes/true.toml")),
    ("echo", include_str!("../../../mixes/echo.toml")),
    ("cargo-check", include_str!("../../../mixes/cargo-check.toml")),
    ("find", include_str!("../../../mixes/find.toml")),
    ("git-status", include_str!("../../../mixes/git-status.toml")),
    ("http-server", include_str!("../../../mixes/http-server.toml")),
    ("nginx", include_str!("../../../mixes/nginx.toml")),
    ("pgbench-select", include_str!("../../../mixes/pgbench-select.toml")),
    ("python-start", include_str!("../../../mixes/python-start.toml")),
    ("rsync-nothing", include_str!("../../../mixes/rsync-nothing.toml")),
    ("sqlite-insert", include_str!("../../../mixes/sqlite-insert.toml")),
    ("tar", include_str!("../../../mixes/tar.toml")),
];

/// The names of the mixes that come with howslow.
pub(crate) fn mix_names() -> impl Iterator<Item = &'static str> {
    MIXES.iter().map(|(name, _)| *name)
}

const MOST_BYTES: u64 = 1 << 20;

/// Reads a mix: a file, or one that comes with howslow.
pub(crate) fn open_mix(name: &str) -> Result<Mix, Misuse> {
    let shown = printable(name);
    let own = MIXES.iter().find(|(known, _)| *known == name);
    let text = match own {
        Some((_, text)) => (*text).to_string(),
        None => {
            let looks = name.contains('/') || name.ends_with(".toml") || Path::new(name).exists();
            if !looks {
                let known = mix_names().collect::<Vec<_>>().join(", ");
                return Err(Misuse(format!(
                    "'{shown}' is neither a file nor a mix that comes with howslow; those are {known}"
                )));
            }
            record::read_text(Path::new(name), MOST_BYTES)
                .map_err(|error| Misuse(format!("cannot read the mix {shown}: {error}")))?
        }
    };
    Mix::from_toml(&text).map_err(|error| Misuse(format!("{shown}: {error}")))
}
