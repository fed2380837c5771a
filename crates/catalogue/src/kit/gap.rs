//! A gap between guards: where the kernel maps memory next. Without it, a mapping may be placed beside memory of the process's own with
//! the same attributes; the kernel then grows that one and splits it again, which costs more than a mapping of its own.

use operation::Failure;
use record::PageSize;
use rustix::param::page_size;

use super::mapping::Mapping;

/// Guards around the highest gap that mappings of a length fit. Dropping it unmaps the guards.
pub(crate) struct Gap {
    guards: Vec<Mapping>,
    length: usize,
}

impl Gap {
    /// For mappings of this length. Skips if the kernel places them elsewhere all the same.
    pub(crate) fn of(length: usize) -> Result<Gap, Failure> {
        /// More holes between libraries than a process has.
        const HOLES: usize = 256;
        let page = page_size();
        let length = length.next_multiple_of(page);
        // The kernel looks for this much more, so that a huge page can begin at a multiple of its size.
        let huge = PageSize(page as u64).in_huge() as usize * page;
        let room = length + if length >= huge { huge } else { 0 };
        let whole = Mapping::guard(None, page + room + page)?;
        let first = whole.address();
        let [begin, end] = [page, page + room].map(|bytes| first.wrapping_byte_add(bytes));
        drop(whole);
        let guards = vec![Mapping::guard(Some(first), page)?, Mapping::guard(Some(end), page)?];
        let mut gap = Gap { guards, length };
        for _ in 0..HOLES {
            let tried = gap.map()?;
            let hole = tried.address();
            drop(tried);
            if (begin..end).contains(&hole) {
                return Ok(gap);
            }
            gap.guards.push(Mapping::guard(Some(hole), length)?);
        }
        Err(Failure::skip("the kernel maps memory beside that of this process, with which it is merged", ""))
    }

    /// Maps memory of that length, in the gap as long as no other memory is given back.
    #[inline(always)]
    pub(crate) fn map(&self) -> Result<Mapping, Failure> {
        Mapping::anonymous(self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of the mappings that begin or end here.
    fn neighbours(of: &Mapping) -> Vec<String> {
        let ends = [of.address() as usize, of.address() as usize + of.length].map(|at| format!("{at:x}"));
        let maps = std::fs::read_to_string("/proc/self/maps").expect("maps");
        let touches = |line: &&str| {
            line.split_whitespace().next().is_some_and(|range| ends.iter().any(|end| range.contains(end.as_str())))
        };
        maps.lines().filter(touches).map(String::from).collect()
    }

    #[test]
    fn mappings_in_a_gap_are_their_own() {
        // In a process of one thread: others map memory too.
        let merged = system::guard::apart(std::time::Duration::from_secs(60), || {
            // As in each round: memory with the same attributes, below which the next mapping may lie.
            let beside = Mapping::anonymous(3 << 20).expect("memory");
            beside.write(0);
            let merged = [4096, 1 << 20, 4 << 20].map(|length| {
                let gap = Gap::of(length).expect("a gap");
                let mapping = gap.map().expect("memory");
                let start = mapping.address() as usize;
                let (lines, own) = (neighbours(&mapping), format!("{start:x}-{:x} rw-p", start + mapping.length));
                (!lines.iter().any(|line| line.starts_with(&own))).then(|| format!("{own}: {lines:?}"))
            });
            merged.into_iter().flatten().collect::<Vec<String>>()
        });
        assert_eq!(merged.expect("a child"), Vec::<String>::new());
    }
}
