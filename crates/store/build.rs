//! Packs the books into the program: 430 kB of text become a quarter of it.

use std::io::{Result, Write};
use std::path::Path;

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=books");
    let out = std::env::var("OUT_DIR").map_err(std::io::Error::other)?;
    for entry in std::fs::read_dir("books")? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let file = std::fs::File::create(Path::new(&out).join(name + ".deflate"))?;
        let mut packed = flate2::write::DeflateEncoder::new(file, flate2::Compression::best());
        packed.write_all(&std::fs::read(path)?)?;
        packed.finish()?;
    }
    Ok(())
}
