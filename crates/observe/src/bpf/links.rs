//! Which programs of any process are attached.

use super::sys::{bpf, command, describe, owned};

/// `struct bpf_link_info` of a program at a raw tracepoint.
#[repr(C)]
#[derive(Default)]
struct LinkInfo {
    kind: u32,
    id: u32,
    program: u32,
    unused: u32,
    name: u64,
    name_size: u32,
    rest: [u32; 17],
}

// The kernel refuses what is longer than its own unless all of the rest is zero, and padding need not be.
const _: () = assert!(size_of::<LinkInfo>() == std::mem::offset_of!(LinkInfo, rest) + 17 * size_of::<u32>());

/// True if a program of any process runs at one of these tracepoints; false if this process may not know it.
pub(crate) fn is_any_used(tracepoints: &[&std::ffi::CStr]) -> bool {
    /// `BPF_LINK_TYPE_RAW_TRACEPOINT`.
    const RAW_TRACEPOINT_LINK: u32 = 1;
    let mut id = [0_u32; 3];
    while bpf(command::NEXT_LINK_ID, &mut id).is_ok() {
        id = [id[1], 0, 0];
        // A link may be gone by now.
        let Ok(link) = bpf(command::LINK_BY_ID, &mut id.clone()).map(owned) else { continue };
        let mut name = [0_u8; 64];
        let (address, name_size) = (name.as_mut_ptr().expose_provenance() as u64, name.len() as u32);
        let mut info = LinkInfo { name: address, name_size, ..LinkInfo::default() };
        let is_known = describe(&link, &mut info).is_ok() && info.kind == RAW_TRACEPOINT_LINK;
        if is_known && tracepoints.iter().any(|tracepoint| name.starts_with(tracepoint.to_bytes_with_nul())) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpf::{Counting, Whom};
    use crate::{target::Options, tested};

    #[test]
    fn a_program_at_each_call_is_noticed() {
        let counting = Counting::new(Whom::AllBut(1), 4, &Options::default());
        let Some((mut counting, programs)) = tested(counting, "no program can be loaded") else { return };
        counting.attach(programs).expect("the tracepoints are there");
        assert!(is_any_used(&[c"sys_enter", c"sys_exit"]));
        assert!(!is_any_used(&[c"sys_exi", c"sys_exits"]));
    }
}
