//! Packs the published schemas into the program: half a megabyte of JSON becomes a tenth of it.

use std::io::{Result, Write};
use std::path::Path;

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=schemas");
    let mut schemas: Vec<(String, String)> = std::fs::read_dir("schemas")?
        .map(|entry| {
            let path = entry?.path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            Ok((name, std::fs::read_to_string(path)?))
        })
        .collect::<Result<_>>()?;
    schemas.sort();
    let out = std::env::var("OUT_DIR").map_err(std::io::Error::other)?;
    let names: String = schemas.iter().map(|(name, _)| format!("{name:?}, ")).collect();
    std::fs::write(Path::new(&out).join("names.rs"), format!("&[{names}]"))?;
    let file = std::fs::File::create(Path::new(&out).join("schemas.deflate"))?;
    let mut packed = flate2::write::DeflateEncoder::new(file, flate2::Compression::best());
    for (_, schema) in &schemas {
        // No JSON holds a zero byte.
        write!(packed, "{schema}\0")?;
    }
    packed.finish()?;
    Ok(())
}
