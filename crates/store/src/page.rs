//! Runs inside an HTML page of `howslow report`: compressed, in scripts of a type that no browser runs.

use std::io::{Read, Write};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use record::{ReadError, Run};

use crate::error::StoreError;

/// The type of a script that holds a run: its document, compressed by gzip, in base64.
pub const RUN_TYPE: &str = "application/vnd.howslow.run+gzip";

/// Larger pages are refused unread.
const MOST_PAGE: u64 = 64 << 20;
/// A run in a page is no larger than this, whatever a few bytes unpack to.
const MOST_RUN: u64 = 64 << 20;
/// A page of a howslow that is newer may hold more runs.
const MOST_RUNS: usize = 1000;

/// A run as a page holds it. Fails if it could not be read again.
pub fn packed(run: &Run) -> Result<String, StoreError> {
    let document = crate::write::document_of(run)?;
    let unwritable = |error: std::io::Error| StoreError::Unwritable(error.to_string());
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&document).map_err(unwritable)?;
    Ok(STANDARD.encode(encoder.finish().map_err(unwritable)?))
}

/// True for the name of a page, or of one of its runs: `page.html`, `page.html#2`.
pub(crate) fn is_page(name: &str) -> bool {
    split(name).0.ends_with(".html")
}

/// The file, and the number of the run in it, from 1.
fn split(name: &str) -> (&str, Option<usize>) {
    let numbered = name.rsplit_once('#').filter(|(page, _)| page.ends_with(".html"));
    match numbered.and_then(|(page, number)| Some((page, number.parse().ok()?))) {
        Some((page, number)) => (page, Some(number)),
        None => (name, None),
    }
}

/// Reads the run of this name; without a number the first one of the page.
pub(crate) fn open_page(name: &str) -> Result<Run, StoreError> {
    let (path, number) = split(name);
    let path = Path::new(path);
    let failed = |source| StoreError::Read { path: path.into(), source };
    let text = record::read_text(path, MOST_PAGE).map_err(|error| failed(ReadError::Io(error)))?;
    let runs: Vec<&str> = runs_in(&text).take(MOST_RUNS).collect();
    let number = number.unwrap_or(1);
    let wanted = number.checked_sub(1).and_then(|place| runs.get(place));
    let wanted = wanted.ok_or_else(|| StoreError::NoRun { path: path.into(), number, runs: runs.len() })?;
    record::run_from_bytes(&unpacked(wanted).map_err(failed)?).map_err(failed)
}

fn runs_in(page: &str) -> impl Iterator<Item = &str> {
    let opening = format!("<script type=\"{RUN_TYPE}\"");
    let mut rest = page;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once(&opening)?;
        let (_, after) = after.split_once('>')?;
        let (run, after) = after.split_once("</script>")?;
        rest = after;
        Some(run)
    })
}

fn unpacked(packed: &str) -> Result<Vec<u8>, ReadError> {
    let damaged = |why: String| ReadError::Malformed(format!("the run in the page is damaged: {why}"));
    let bytes = STANDARD.decode(packed.trim()).map_err(|error| damaged(error.to_string()))?;
    let mut document = Vec::new();
    let unpacking = GzDecoder::new(bytes.as_slice()).take(MOST_RUN + 1).read_to_end(&mut document);
    unpacking.map_err(|error| damaged(error.to_string()))?;
    if document.len() as u64 > MOST_RUN { Err(ReadError::TooLarge) } else { Ok(document) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(runs: &[&str]) -> tempfile::NamedTempFile {
        let file = tempfile::Builder::new().suffix(".html").tempfile().expect("a file");
        let script = |run: &&str| format!("<script type=\"{RUN_TYPE}\" id=\"run\">{run}</script>\n");
        let text = format!("<!doctype html>{}", runs.iter().map(script).collect::<String>());
        std::fs::write(file.path(), text).expect("written");
        file
    }

    fn name(file: &tempfile::NamedTempFile, end: &str) -> String {
        format!("{}{end}", file.path().display())
    }

    #[test]
    fn runs_come_out_of_a_page_as_they_went_in() {
        let runs = ["pdp-11-24", "multics-645"].map(|name| crate::book(name).expect("a book").expect("valid").run());
        let packed: Vec<String> = runs.iter().map(|run| packed(run).expect("packed")).collect();
        let file = page(&[&packed[0], &packed[1]]);
        assert_eq!(crate::Store::open_any(&name(&file, "")).expect("a run"), runs[0]);
        assert_eq!(crate::Store::open_any(&name(&file, "#2")).expect("a run"), runs[1]);
        for absent in ["#0", "#3"] {
            let why = open_page(&name(&file, absent)).expect_err("no such run").to_string();
            assert!(why.contains("2 runs") && why.contains(".html#1"), "{why}");
        }
    }

    #[test]
    fn a_hostile_page_is_a_sentence() {
        let bomb = {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            (0..=MOST_RUN >> 20).for_each(|_| encoder.write_all(&[b' '; 1 << 20]).expect("memory"));
            STANDARD.encode(encoder.finish().expect("memory"))
        };
        let text = STANDARD.encode("not gzip");
        for (run, why) in [("%%%", "damaged"), (text.as_str(), "damaged"), (&bomb, "larger"), ("", "damaged")] {
            let file = page(&[run]);
            let error = open_page(&name(&file, "")).expect_err(why).to_string();
            assert!(error.contains(why), "{error}");
        }
        let error = open_page(&name(&page(&[]), "")).expect_err("no run").to_string();
        assert!(error.contains("holds no run"), "{error}");
    }
}
