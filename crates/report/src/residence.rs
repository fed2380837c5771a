//! Which pages of a file are in memory: counts, a small map, the ranges.

use std::ops::Range;

use record::Bytes;
use record::units::{counted, grouped, percent};
use serde::{Serialize, Serializer};

use crate::text::Style;

/// Cells of the map. A cell stands for one or more pages.
const CELLS: u64 = 64;

/// The symbols of a cell, by the share of its pages in memory: none, less than half, half and more, all.
const SHADES: [char; 4] = ['.', '-', '+', '#'];

/// Ranges that are shown before the rest is only counted.
const MOST_RANGES: usize = 12;

/// Which pages of a file are in memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ResidentFile {
    /// Its name, printable.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The size of a page in bytes.
    pub page_bytes: u64,
    /// Its number of pages.
    pub pages: u64,
    /// The pages in memory.
    pub resident_pages: u64,
    /// The dirty pages; null if the kernel does not report them.
    pub dirty_pages: Option<u64>,
    /// The pages in memory: from the first page of each range to the one after its last.
    #[serde(serialize_with = "ends")]
    #[schemars(with = "Vec<[u64; 2]>")]
    pub ranges: Vec<Range<u64>>,
}

fn ends<S: Serializer>(ranges: &[Range<u64>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(ranges.iter().map(|range| [range.start, range.end]))
}

/// A paragraph for every file.
pub fn resident_files(files: &[ResidentFile], style: Style) -> String {
    files.iter().map(|file| resident(file, style)).collect::<Vec<_>>().join("\n")
}

fn resident(file: &ResidentFile, style: Style) -> String {
    let share = file.resident_pages as f64 / file.pages.max(1) as f64;
    let dirty = file.dirty_pages.map_or(String::new(), |dirty| format!(", {} of them dirty", whole(dirty)));
    let mut text = format!(
        "{}: {}, {} of {} pages of {} in memory ({}{dirty})\n",
        style.bold(&file.path),
        Bytes(file.bytes),
        whole(file.resident_pages),
        whole(file.pages),
        Bytes(file.page_bytes),
        percent(share),
    );
    if file.pages == 0 {
        return text;
    }
    let each = file.pages.div_ceil(CELLS);
    text += &format!("  [{}]", map(file, each));
    text += &style.dim(&format!("  one sign: {}; . none  - some  + half or more  # all\n", counted(each, "page")));
    if !file.ranges.is_empty() {
        text += &style.paragraph("  pages ", &ranges(&file.ranges));
    }
    text
}

/// A count with spaces between thousands.
fn whole(count: u64) -> String {
    if count < 1000 { count.to_string() } else { grouped(count as f64) }
}

fn map(file: &ResidentFile, each: u64) -> String {
    let mut inside = vec![0; file.pages.div_ceil(each) as usize];
    for range in &file.ranges {
        let mut page = range.start;
        while page < range.end {
            let end = ((page / each + 1) * each).min(range.end);
            inside[(page / each) as usize] += end - page;
            page = end;
        }
    }
    let shade = |(cell, &inside): (usize, &u64)| {
        let whole = each.min(file.pages - cell as u64 * each);
        match inside {
            0 => SHADES[0],
            _ if inside == whole => SHADES[3],
            _ if 2 * inside >= whole => SHADES[2],
            _ => SHADES[1],
        }
    };
    inside.iter().enumerate().map(shade).collect()
}

fn ranges(ranges: &[Range<u64>]) -> String {
    let one = |range: &Range<u64>| match range.end - range.start {
        1 => range.start.to_string(),
        _ => format!("{} to {}", range.start, range.end - 1),
    };
    let mut texts: Vec<String> = ranges.iter().take(MOST_RANGES).map(one).collect();
    if ranges.len() > MOST_RANGES {
        texts.push(format!("and {}", counted((ranges.len() - MOST_RANGES) as u64, "more range")));
    }
    texts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(pages: u64, ranges: &[Range<u64>]) -> ResidentFile {
        ResidentFile {
            path: "a file".into(),
            bytes: pages * 4096,
            page_bytes: 4096,
            pages,
            resident_pages: ranges.iter().map(|range| range.end - range.start).sum(),
            dirty_pages: Some(1),
            ranges: ranges.to_vec(),
        }
    }

    #[test]
    fn the_map_distinguishes_none_some_half_and_all() {
        assert_eq!(map(&file(4, &[1..2, 3..4]), 1), ".#.#");
        // 130 pages: cells of 3, the last one of a single page.
        let text = map(&file(130, &[0..3, 4..5, 6..8, 129..130]), 3);
        assert_eq!((text.len(), &text[..4], &text[43..]), (44, "#-+.", "#"));
    }

    #[test]
    fn a_page_for_every_kind_of_file() {
        let scattered: Vec<_> = (0..100).map(|page| 10 * page..10 * page + 1).collect();
        assert!(ranges(&scattered[..=MOST_RANGES]).ends_with("110, and 1 more range"));
        let all = std::iter::once(0..5).collect::<Vec<_>>();
        let files = [file(0, &[]), file(5, &all), file(1000, &scattered), file(65_536, &[])];
        insta::assert_snapshot!(resident_files(&files, Style::PLAIN));
    }
}
