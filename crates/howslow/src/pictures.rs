//! `--svg DIR`: the charts of a page as files. The folder is checked before anything is measured.

use std::path::Path;

use report::Style;
use report::chart::Chart;

use crate::output::{self, Misuse};

/// Checks that pictures can be written into this folder, where one was requested.
pub(crate) fn check(folder: Option<&Path>) -> Result<(), Misuse> {
    let Some(folder) = folder else { return Ok(()) };
    if !folder.is_dir() {
        let name = output::shown(folder);
        return Err(Misuse(format!("--svg: {name} is not a folder; create it, or name another")));
    }
    let why = |error| Misuse(format!("--svg: {error}; choose another folder"));
    store::check_writable(&folder.join("chart.svg")).map_err(why)
}

/// Writes charts into the folder, where one was requested: each the name of its file without the ending, and an SVG document. Each file
/// is complete or absent, and one that is there is replaced.
pub(crate) fn write<N: AsRef<str>>(
    folder: Option<&Path>,
    pictures: impl IntoIterator<Item = (N, String)>,
) -> anyhow::Result<()> {
    let Some(folder) = folder else { return Ok(()) };
    for (name, svg) in pictures {
        let path = folder.join(file_name(name.as_ref()));
        store::write_whole(&path, svg.as_bytes())?;
        output::print_note(&format!("wrote {}", output::shown(&path)));
    }
    Ok(())
}

/// The same of charts.
pub(crate) fn write_charts<N: AsRef<str>>(
    folder: Option<&Path>,
    charts: impl IntoIterator<Item = (N, Chart)>,
) -> anyhow::Result<()> {
    write(folder, charts.into_iter().map(|(name, chart)| (name, chart.svg())))
}

/// The charts below the text of a page.
pub(crate) fn drawn<N>(charts: &[(N, Chart)], style: Style) -> String {
    charts.iter().map(|(_, chart)| format!("\n{}", chart.text(style.width()))).collect()
}

/// The name with what file names should not contain replaced: `crossover-file.read-file.read.mapped.svg`.
fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') { c } else { '-' };
    let name: String = name.chars().map(plain).take(100).collect();
    format!("{}.svg", name.trim_matches(['-', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_harmless_names() {
        assert_eq!(file_name("crossover file.read/file.read.mapped"), "crossover-file.read-file.read.mapped.svg");
        assert_eq!(file_name("../../etc/passwd"), "etc-passwd.svg");
        assert!(file_name(&"é".repeat(500)).len() <= 104);
    }

    #[test]
    fn a_folder_is_checked_and_files_are_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        check(Some(folder.path())).expect("writable");
        let pictures = [("one", "<svg/>".into()), ("other", "<svg></svg>".into())];
        write(Some(folder.path()), pictures).expect("written");
        assert_eq!(std::fs::read_to_string(folder.path().join("one.svg")).expect("a file"), "<svg/>");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 2, "nothing else is left");
        for bad in [folder.path().join("absent"), folder.path().join("one.svg"), "/proc".into()] {
            let why = check(Some(&bad)).expect_err("no place for files").0;
            assert!(why.starts_with("--svg: ") && why.contains(';'), "{why}");
        }
    }
}
