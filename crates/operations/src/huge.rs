//! What the kernel put in huge pages, as it says of each mapping of this process (proc_pid_smaps(5)).

use std::ffi::c_void;

use measure::Failure;

/// Memory without a file, and pages of a file.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Anonymous,
    OfFile,
}

/// Bytes of huge pages of this kind in the mapping that holds `place`.
///
/// # Errors
/// A skip where the kernel does not say.
pub(crate) fn huge_bytes(place: *const c_void, kind: Kind) -> Result<usize, Failure> {
    match std::fs::read_to_string("/proc/self/smaps") {
        Ok(maps) => Ok(said(&maps, place as usize, kind)),
        Err(error) => {
            let reason = format!("cannot see whether memory is in huge pages: /proc/self/smaps: {error}");
            Err(Failure::skip(reason, "mount /proc"))
        }
    }
}

/// The same by the text of the file; 0 if it says none.
fn said(maps: &str, address: usize, kind: Kind) -> usize {
    let name = match kind {
        Kind::Anonymous => "AnonHugePages:",
        Kind::OfFile => "FilePmdMapped:",
    };
    let mut ours = false;
    for line in maps.lines() {
        let mut fields = line.split_ascii_whitespace();
        let Some(first) = fields.next() else { continue };
        if let Some((start, end)) = first.split_once('-') {
            if let (Ok(start), Ok(end)) = (usize::from_str_radix(start, 16), usize::from_str_radix(end, 16)) {
                ours = (start..end).contains(&address);
            }
        } else if ours && first == name {
            return fields.next().and_then(|kib| kib.parse::<usize>().ok()).map_or(0, |kib| kib << 10);
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn huge_pages_are_read_from_the_mapping_that_holds_the_address() {
        let maps = "1000-2000 rw-p 00000000 00:00 0\nSize: 4 kB\nAnonHugePages:         0 kB\n\
                    200000-a00000 rw-p 00000000 00:00 0 \nRss: 8192 kB\nAnonHugePages:      6144 kB\n\
                    FilePmdMapped:      4096 kB\n\
                    a00000-b00000 rw-p 00000000 00:00 0\nAnonHugePages:      2048 kB\n";
        let said = |address| said(maps, address, Kind::Anonymous);
        assert_eq!(said(0x20_0000), 6 << 20);
        assert_eq!(said(0x9f_ffff), 6 << 20);
        assert_eq!(said(0x1000), 0);
        assert_eq!(said(0xb0_0000), 0);
        assert_eq!(super::said(maps, 0x20_0000, Kind::OfFile), 4 << 20);
        assert_eq!(super::said("", 0x1000, Kind::OfFile), 0);
    }
}
