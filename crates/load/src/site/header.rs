//! The header of a swap area, version 1 (linux/swap.h): its size, and a mark by which howslow knows its own again.

/// The first page of a swap area of this many pages, itself counted.
pub(super) fn header(pages: u32, mark: &[u8; 16]) -> Vec<u8> {
    let size = rustix::param::page_size();
    let mut page = vec![0; size];
    page[1024..1028].copy_from_slice(&1_u32.to_ne_bytes());
    page[1028..1032].copy_from_slice(&(pages - 1).to_ne_bytes());
    page[1036..1052].copy_from_slice(mark);
    page[1052..1059].copy_from_slice(b"howslow");
    page[size - 10..].copy_from_slice(b"SWAPSPACE2");
    page
}

/// True if a swap area begins with this page and bears the mark.
pub(super) fn bears(page: &[u8], mark: &[u8; 16]) -> bool {
    page.get(1036..1052) == Some(mark.as_slice()) && page.get(1052..1059) == Some(b"howslow".as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_bears_its_mark_alone() {
        let page = header(100, &[3; 16]);
        assert!(bears(&page, &[3; 16]) && !bears(&page, &[4; 16]) && !bears(&page[..1040], &[3; 16]));
        assert_eq!(&page[page.len() - 10..], b"SWAPSPACE2");
        assert_eq!(page[1028], 99);
    }
}
