//! Reads the small files of the kernel.

use std::path::Path;

/// The number behind a word at the beginning of a line: `pgmajfault 17`.
pub(crate) fn field(text: &str, name: &str) -> Option<f64> {
    let mut lines = text.lines().filter_map(|line| line.split_once(char::is_whitespace));
    lines.find_map(|(word, number)| (word == name).then(|| number.trim().parse().ok()).flatten())
}

/// Pages read back into memory that had been there shortly before: those of files, and those from swap, which kernels before
/// Linux 5.9 do not count.
pub(crate) fn refaults(text: &str) -> Option<(f64, Option<f64>)> {
    let files = field(text, "workingset_refault_file").or_else(|| field(text, "workingset_refault"))?;
    Some((files, field(text, "workingset_refault_anon")))
}

/// The text of a file, empty if it cannot be read.
pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// The total in seconds of a line of pressure: `some avg10=0.00 avg60=0.00 avg300=0.00 total=123` (in us).
pub(super) fn pressure(text: &str, kind: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(kind))?;
    let total = line.split_whitespace().find_map(|word| word.strip_prefix("total="))?;
    total.parse::<f64>().ok().map(|us| us / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_whole_words() {
        let text = "pgfault 12\npgmajfault 3\ntotal_pgmajfault 9\n";
        assert_eq!(field(text, "pgmajfault"), Some(3.0));
        assert_eq!(field(text, "majfault"), None);
        let both = "workingset_refault_anon 5\nworkingset_refault_file 7\n";
        assert_eq!(refaults(both), Some((7.0, Some(5.0))));
        assert_eq!(refaults("workingset_refault 9\nworkingset_activate 2\n"), Some((9.0, None)));
        let text = "some avg10=0.00 avg60=0.10 avg300=0.00 total=2500000\nfull avg10=0.00 total=1000000\n";
        assert_eq!((pressure(text, "some"), pressure(text, "full")), (Some(2.5), Some(1.0)));
    }
}
