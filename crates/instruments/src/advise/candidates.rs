//! The methods that advice chooses from, from the simplest to write on, and what a program does to use each.

use analysis::prefetch::Window;
use record::Bytes;

use crate::advise::method::{Advised, Method, Way};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// For a pass from beginning to end. `record` is what the program itself reads at a time, `windows` what the arithmetic
/// says.
pub(crate) fn in_order(record: Option<u64>, windows: &[Window]) -> Vec<Method> {
    let mut sizes = vec![4 * KIB, 128 * KIB, MIB];
    sizes.extend(record.filter(|record| !sizes.contains(record)));
    sizes.sort_unstable();
    // Fewer calls, and no other difference: the larger record is as simple.
    let mut methods: Vec<Method> = sizes.iter().rev().map(|&bytes| Method::Read { bytes }).collect();
    methods.swap(0, 1);
    methods.push(Method::ReadAdvised { bytes: 128 * KIB });
    methods.extend([Advised::Nothing, Advised::Sequential, Advised::Populated, Advised::Random].map(Method::Mapped));
    methods.extend([128 * KIB, MIB].map(|bytes| Method::Direct { bytes }));
    for &Window { distance, quantity } in windows {
        methods.extend([Way::Mapped, Way::Readahead, Way::Advice].map(|way| Method::Ahead { way, distance, quantity }));
    }
    methods.extend(rings(128 * KIB, &[4, 16]));
    methods
}

/// For records in random order.
pub(crate) fn by_chance(record: u64) -> Vec<Method> {
    let mut methods = vec![Method::Read { bytes: record }];
    methods.extend([Advised::Nothing, Advised::Random].map(Method::Mapped));
    methods.push(Method::Direct { bytes: record });
    methods.extend(rings(record, &[4, 16, 64]));
    methods
}

fn rings(bytes: u64, depths: &[u32]) -> impl Iterator<Item = Method> {
    /// The memory of a ring's blocks: the shallowest ring has four whatever the record.
    const MOST: u64 = 256 * MIB;
    let fits = move |depth: &&u32| **depth == 4 || u64::from(**depth) * bytes <= MOST;
    let methods = move |direct| depths.iter().filter(fits).map(move |&depth| Method::Ring { bytes, depth, direct });
    methods(false).chain(methods(true)).collect::<Vec<_>>().into_iter()
}

/// What a program does.
pub(crate) fn name(method: Method) -> String {
    match method {
        Method::Read { bytes } => format!("pread of {}", Bytes(bytes)),
        Method::ReadAdvised { bytes } => format!("POSIX_FADV_SEQUENTIAL, pread of {}", Bytes(bytes)),
        Method::Direct { bytes } => format!("O_DIRECT, pread of {}", Bytes(bytes)),
        Method::Ring { bytes, depth, direct } => {
            format!("{}io_uring, {depth} reads of {}", if direct { "O_DIRECT, " } else { "" }, Bytes(bytes))
        }
        Method::Mapped(Advised::Nothing) => "mmap".into(),
        Method::Mapped(Advised::Sequential) => "mmap, MADV_SEQUENTIAL".into(),
        Method::Mapped(Advised::Random) => "mmap, MADV_RANDOM".into(),
        Method::Mapped(Advised::Populated) => "mmap, MAP_POPULATE".into(),
        Method::Ahead { way, distance, quantity } => {
            let calls = match way {
                Way::Mapped => "mmap, MADV_RANDOM, MADV_WILLNEED",
                Way::Readahead => "POSIX_FADV_RANDOM, readahead",
                Way::Advice => "POSIX_FADV_RANDOM, POSIX_FADV_WILLNEED",
            };
            format!("{calls} of {}, {} ahead", Bytes(quantity), Bytes(distance))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_of_large_records_are_shallow() {
        let depths = |record| {
            by_chance(record).into_iter().filter_map(|method| match method {
                Method::Ring { depth, direct: true, .. } => Some(depth),
                _ => None,
            })
        };
        assert_eq!(depths(4 * KIB).collect::<Vec<_>>(), [4, 16, 64]);
        assert_eq!(depths(64 * MIB).collect::<Vec<_>>(), [4]);
    }
}
