//! Which memory of this process lies in huge pages, as the kernel reports it for each mapping (proc_pid_smaps(5)).

use std::ffi::c_void;

use operation::Failure;

/// The size of a huge page, on machines that use this size.
pub(crate) const HUGE: usize = 2 << 20;

#[derive(Clone, Copy)]
pub(crate) enum MemoryKind {
    Anonymous,
    OfFile,
}

/// The file that holds the kernel's policy for huge pages.
pub(crate) const CONTROL: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

/// True if the kernel gives huge pages to memory that requests them, as long as memory for them is available.
pub(crate) fn offered() -> bool {
    // SAFETY: requests a number, and touches no memory.
    let forbidden = unsafe { libc::prctl(libc::PR_GET_THP_DISABLE, 0, 0, 0, 0) } == 1;
    !forbidden && is_of_this_size() && std::fs::read_to_string(CONTROL).is_ok_and(|choice| choice_offers(&choice))
}

/// True if the kernel's huge pages have the size that is used here. With base pages of 16 or 64 KiB they have 32 or 512 MiB.
pub(super) fn is_of_this_size() -> bool {
    let size = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
    size.ok().and_then(|size| size.trim().parse().ok()).is_none_or(|size: usize| size == HUGE)
}

fn choice_offers(choice: &str) -> bool {
    choice.contains("[always]") || choice.contains("[madvise]")
}

/// True if this also holds for the mapping that contains `place`, which requested huge pages. An emulator between this
/// process and the kernel may not pass the request on.
pub(crate) fn offered_at(place: *const c_void) -> bool {
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
    offered() && advised(&maps, place as usize)
}

/// The failure to report if memory that should lie in huge pages lies in base pages: the loss of a round if the kernel
/// gives huge pages at other times, so that the point is measured by the rounds that had them; a skip if it never does.
pub(crate) fn withheld(reason: impl Into<String>, offered: bool) -> Failure {
    if offered {
        return Failure::wrong(reason);
    }
    let remedy = match is_of_this_size() {
        true => format!("as root: echo madvise > {CONTROL}"),
        false => "run a kernel with pages of 4 KiB".into(),
    };
    Failure::skip(reason, remedy)
}

/// True if a failure is that of [`withheld`]: memory is fragmented at the moment, and the operation cannot be tried.
#[cfg(test)]
pub(crate) fn is_withheld(failure: &Failure) -> bool {
    matches!(failure, Failure::Wrong(reason) if reason.contains("huge page"))
}

/// The same for a skip that occurred while huge pages were set up.
pub(crate) fn this_time(failure: Failure) -> Failure {
    match failure {
        Failure::Skip { reason, .. } if offered() => Failure::wrong(reason),
        other => other,
    }
}

/// Bytes of huge pages of this kind in the mapping that contains `place`. Skips if the kernel does not report it.
pub(crate) fn huge_bytes(place: *const c_void, kind: MemoryKind) -> Result<usize, Failure> {
    match std::fs::read_to_string("/proc/self/smaps") {
        Ok(maps) => Ok(listed(&maps, place as usize, kind)),
        Err(error) => {
            let reason = format!("cannot see whether memory is in huge pages: /proc/self/smaps: {error}");
            Err(Failure::skip(reason, "mount /proc"))
        }
    }
}

/// The same, from the text of the file; 0 if the text does not say.
fn listed(maps: &str, address: usize, kind: MemoryKind) -> usize {
    let name = match kind {
        MemoryKind::Anonymous => "AnonHugePages:",
        MemoryKind::OfFile => "FilePmdMapped:",
    };
    let kib = fields(maps, address, name).and_then(|mut fields| fields.next()?.parse::<usize>().ok());
    kib.map_or(0, |kib| kib << 10)
}

/// True if the mapping that contains the address has the kernel's flag for this advice.
fn advised(maps: &str, address: usize) -> bool {
    fields(maps, address, "VmFlags:").is_some_and(|mut flags| flags.any(|flag| flag == "hg"))
}

/// The value of the line with this name, for the mapping that contains the address.
fn fields<'a>(maps: &'a str, address: usize, name: &str) -> Option<std::str::SplitAsciiWhitespace<'a>> {
    let mut ours = false;
    for line in maps.lines() {
        let mut fields = line.split_ascii_whitespace();
        let Some(first) = fields.next() else { continue };
        if let Some((start, end)) = first.split_once('-') {
            if let (Ok(start), Ok(end)) = (usize::from_str_radix(start, 16), usize::from_str_radix(end, 16)) {
                ours = (start..end).contains(&address);
            }
        } else if ours && first == name {
            return Some(fields);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_skipped_only_where_huge_pages_never_come() {
        for (choice, offers) in [
            ("[always] madvise never", true),
            ("always [madvise] never", true),
            ("always madvise [never]", false),
            ("", false),
        ] {
            assert_eq!(choice_offers(choice), offers, "{choice}");
        }
        assert_eq!(withheld("none", true), Failure::wrong("none"));
        let Failure::Skip { reason, remedy } = withheld("none", false) else { panic!("no skip") };
        assert!(reason == "none" && remedy.contains(CONTROL) == is_of_this_size());
        assert_eq!(this_time(Failure::wrong("other")), Failure::wrong("other"));
    }

    #[test]
    fn huge_pages_are_read_from_the_mapping_that_holds_the_address() {
        let maps = "1000-2000 rw-p 00000000 00:00 0\nSize: 4 kB\nAnonHugePages:         0 kB\n\
                    200000-a00000 rw-p 00000000 00:00 0 \nRss: 8192 kB\nAnonHugePages:      6144 kB\n\
                    FilePmdMapped:      4096 kB\nVmFlags: rd wr mr mw me ac hg \n\
                    a00000-b00000 rw-p 00000000 00:00 0\nAnonHugePages:      2048 kB\n";
        let listed = |address| listed(maps, address, MemoryKind::Anonymous);
        assert_eq!(listed(0x20_0000), 6 << 20);
        assert_eq!(listed(0x9f_ffff), 6 << 20);
        assert_eq!(listed(0x1000), 0);
        assert_eq!(listed(0xb0_0000), 0);
        assert_eq!(super::listed(maps, 0x20_0000, MemoryKind::OfFile), 4 << 20);
        assert_eq!(super::listed("", 0x1000, MemoryKind::OfFile), 0);
        assert!(advised(maps, 0x20_0000) && !advised(maps, 0x1000) && !advised(maps, 0xa0_0000) && !advised("", 0));
    }
}
